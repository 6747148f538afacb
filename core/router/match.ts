// Hot: runs for each call.
// Method and path -> route. Plain maps and string comparisons; an exact path allocates nothing.

import { proxy } from '../endpoints/proxy.js';
import type { EndpointDefinition } from '../exchange/endpoint.js';
import { exactRoutes, familyRoutes, proxyMethods, reservedPaths } from './routes.js';

export type RouteMatch =
  | { readonly kind: 'endpoint'; readonly endpoint: EndpointDefinition; /** What follows the endpoint's own path. */ readonly suffix: string }
  /** `suffix` is the whole path that goes upstream. */
  | { readonly kind: 'proxy'; readonly endpoint: EndpointDefinition; readonly suffix: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'methodNotAllowed'; readonly allowed: string }
  | { readonly kind: 'unknown' };

const unknown: RouteMatch = Object.freeze({ kind: 'unknown' });
const health: RouteMatch = Object.freeze({ kind: 'health' });
const ready: RouteMatch = Object.freeze({ kind: 'ready' });
const proxyOnly: RouteMatch = Object.freeze({ kind: 'methodNotAllowed', allowed: proxyMethods.join(', ') });
const getOnly: RouteMatch = Object.freeze({ kind: 'methodNotAllowed', allowed: 'GET' });

const prefix = '/v1/';
const forcedProxy = '/v1/proxy';
const modelsPath = '/v1/models/';

const exact = new Map<string, Map<string, RouteMatch>>();
for (const { method, path, endpoint } of exactRoutes) {
  let byPath = exact.get(method);
  if (byPath === undefined) exact.set(method, byPath = new Map());
  byPath.set(path, Object.freeze({ kind: 'endpoint', endpoint, suffix: '' }));
}
const models = exact.get('GET')?.get('/v1/models');

const edgePaths: ReadonlyMap<string, RouteMatch> = new Map<string, RouteMatch>([['/health', health], ['/v1/health', health], ['/ready', ready]]);

export function matchRoute(method: string, path: string): RouteMatch {
  const byPath = exact.get(method);
  const found = byPath === undefined ? undefined : byPath.get(path);
  if (found !== undefined) return found;
  const edge = edgePaths.get(path);
  if (edge !== undefined) return method === 'GET' ? edge : getOnly;
  if (!path.startsWith(prefix) || path.length === prefix.length) return unknown;
  for (const reserved of reservedPaths) {
    if (path.startsWith(reserved) && (path.length === reserved.length || path[reserved.length] === '/')) return unknown;
  }
  if (!proxyMethods.includes(method)) return proxyOnly;
  if (path.startsWith(forcedProxy) && (path.length === forcedProxy.length || path[forcedProxy.length] === '/')) {
    return path.length <= forcedProxy.length + 1 ? unknown : { kind: 'proxy', endpoint: proxy, suffix: path.slice(forcedProxy.length) };
  }
  // Ids of models may hold slashes: meta-llama/Llama-3.
  if (method === 'GET' && models?.kind === 'endpoint' && path.startsWith(modelsPath) && path.length > modelsPath.length) {
    return { kind: 'endpoint', endpoint: models.endpoint, suffix: path.slice(modelsPath.length - 1) };
  }
  return family(method, path) ?? { kind: 'proxy', endpoint: proxy, suffix: path.slice(prefix.length - 1) };
}

function family(method: string, path: string): RouteMatch | undefined {
  for (const route of familyRoutes) {
    if (route.method !== method || !path.startsWith(route.path) || path[route.path.length] !== '/') continue;
    const suffix = path.slice(route.path.length);
    const [, id = '', action = '', more] = suffix.split('/');
    if (id !== '' && action === route.action && more === undefined && suffix.endsWith(route.action === '' ? id : route.action)) {
      return { kind: 'endpoint', endpoint: route.endpoint, suffix };
    }
  }
  return undefined;
}

/** Why a raw path must not travel on; undefined for the usual one. What it names must be below the provider's base path. */
export function checkPath(path: string): string | undefined {
  let isSuspect = false;
  for (let index = 0; index < path.length; index += 1) {
    const code = path.charCodeAt(index);
    if (code <= 0x20 || code === 0x7f) return 'holds a control character or a blank; percent-encode it';
    if (code > 0x7f) return 'holds a character beyond ASCII; percent-encode it';
    if (code === 0x5c) return 'holds a backslash; percent-encode it';
    if (code === 0x23) return 'holds a #; percent-encode it';
    if (code === 0x25 || (code === 0x2e && path.charCodeAt(index - 1) === 0x2f)) isSuspect = true;
  }
  if (!isSuspect) return undefined;
  if (/%(?![0-9a-fA-F]{2})/.test(path)) return 'holds a % that begins no escape; write %25';
  if (/(?:^|\/|%2f)(?:\.|%2e){1,2}(?:\/|%2f|$)/i.test(path)) return 'holds a dot segment; name the target itself';
  return undefined;
}
