import { isObject, type Json, type ProviderFault } from '@gateway/plugin-sdk';

const filledText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
/** Codes come as texts and as numbers. */
const codeOf = (value: unknown): string | undefined => (typeof value === 'number' ? String(value) : filledText(value));

/**
 * The fault in an error body of Azure's services. There are several shapes: `{error: {code, message, type?, param?, target?, innererror?}}` from the
 * models, `{statusCode, message}` from API Management in front of them, `{status, code?, message | error, detail?}` and
 * `{detail: [{loc, msg}]}` from serverless and managed endpoints.
 */
export function azureFault(body: Json): ProviderFault | undefined {
  if (typeof body === 'string') return body === '' ? undefined : { message: body };
  if (!isObject(body)) return undefined;
  return isObject(body.error) ? nested(body.error) : flat(body);
}

function nested(error: { readonly [key: string]: Json }): ProviderFault | undefined {
  const inner = isObject(error.innererror) ? codeOf(error.innererror.code) : undefined;
  const message = filledText(error.message) ?? inner;
  if (message === undefined) return undefined;
  return fault(message, filledText(error.type), codeOf(error.code) ?? inner, filledText(error.param) ?? filledText(error.target));
}

function flat(body: { readonly [key: string]: Json }): ProviderFault | undefined {
  const [detail, param] = detailOf(body.detail ?? body.details);
  const message = filledText(body.message) ?? filledText(body.error) ?? filledText(body.Message);
  if (message === undefined && detail === undefined) return undefined;
  // The status repeats the line of the answer; as a code it is better than none.
  const code = codeOf(body.code) ?? codeOf(body.statusCode) ?? codeOf(body.status);
  const whole = message === undefined ? detail : detail === undefined || message.includes(detail) ? message : `${message}: ${detail}`;
  return whole === undefined ? undefined : fault(whole, filledText(body.type), code, param);
}

/** The reason, and the field that is at fault. */
function detailOf(detail: Json | undefined): readonly [string | undefined, string | undefined] {
  const first = Array.isArray(detail) ? (detail[0] as Json | undefined) : detail;
  if (typeof first === 'string') return [filledText(first), undefined];
  if (!isObject(first)) return [undefined, undefined];
  // `loc` begins with the place in the request (`body`), which is not part of the field's name.
  const place = Array.isArray(first.loc) ? first.loc.filter((step, index) => index > 0 || step !== 'body').join('.') : '';
  return [filledText(first.msg) ?? filledText(first.message), place === '' ? undefined : place];
}

function fault(message: string, type: string | undefined, code: string | undefined, param: string | undefined): ProviderFault {
  return {
    message,
    ...(type === undefined ? {} : { type }),
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
  };
}
