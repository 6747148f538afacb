// Secrets as replies show them, and how a masked one that comes back is told.

import { givenKeyCharsMin, hashKey, keyCharsMax } from '../../../auth/key.js';
import { fail } from '../../../errors/gateway-error.js';
import { apiKeys } from '../../../storage/tables/api-keys.js';
import type { ControlContext } from '../../context.js';

/** Stands in the place of what is not shown. */
const stars = '****';
/** Shorter ones show nothing of themselves. */
const shownCharsMin = 24;

/** The first three and the last four characters, when enough stand between them. */
export const maskSecret = (text: string): string => (text.length < shownCharsMin ? stars : `${text.slice(0, 3)}${stars}${text.slice(-4)}`);

export const isMasked = (text: string): boolean => text.includes(stars);

/** Names of members that hold secrets wherever no schema says what they are. */
const secretNames = /secret|passw(?:or)?d|credential|service_account|(?:^|[-_.])authorization$|(?:api|private|access|signing|subscription)[-_]?key|token$|^cookie$/i;

export const isSecretName = (name: string): boolean => secretNames.test(name);

/** Put there by mistake, most likely: whoever runs the provider could call the gateway with it. Throws FIELD_INVALID. */
export async function refuseGatewayKeys(context: ControlContext, texts: Iterable<readonly [param: string, text: string]>): Promise<void> {
  for (const [param, text] of texts) {
    for (const word of new Set([text, ...text.split(/[\s,;"']+/)])) {
      if (word.length < givenKeyCharsMin || word.length > keyCharsMax) continue;
      if (await context.repository.find(apiKeys, 'hash', [hashKey(word)]) !== undefined) throw fail('FIELD_INVALID', { param, reason: 'is a key of this gateway; give the one of the provider' });
    }
  }
}
