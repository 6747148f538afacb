// Hot: runs for each call.
// Method and path -> route. Plain maps and string comparisons; an exact path allocates nothing. Looks at the path as it came: nothing is
// decoded or made tidy, so that what was checked is what travels. checkPath says whether it may travel at all.

import { proxy } from '../endpoints/proxy.js';
import type { EndpointDefinition, PromptAction } from '../exchange/endpoint.js';
import { controlSegments, edgeRoutes, exactRoutes, familyRoutes, promptReserved, promptRoutes, promptSegment, proxyMethods, reservedGets, type FamilyRoute } from './routes.js';

export type RouteMatch =
  | { readonly kind: 'endpoint'; readonly endpoint: EndpointDefinition; /** The rest of the path, behind the endpoint's own. */ readonly suffix: string }
  /** `suffix` is the whole path that goes upstream. */
  | { readonly kind: 'proxy'; readonly endpoint: EndpointDefinition; readonly suffix: string }
  | { readonly kind: 'control' }
  /** `id`: as it stands in the path. */
  | { readonly kind: 'prompt'; readonly action: PromptAction; readonly id: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'metrics' }
  | { readonly kind: 'methodNotAllowed'; readonly allowed: string }
  | { readonly kind: 'unknown' };

const unknown: RouteMatch = Object.freeze({ kind: 'unknown' });
const control: RouteMatch = Object.freeze({ kind: 'control' });
const proxyOnly: RouteMatch = Object.freeze({ kind: 'methodNotAllowed', allowed: proxyMethods.join(', ') });
const getOnly: RouteMatch = Object.freeze({ kind: 'methodNotAllowed', allowed: 'GET' });

const prefix = '/v1/';
/** Only the control plane is served below it, and below the root. */
const otherPrefix = '/v2/';
const proxySegment = 'proxy';
const modelsSegment = 'models';
const slash = 0x2f;

const exact = new Map<string, Map<string, RouteMatch>>();
for (const { method, path, endpoint } of exactRoutes) addExact(method, path, Object.freeze({ kind: 'endpoint', endpoint, suffix: '' }));
for (const path of reservedGets) addExact('GET', path, unknown);
const models = exact.get('GET')?.get(prefix + modelsSegment);

const edgePaths: ReadonlyMap<string, RouteMatch> = new Map(edgeRoutes.map(({ path, kind }) => [path, Object.freeze({ kind })]));
const ofControl: ReadonlySet<string> = new Set(controlSegments);

/** By the first segment below /v1/. */
const families = new Map<string, FamilyRoute[]>();
for (const route of familyRoutes) {
  const segment = route.path.split('/')[2] ?? '';
  families.set(segment, [...families.get(segment) ?? [], route]);
}

function addExact(method: string, path: string, match: RouteMatch): void {
  let byPath = exact.get(method);
  if (byPath === undefined) exact.set(method, byPath = new Map());
  byPath.set(path, match);
}

export function matchRoute(method: string, path: string): RouteMatch {
  const byPath = exact.get(method);
  const found = byPath === undefined ? undefined : byPath.get(path);
  if (found !== undefined) return found;
  const edge = edgePaths.get(path);
  if (edge !== undefined) return method === 'GET' ? edge : getOnly;
  if (!path.startsWith(prefix)) return matchElsewhere(method, path);
  if (path.length === prefix.length) return unknown;
  const end = path.indexOf('/', prefix.length);
  const segment = path.slice(prefix.length, end === -1 ? path.length : end);
  if (ofControl.has(segment)) return segment === promptSegment && method === 'POST' ? matchPrompt(path, end) : control;
  if (oddSegment.test(segment) && namesControl(path)) return control;
  if (!proxyMethods.includes(method)) return proxyOnly;
  // Nothing, or a slash alone, is not a path to relay.
  if (segment === proxySegment) return end === -1 || end === path.length - 1 ? unknown : { kind: 'proxy', endpoint: proxy, suffix: path.slice(end) };
  if (end !== -1) {
    // Ids of models may hold slashes: meta-llama/Llama-3.
    if (segment === modelsSegment && method === 'GET' && models?.kind === 'endpoint' && end < path.length - 1) {
      return { kind: 'endpoint', endpoint: models.endpoint, suffix: path.slice(end) };
    }
    const routes = families.get(segment);
    const member = routes === undefined ? undefined : matchFamily(routes, method, path);
    if (member !== undefined) return member;
  }
  return { kind: 'proxy', endpoint: proxy, suffix: path.slice(prefix.length - 1) };
}

/** Empty, a version once more, or written so that a name is not seen: rare, and a provider's own path all the same. */
const oddSegment = /^(?:v[12])?$|[A-Z%;]/;

/** A name of the control plane behind slashes and versions too many, escaped, or in capitals: somebody's slip, whose body is nothing for a provider. */
function namesControl(path: string): boolean {
  for (let start = prefix.length; start < path.length;) {
    const next = path.indexOf('/', start);
    const end = next === -1 ? path.length : next;
    const segment = path.slice(start, end);
    if (segment !== '' && segment !== 'v1' && segment !== 'v2') return ofControl.has(plainName(segment));
    start = end + 1;
  }
  return false;
}

function plainName(segment: string): string {
  const text = segment.replace(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  return text.replace(/[^\w-].*$/s, '').toLowerCase();
}

/** Inference is below /v1/ alone. */
function matchElsewhere(method: string, path: string): RouteMatch {
  const start = path.startsWith(otherPrefix) ? otherPrefix.length : 1;
  const end = path.indexOf('/', start);
  const segment = path.slice(start, end === -1 ? path.length : end);
  if (!ofControl.has(segment)) return unknown;
  return segment === promptSegment && method === 'POST' ? matchPrompt(path, end) : control;
}

/** `end`: of the first segment; -1: it is the last. */
function matchPrompt(path: string, end: number): RouteMatch {
  const idEnd = end === -1 ? -1 : path.indexOf('/', end + 1);
  if (idEnd === -1 || idEnd === end + 1) return control;
  const action = promptRoutes.get(path.slice(idEnd + 1));
  const id = path.slice(end + 1, idEnd);
  return action === undefined || promptReserved.includes(id) ? control : { kind: 'prompt', action, id };
}

function matchFamily(routes: readonly FamilyRoute[], method: string, path: string): RouteMatch | undefined {
  for (let index = 0; index < routes.length; index += 1) {
    const route = routes[index] as FamilyRoute;
    const base = route.path.length;
    if (route.method !== method || path.charCodeAt(base) !== slash || !path.startsWith(route.path)) continue;
    const idEnd = path.indexOf('/', base + 1);
    if (idEnd === base + 1 || base + 1 === path.length) continue;
    const isWhole = route.action === ''
      ? idEnd === -1
      : idEnd !== -1 && path.length === idEnd + 1 + route.action.length && path.endsWith(route.action);
    if (isWhole) return { kind: 'endpoint', endpoint: route.endpoint, suffix: path.slice(base) };
  }
  return undefined;
}

/** Why a raw path must not travel on; undefined for the usual one. What it names must be below the provider's base path. */
export function checkPath(path: string): string | undefined {
  let isSuspect = false;
  for (let index = 0; index < path.length; index += 1) {
    const code = path.charCodeAt(index);
    if (code > slash && code < 0x7f && code !== 0x5c) continue;
    if (code <= 0x20 || code === 0x7f) return 'holds a control character or a blank; percent-encode it';
    if (code > 0x7f) return 'holds a character beyond ASCII; percent-encode it';
    if (code === 0x5c) return 'holds a backslash; percent-encode it';
    if (code === 0x23) return 'holds a #; percent-encode it';
    if (code === 0x25 || (code === 0x2e && path.charCodeAt(index - 1) === slash)) isSuspect = true;
  }
  return isSuspect ? checkEscapes(path) : undefined;
}

/** Servers differ in what they take for the end of a segment: escaped slashes, backslashes and path parameters count here. */
function checkEscapes(path: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(path)) return 'holds a % that begins no escape; write %25';
  if (/(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:\/|%2f|%5c|;|%3b|$)/i.test(path)) return 'holds a dot segment; name the target itself';
  return undefined;
}
