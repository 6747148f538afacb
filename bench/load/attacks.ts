// The attacks of the hostile bench: hooks of one request each. `{copy}` in a check's id becomes the number of a copy of its module.
import { multiplyingSchema } from '../../test/fault/hostile-package/package.js';

export interface AttackKind {
  readonly stage: 'before' | 'after';
  readonly check: string;
  readonly parameters: object;
  /** What is asked. */
  readonly text: string;
}

const before = (check: string, parameters: object, text = 'hello'): AttackKind => ({ stage: 'before', check, parameters, text });
const bombText = `${'a'.repeat(40)}!`;
const pii = 'Write to jane.doe@example.com or call +1 202 555 0143, card 4111 1111 1111 1111. ';

/** The port of the server that never answers takes the place of `{silent}`. */
export const attacks: Readonly<Record<string, readonly AttackKind[]>> = {
  none: [],
  bomb: [before('hostile.bomb{copy}', { timeout: 300 }, bombText)],
  'bomb-one-module': [before('hostile.bomb', { timeout: 300 }, bombText)],
  spin: [before('hostile.spin{copy}', { waitMs: 300 })],
  'spin-2s': [before('hostile.spin{copy}', { waitMs: 2000 })],
  hog: [before('hostile.hog{copy}', { waitMs: 2000 })],
  exit: [before('hostile.exit{copy}', { waitMs: 1000 })],
  reject: [before('hostile.reject{copy}', { waitMs: 1000 })],
  hang: [before('hostile.hang{copy}', { timeout: 300 })],
  throws: [before('hostile.throws{copy}', {})],
  webhook: [before('default.webhook', { webhookURL: 'http://127.0.0.1:{silent}/', timeout: 300 })],
  regexMatch: [before('default.regexMatch', { rule: '(a+)+$', not: true, timeout: 2000 }, `${'a'.repeat(50_000)}!`)],
  pii: [before('default.pii', {}, pii.repeat(Math.ceil(100_000 / pii.length)))],
  jsonSchema: [{ stage: 'after', check: 'default.jsonSchema', parameters: { schema: multiplyingSchema(30), timeout: 300 }, text: 'hello' }],
};
