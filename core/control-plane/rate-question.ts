// Asks the control plane what the table of prices has for a model. Runs when a serving thread has to price a call and has not met its model.

import { uuid } from '../exchange/trace.js';
import type { ListedRates } from '../limits/rate-book.js';
import type { Rates } from '../limits/prices.js';
import type { ControlLink } from './control-link.js';

/** Undefined: the control plane gave no answer. */
export const rateQuestion = (link: ControlLink) => async (provider: string, model: string, keyId: string): Promise<ListedRates | undefined> => {
  const reply = await link.send({
    id: uuid(), method: 'GET', path: `/v1/rates/${encodeURIComponent(provider)}`, query: new URLSearchParams({ model }).toString(), body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined,
    headers: [], address: '',
    caller: { keyId, keyType: 'workspace-service', organisationId: '', workspaceId: '', scopes: ['models.list'] },
  });
  if (reply.status !== 200) return undefined;
  const { rates, is_timely: isTimely }: { readonly rates: Rates | null; readonly is_timely: boolean } = JSON.parse(Buffer.from(reply.body).toString());
  return { rates, isTimely };
};
