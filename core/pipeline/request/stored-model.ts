// Hot: runs for each try of a target whose integration says something of models.
// Which model a call asks for, and whether it may. Where models are limited, a body or path that two readers may read in two ways is refused: the
// provider could be one of those that read the other model.

import { cursorOf, isWhole, keyOf } from '../../body/scan.js';
import { hasOneReading, multipartBoundary, multipartField } from '../../body/multipart.js';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { StoredTarget } from '../../plan/stored-target.js';
import type { UpstreamBody } from './upstream-body.js';

/** Throws MODEL_NOT_ALLOWED, BODY_INVALID. A call about files or batches names no model. */
export function allowedModel(draft: UpstreamBody, stored: StoredTarget): string {
  if (!stored.readsModel) return '';
  const { exchange, edited } = draft;
  const { route, head } = exchange;
  if (stored.isSelective && edited !== null) {
    // JSON was looked at when it was read, before the config changed it.
    if (!exchange.isJson || edited !== exchange.bytes) refuseTwoModels(exchange, edited);
    checkMoreModels(draft.client, stored);
  }
  const { model } = draft;
  stored.checkModel(model, head.method === 'POST' && !route.isSingleTarget && (route.body === 'json' || route.body === 'multipart'));
  return model;
}

/** The same where any body and path may go: what does not say its model has none that is allowed. */
export function relayedModel(exchange: Exchange, stored: StoredTarget, body: unknown): string {
  if (!stored.readsModel) return '';
  const bytes = body instanceof Uint8Array ? body : null;
  let model: unknown = '';
  if (bytes !== null) {
    if (stored.isSelective) {
      refuseTwoModels(exchange, bytes);
      if (exchange.isJson) checkMoreModels(exchange.reader.parse(bytes), stored);
    }
    const boundary = exchange.isJson ? undefined : multipartBoundary(exchange.head.contentType);
    // Not all who read JSON ask for its content type.
    model = boundary === undefined ? exchange.reader.field(bytes, 'model') : multipartField(bytes, boundary, 'model');
  }
  const name = typeof model === 'string' ? model : '';
  const isInPath = stored.isSelective && checkPathModel(exchange.suffix, stored);
  const { method } = exchange.head;
  stored.checkModel(name, !isInPath && method !== 'GET' && method !== 'HEAD');
  return name;
}

function refuseTwoModels(exchange: Exchange, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const boundary = exchange.isJson ? undefined : multipartBoundary(exchange.head.contentType);
  if (boundary !== undefined) {
    if (!hasOneReading(bytes, boundary, 'model')) throw fail('BODY_INVALID', { param: 'model', reason: 'must be one simple field of a form whose parts all have a plain name; others could read another model' });
    return;
  }
  const cursor = cursorOf(bytes);
  let models = 0;
  while (cursor.next()) {
    const name = keyOf(cursor);
    if (name === undefined || name.length !== 5 || name.toLowerCase() !== 'model') continue;
    models += name === 'model' ? 1 : 2;
  }
  if (models > 1) throw fail('BODY_INVALID', { param: 'model', reason: 'is given twice, or in capital letters; give it once, as model' });
  if (exchange.isJson && !isWhole(cursor)) throw fail('BODY_INVALID', { param: 'body', reason: 'must be one JSON object' });
}

/** Some providers take a list of models, the next for when one fails. Throws MODEL_NOT_ALLOWED. */
function checkMoreModels(body: unknown, stored: StoredTarget): void {
  const { models }: { readonly models?: unknown } = Object(body);
  if (models === undefined || models === null) return;
  if (!Array.isArray(models)) throw fail('BODY_INVALID', { param: 'models', reason: 'must be a list of models, where a stored provider allows only some' });
  for (const model of models) stored.checkModel(typeof model === 'string' ? model : '', true);
}

/** Where APIs name models in their paths: `/models/{id}:generate`, `/deployments/{id}/chat`, `/model/{id}/converse`. */
const modelSegment = /\/(?:models?|tunedmodels|deployments|endpoints|engines)\/([^/].*)$/i;
/** Ids of models may hold slashes. */
const idSegmentsMax = 4;

/** True: the path names a model, which is allowed. Throws MODEL_NOT_ALLOWED. */
function checkPathModel(suffix: string, stored: StoredTarget): boolean {
  let isNamed = false;
  for (let rest = decoded(suffix); ;) {
    const found = modelSegment.exec(rest)?.[1];
    if (found === undefined) return isNamed;
    const segments = found.split('/', idSegmentsMax);
    const names = segments.map((_, index) => segments.slice(0, index + 1).join('/')).flatMap((name) => [name, name.replace(/:[^:/]*$/, '')]);
    if (!names.some((name) => stored.names(name))) stored.checkModel(names[1] ?? '', true);
    for (const name of names) if (stored.names(name)) stored.checkModel(name, true);
    isNamed = true;
    rest = found;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
