// Runs a guardrail on a text, or on a whole request and answer, and returns its verdict. Nothing is sent to a provider.

import type { EndpointName, JsonObject } from '@gateway/plugin-sdk';
import type { Config } from '../../../config/config.js';
import { inherit, noInheritance } from '../../../config/parameters.js';
import { fail } from '../../../errors/gateway-error.js';
import { softFailStatus } from '../../../pipeline/hooks/before.js';
import { tryHooks } from '../../../pipeline/hooks/trial.js';
import { HookCompiler } from '../../../plan/compile-hooks.js';
import { closeAll } from '../../../plan/compile.js';
import { PlanSources } from '../../../plan/plan-sources.js';
import { PlanWeight } from '../../../plan/plan-weight.js';
import { View } from '../../../snapshot/view.js';
import { anyObject, choice, object, orNull, textMap } from '../../../storage/schema-parts.js';
import { guardrails, type GuardrailRow } from '../../../storage/tables/guardrails.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { definitionOf } from './check-guardrail.js';
import { sidesOfChecks } from './guardrail-users.js';

/** Under way in this thread. */
const trialsMax = 8;
let underWay = 0;

const endpoints = ['chatCompletions', 'completions', 'messages', 'responses', 'embeddings'] as const satisfies readonly EndpointName[];

export const invokeFields = object({
  text: Type.Optional(Type.String({ description: 'what a user says, or a model with stage output; in place of request and response' })),
  stage: Type.Optional(choice(['input', 'output'], { description: 'of text; without, input when the guardrail has checks for it' })),
  request: Type.Optional(anyObject()),
  response: Type.Optional(anyObject()),
  endpoint: Type.Optional(choice(endpoints, { description: 'whose bodies request and response are; without, chatCompletions' })),
  provider: Type.Optional(Type.String({ maxLength: 128 })),
  metadata: Type.Optional(textMap()),
});
type Given = Static<typeof invokeFields>;

const hookReply = object({
  verdict: Type.Boolean(), id: Type.String(), transformed: Type.Boolean(), checks: Type.Array(object({
    data: Type.Unknown(), verdict: Type.Boolean(), id: Type.String(), error: Type.Optional(object({ name: Type.String(), message: Type.String() })), execution_time: Type.Number(),
    transformed: Type.Boolean(), created_at: Type.String(), log: Type.Unknown(), fail_on_error: Type.Boolean(),
  })),
  feedback: orNull(anyObject()), execution_time: Type.Number(), async: Type.Boolean(), type: Type.String(), created_at: Type.String(), deny: Type.Boolean(),
});
export const invokeReply = object({
  object: Type.Literal('guardrail.trial'), id: Type.String(), slug: Type.String(), version_id: Type.String(),
  verdict: Type.Boolean(), status: Type.Integer({ description: 'of the answer to such a call: 200, 246 or 446' }),
  hook_results: object({ before_request_hooks: Type.Array(hookReply), after_request_hooks: Type.Array(hookReply) }),
  transformed_request: orNull(anyObject()), transformed_response: orNull(anyObject()),
});

const asked = (text: string): JsonObject => ({ model: '', messages: [{ role: 'user', content: text }] });
const answered = (text: string): JsonObject => ({ id: '', object: 'chat.completion', created: 0, model: '', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] });

export async function invokeGuardrail(context: ControlContext, row: GuardrailRow, given: Given): Promise<Reply> {
  if (underWay >= trialsMax) throw fail('CONTROL_BUSY', { maximum: trialsMax, unit: 'trials of guardrails at once', seconds: 1 });
  const { request, response } = await bodiesOf(context, row, given);
  underWay += 1;
  const { services, caller } = context;
  const isSoft = definitionOf(context, row)?.actions.soft_deny_200 === true;
  const workspaceId = row.workspaceId ?? caller.workspaceId;
  const compiler = new HookCompiler({ registry: services.registry, poolCheck: services.poolCheck }, new PlanWeight(), await sourcesOf(context, row, workspaceId));
  try {
    // Nobody would hear of what runs beside the call.
    const entry = { id: row.slug, async: false };
    const config: Config = { ...(request === null ? {} : { input_guardrails: [entry] }), ...(response === null ? {} : { output_guardrails: [entry] }) };
    compiler.visit(config, 'guardrail');
    const hooks = await compiler.lists(inherit(noInheritance, config));
    const { before, after } = await tryHooks(hooks.before ?? [], hooks.after?.judging ?? [], {
      endpoint: given.endpoint ?? 'chatCompletions', request: request ?? (given.request as JsonObject | undefined) ?? asked(''), response, metadata: given.metadata ?? {}, provider: given.provider ?? '',
      principal: { keyId: caller.keyId, workspaceId, organisationId: caller.organisationId },
    });
    const [hasFailed, isDenied] = [before.hasFailed || after.hasFailed, before.isDenied || after.isDenied];
    return {
      object: 'guardrail.trial', id: row.id, slug: row.slug, version_id: row.versionId, verdict: !hasFailed, status: isDenied && isSoft ? 200 : isDenied ? fail('HOOKS_FAILED').status : hasFailed ? softFailStatus : 200,
      hook_results: { before_request_hooks: before.results, after_request_hooks: after.results }, transformed_request: before.changed, transformed_response: after.changed,
    };
  } finally {
    underWay -= 1;
    closeAll(compiler.instances);
  }
}

/** Null: the side is not tried. Throws FIELD_INVALID. */
async function bodiesOf(context: ControlContext, row: GuardrailRow, { text, stage, request, response, endpoint }: Given): Promise<{ readonly request: JsonObject | null; readonly response: JsonObject | null }> {
  const refuse = (param: string, reason: string): never => { throw fail('FIELD_INVALID', { param, reason }); };
  if (text === undefined) {
    if (stage !== undefined) refuse('stage', 'is of a text; with request or response, leave it out');
    if (request === undefined && response === undefined) refuse('text', 'is required, or request, or response');
  } else if (request !== undefined || response !== undefined) {
    refuse('text', 'is given beside a request or response; give one of them');
  } else if (endpoint !== undefined) {
    refuse('endpoint', 'is of a request or response; with text, leave it out');
  }
  const definition = definitionOf(context, row);
  if (definition === null) throw fail('ACTION_UNTIMELY', { reason: `the checks of guardrail ${row.slug} were left out of a backup or given up; store them again with PUT` });
  const sides = await sidesOfChecks(definition.checks, context.services.registry);
  const [onInput, onOutput] = [sides.has('input_guardrails'), sides.has('output_guardrails')];
  if (text !== undefined) {
    const isOutput = stage === undefined ? !onInput : stage === 'output';
    if (isOutput ? !onOutput : !onInput) refuse('stage', `is not judged by this guardrail: its checks are for the ${onInput ? 'input' : 'output'}`);
    return isOutput ? { request: null, response: answered(text) } : { request: asked(text), response: null };
  }
  if (request !== undefined && response === undefined && !onInput) refuse('response', 'is required: the checks of this guardrail are for the output');
  if (request === undefined && !onOutput) refuse('request', 'is required: the checks of this guardrail are for the input');
  // A change of name, not of type: the body was parsed from JSON.
  return { request: onInput && request !== undefined ? request as JsonObject : null, response: onOutput && response !== undefined ? response as JsonObject : null };
}

async function sourcesOf(context: ControlContext, row: GuardrailRow, workspaceId: string): Promise<PlanSources> {
  const view = new View(context.sealer);
  const workspace = await context.repository.get(workspaces, workspaceId);
  if (workspace !== undefined) view.put(workspaces.name, workspace.row);
  view.put(guardrails.name, row);
  return new PlanSources({ view }, workspaceId);
}
