import { isObject, type Json, type ProviderFault } from '@gateway/plugin-sdk';

/** Errors of services written with FastAPI: `{ detail: "text" }`, or a list of `{ msg }`. */
export function detailFault(body: Json): ProviderFault | undefined {
  const detail = isObject(body) ? body.detail : undefined;
  if (typeof detail === 'string') return { message: detail };
  if (!Array.isArray(detail)) return undefined;
  const messages = (detail as readonly Json[]).flatMap((entry) => (isObject(entry) && typeof entry.msg === 'string' ? [entry.msg] : []));
  return messages.length === 0 ? undefined : { message: messages.join('; ') };
}
