import type { Feedback } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { logReader, logScope } from '../common/log-services.js';

/** Items of one call. */
const itemsMax = 100;
const metadataCharsMax = 8_192;
const scopes = ['logs.write', 'feedbacks.write'];

const told = {
  value: Type.Integer({ minimum: -10, maximum: 10 }),
  weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 1 })),
  metadata: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', maxProperties: 100 })),
};
const createFields = object({ trace_id: Type.String({ minLength: 1, maxLength: 256 }), ...told });
const updateFields = object(told);
const reply = object({ status: choice(['success']), message: Type.String(), feedback_ids: Type.Array(Type.String()) });

function metadataText(metadata: Readonly<Record<string, unknown>> | undefined, param: string): string {
  const text = metadata === undefined || Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata);
  if (text.length > metadataCharsMax) throw fail('FIELD_INVALID', { param, reason: `must be at most ${metadataCharsMax} characters of JSON` });
  return text;
}

/** Of traces that nobody knows here, too: their calls may still be under way, or be another gateway's. */
async function create(context: ControlContext, given: readonly Static<typeof createFields>[]): Promise<Reply> {
  context.isUnrecorded = true;
  const workspace = await context.workspace();
  const items = given.map(({ trace_id, value, weight, metadata }, index): Feedback => ({
    id: context.newId(), organisationId: context.caller.organisationId, workspaceId: workspace.id, traceId: trace_id, value, weight: weight ?? 1,
    metadata: metadataText(metadata, given.length === 1 ? 'metadata' : `${index}.metadata`), createdAtMs: context.nowMs,
  }));
  await logReader(context).addFeedback(items);
  return { status: 'success', message: 'the feedback is stored', feedback_ids: items.map(({ id }) => id) };
}

async function update(context: ControlContext, id: string, { value, weight, metadata }: Static<typeof updateFields>): Promise<Reply> {
  context.isUnrecorded = true;
  const isKnown = await logReader(context).changeFeedback(await logScope(context), id, { value, weight: weight ?? 1, metadata: metadataText(metadata, 'metadata') });
  if (!isKnown) throw fail('ROW_UNKNOWN', { kind: 'feedback', id: id.slice(0, 64) });
  return { status: 'success', message: 'the feedback is changed', feedback_ids: [id] };
}

export const feedbackResource = defineResource({
  name: 'feedback',
  kind: 'feedback',
  operations: {
    create: operation({ method: 'POST', path: '/feedback', scope: scopes, body: createFields, listMax: itemsMax, reply, handle: (context, { bodies }) => create(context, bodies) }),
    update: operation({ method: 'PUT', path: '/feedback/{id}', scope: scopes, body: updateFields, reply, handle: (context, { params, body }) => update(context, params.id ?? '', body) }),
  },
});
