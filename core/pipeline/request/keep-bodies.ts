// Whether bodies of a call are kept: the workspace says, then the organisation; `x-gateway-debug` of the call wins where they let it. Runs only for calls of
// workspaces that say anything, and for calls with gateway headers that have no field of their own.

import type { Exchange } from '../../exchange/exchange.js';
import { KeptBodies, type KeptRoom } from '../../exchange/kept-bodies.js';
import { bodyRulesByDefault, type BodyRules } from '../../snapshot/body-rules.js';
import { KeptResponder } from '../response/kept-responder.js';

export function keepBodies(exchange: Exchange, rules: BodyRules | null, room: KeptRoom): void {
  const asked = exchange.head.gatewayHeader('debug');
  const { isEnabled, isByCall } = rules ?? bodyRulesByDefault;
  const isKept = asked === 'true' && isByCall ? true : asked === 'false' ? false : isEnabled;
  if (!isKept) return;
  exchange.kept = new KeptBodies(exchange, rules ?? bodyRulesByDefault, room);
  exchange.responder = new KeptResponder(exchange.responder, exchange.kept);
}
