// `model: "@slug/model"`: the body names the stored provider itself. Runs for bodies whose model begins with @, and for those of calls that say in no
// other way where they go.

import { editMultipart, multipartBoundary, multipartField } from '../../body/multipart.js';
import { parseJsonObject } from '../../body/parse.js';
import { spliceObject } from '../../body/splice.js';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import { slugOfModel } from '../../plan/compile.js';
import type { View } from '../../snapshot/view.js';

/** Takes the slug off the model and puts it into the head, where it wins over other names of a provider. False: there is none, or no provider has it. */
export function takeModelSlug(exchange: Exchange, view: View): boolean {
  // Once: what is left is the provider's own name of the model.
  if (exchange.modelSlug !== '') return false;
  const model = modelOf(exchange);
  const slug = slugOfModel(model);
  if (slug === undefined) return false;
  const { head } = exchange;
  if (view.provider(exchange.principal.workspaceId, slug) === undefined) {
    // Models of other providers begin so as well, and theirs is the call.
    if (head.provider === undefined && head.virtualKey === undefined && head.config === undefined) throw fail('PROVIDER_SLUG_UNKNOWN', { slug: slug.slice(0, 128), param: 'model' });
    return false;
  }
  exchange.modelSlug = slug;
  head.provider = `@${slug}`;
  head.virtualKey = undefined;
  putModel(exchange, String(model).slice(slug.length + 2));
  return true;
}

function modelOf(exchange: Exchange): unknown {
  if (exchange.isJson) return (exchange.parsed ??= parseJsonObject(exchange.bytes)).model;
  const boundary = multipartBoundary(exchange.head.contentType);
  if (boundary === undefined) return undefined;
  // Transcripts do not name their model, and are charged by it.
  return exchange.model = multipartField(exchange.bytes, boundary, 'model') ?? '';
}

function putModel(exchange: Exchange, model: string): void {
  const { bytes, kept } = exchange;
  if (kept !== null) kept.clientBytes ??= bytes;
  if (exchange.isJson) {
    exchange.parsed = { ...exchange.parsed, model };
    exchange.bytes = spliceObject(bytes, [{ kind: 'set', name: 'model', value: Buffer.from(JSON.stringify(model)) }]);
  } else {
    exchange.model = model;
    exchange.bytes = editMultipart(bytes, multipartBoundary(exchange.head.contentType) ?? '', [{ kind: 'set', name: 'model', value: model }]);
  }
}
