import { isObject, type Json, type ProviderFault } from '@gateway/plugin-sdk';

const filledText = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/**
 * `{ object: 'error', message, type, param, code }`, where the message may hold the details; `{ detail }` of 401 and 422;
 * `{ message, request_id }`; `{ error, reason }` in streams.
 */
export function mistralError(body: Json): ProviderFault | undefined {
  if (!isObject(body)) return undefined;
  const inner = isObject(body.error) ? body.error : body;
  const message = filledText(inner.message) ?? details(inner.message) ?? details(inner.detail) ?? filledText(inner.reason) ?? filledText(inner.error);
  if (message === undefined) return undefined;
  const type = filledText(inner.type);
  const code = typeof inner.code === 'number' ? String(inner.code) : filledText(inner.code);
  const param = filledText(inner.param);
  return { message, ...(type === undefined ? {} : { type }), ...(code === undefined ? {} : { code }), ...(param === undefined ? {} : { param }) };
}

/** Every member that was wrong, with its place. */
function details(value: Json | undefined): string | undefined {
  if (isObject(value)) return details(value.detail) ?? filledText(value.message);
  if (!Array.isArray(value)) return filledText(value);
  const texts = (value as readonly Json[]).flatMap((entry): string[] => {
    if (!isObject(entry)) return [];
    const message = filledText(entry.msg) ?? filledText(entry.message);
    if (message === undefined) return [];
    const place = Array.isArray(entry.loc) ? (entry.loc as readonly Json[]).filter((part) => part !== 'body').join('.') : '';
    return [place === '' ? message : `${place}: ${message}`];
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}
