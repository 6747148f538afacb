// GET /v1/models on a serving thread: the call goes to the control plane, whose answer is the call's. Runs when somebody asks for models and names no provider.

import { fail, type GatewayError } from '../errors/gateway-error.js';
import type { Exchange } from '../exchange/exchange.js';
import type { ControlLink } from './control-link.js';

/** The body of the answer, for the pipeline. Rejects with MODEL_UNKNOWN, FIELD_INVALID, CONTROL_BUSY or CONTROL_UNAVAILABLE. */
export const modelList = (link: ControlLink) => async (exchange: Exchange): Promise<string | Uint8Array> => {
  const { head, principal: { keyId, organisationId, workspaceId } } = exchange;
  const id = decoded(exchange.suffix.slice(1));
  const reply = await link.send({
    id: exchange.id, method: 'GET', path: id === '' ? '/v1/models' : `/v1/models/${encodeURIComponent(id)}`, query: id === '' ? head.query : '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined,
    headers: [], address: '',
    // The scopes of the key were checked where the call came in.
    caller: { keyId, keyType: 'workspace-service', organisationId, workspaceId, scopes: ['models.list'] },
  });
  if (reply.status === 200) return reply.body;
  throw refusal(reply.status, Buffer.from(reply.body).toString(), id);
};

function refusal(status: number, body: string, id: string): GatewayError {
  const { message, error }: { readonly message: string; readonly error: { readonly param: string | null } } = JSON.parse(body);
  if (status === 404) return fail('MODEL_UNKNOWN', { model: id.slice(0, 128), param: 'model' });
  const [, maximum, unit] = /\((\d+) ([^)]+)\)/.exec(message) ?? [];
  if (status === 429 && maximum !== undefined && unit !== undefined) return fail('CONTROL_BUSY', { maximum, unit, seconds: 1 });
  const { param } = error;
  if (status === 400 && param !== null) return fail('FIELD_INVALID', { param, reason: message.startsWith(`${param} `) ? message.slice(param.length + 1) : message });
  return fail('CONTROL_UNAVAILABLE', { reason: message });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
