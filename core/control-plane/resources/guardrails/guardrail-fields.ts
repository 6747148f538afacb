// The wire members of a guardrail: its checks, and its actions in the long form or the short one.

import { fail } from '../../../errors/gateway-error.js';
import type { GuardrailActions } from '../../../plan/guardrail-definition.js';
import { anyObject, choice, object, orNull } from '../../../storage/schema-parts.js';
import { Type, type Static, type TSchema } from '../../../storage/type.js';

const checksMax = 100;
const actionFeedback = () => object({
  value: Type.Optional(Type.Number()), weight: Type.Optional(Type.Number()),
  metadata: Type.Optional(Type.Unsafe<string | Readonly<Record<string, unknown>>>({ type: ['string', 'object'], maxLength: 1000, maxProperties: 64 })),
});
/** `"deny"`, `"continue"`, or an object. */
const action = (description: string) => Type.Optional(Type.Union([
  choice(['deny', 'continue']), object({ feedback: Type.Optional(actionFeedback()), deny: Type.Optional(Type.Boolean()) }),
], { description }));

export const checksField = Type.Array(object({
  id: Type.String({ minLength: 1, maxLength: 255, description: 'of a check, such as default.regexMatch' }),
  parameters: Type.Optional(anyObject()),
  name: Type.Optional(Type.String({ maxLength: 255 })),
  is_enabled: Type.Optional(Type.Boolean()),
}), { minItems: 1, maxItems: checksMax });

export const actionsField = object({
  deny: Type.Optional(Type.Boolean({ description: 'a call whose checks fail is refused with status 446' })),
  async: Type.Optional(Type.Boolean({ description: 'nobody waits for the checks, and they have no say' })),
  sequential: Type.Optional(Type.Boolean({ description: 'one check after another, in the order of the list' })),
  soft_deny_200: Type.Optional(Type.Boolean({ description: 'a refusal is an answer with status 200 that says so' })),
  on_success: action('what becomes of a call that passes'),
  on_fail: action('what becomes of a call that does not'),
});
type GivenActions = Static<typeof actionsField>;
type GivenAction = GivenActions['on_fail'];

const feedbackOf = (given: GivenAction, value: number): GuardrailActions['on_fail']['feedback'] => {
  const { feedback = {} } = typeof given === 'object' ? given : {};
  const { metadata = '' } = feedback;
  return { value: feedback.value ?? value, weight: feedback.weight ?? 1, metadata: typeof metadata === 'object' ? metadata : metadata === '' ? {} : { comment: metadata } };
};

/** Undefined: it says nothing of that. */
const denies = (given: GivenAction): boolean | undefined => (typeof given === 'object' ? given.deny : given === undefined ? undefined : given === 'deny');

/** Throws FIELD_INVALID. */
export function actionsOf({ deny, async: isAsync = false, sequential = false, soft_deny_200: isSoft = false, on_success: onSuccess, on_fail: onFail }: GivenActions): GuardrailActions {
  const deniesOnFail = denies(onFail);
  if (deny !== undefined && deniesOnFail !== undefined && deny !== deniesOnFail) throw fail('FIELD_INVALID', { param: 'actions.on_fail', reason: 'says otherwise than actions.deny; give one of them' });
  return {
    deny: deny ?? deniesOnFail ?? false, async: isAsync, sequential, soft_deny_200: isSoft,
    on_success: { feedback: feedbackOf(onSuccess, 5), deny: denies(onSuccess) ?? false }, on_fail: { feedback: feedbackOf(onFail, -5) },
  };
}

const feedbackReply = (): TSchema => object({ value: Type.Number(), weight: Type.Number(), metadata: anyObject() });
export const actionsReply = object({
  deny: Type.Boolean(), async: Type.Boolean(), sequential: Type.Boolean(), soft_deny_200: Type.Boolean(),
  on_success: object({ feedback: feedbackReply(), deny: Type.Boolean() }), on_fail: object({ feedback: feedbackReply() }),
});
export const checksReply = Type.Array(object({ id: Type.String(), parameters: anyObject(), name: Type.Optional(Type.String()), is_enabled: Type.Boolean() }));

export const summaryMembers = {
  id: Type.String(), object: Type.Literal('guardrail'), name: Type.String(), slug: Type.String(), organisation_id: Type.String(), workspace_id: orNull(Type.String()), status: choice(['active']),
  version_id: Type.String(), version: Type.Integer(), created_at: Type.String(), last_updated_at: Type.String(), owner_id: Type.String(), updated_by: orNull(Type.String()),
};
