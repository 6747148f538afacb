// The error for a response that could not be read.

import { isStackOverflow } from '../../body/depth.js';
import { fail, isGatewayError, type GatewayError } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';

export const asUpstreamInvalid = (thrown: unknown, exchange: Exchange): GatewayError => (isGatewayError(thrown)
  ? thrown
  : fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: thrown instanceof SyntaxError ? 'the body is not JSON' : isStackOverflow(thrown) ? 'it nests too deep' : 'the body has another shape than documented' }, thrown));
