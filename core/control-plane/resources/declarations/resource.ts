// Operations on all stored objects at once: apply files, and export to files.

import { anyObject, choice, object, orNull } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Declared } from '../../define-declared.js';
import { defineResource, operation, type Reply, type Resource } from '../../define-resource.js';
import { applyDocuments, type Applied, type ApplyRequest } from './apply.js';
import { exportDocuments } from './export.js';

const documentsMax = 1_000;
const sourceDefault = 'files';

/** In the words of the reply. */
const actions = { created: 'create', updated: 'update', removed: 'remove' } as const;

const namedObject = { section: Type.String(), name: Type.String(), workspace: orNull(Type.String()) };

const applyReply = object({
  object: choice(['declaration']), source: Type.String(), dry_run: Type.Boolean(),
  changes: Type.Array(object({
    action: choice(['create', 'update', 'remove']), ...namedObject, id: Type.String(),
    is_drift: Type.Boolean({ description: 'somebody else changed it since it was applied' }),
    members: Type.Array(object({ member: Type.String(), before: orNull(Type.String({ description: 'JSON' })), after: orNull(Type.String()) })),
  })),
  unchanged: Type.Integer({ minimum: 0 }),
  keys: Type.Array(object({ name: Type.String(), workspace: orNull(Type.String()), key: Type.String() })),
  left: Type.Array(object(namedObject)),
});

const exportReply = object({
  object: choice(['declaration']), documents: Type.Array(anyObject()), variables: Type.Array(object({ name: Type.String(), of: Type.String() })),
});

/** Applies, and notes in the audit log what became of each object. `by`: who is named there. */
export async function applyAndRecord(context: ControlContext, declared: readonly Declared[], request: ApplyRequest, by: 'api_key' | 'gateway'): Promise<Applied> {
  const applied = await applyDocuments(context, declared, request);
  const { caller, nowMs, change } = context;
  context.auditBody = { source: request.source, prune: request.isPruning };
  context.isUnrecorded = request.isDryRun || applied.changes.length === 0;
  if (context.isUnrecorded) return applied;
  for (const { action, declared: { kind }, id, name, workspaceId, isDrift, members } of applied.changes) {
    change.audit.push({
      timestamp: nowMs, method: 'POST', uri: '/v1/declarations/apply', request_id: '', request_body: '', query_params: '', request_headers: '', user_id: by === 'gateway' ? null : caller.keyId, user_type: by,
      organisation_id: caller.organisationId, workspace_id: workspaceId, response_status_code: 200, resource_type: kind, action: action === 'removed' ? 'deleted' : action, client_ip: '', country: null,
      details: { id, name, source: request.source, members: members.map(({ member }) => member), is_drift: isDrift },
    });
  }
  context.auditDetails.changes = applied.changes.length;
  return applied;
}

function replyOf({ changes, unchanged, keys, left }: Applied, { source, isDryRun }: ApplyRequest): Reply {
  return {
    object: 'declaration', source, dry_run: isDryRun, unchanged, keys, left,
    changes: changes.map(({ action, declared: { section }, name, workspace, id, isDrift, members }) => ({ action: actions[action], section, name, workspace, id, is_drift: isDrift, members })),
  };
}

/** `declared`: the kinds of objects that a file may contain. */
export const declarationsResource = (declared: readonly Declared[]): Resource => defineResource({
  name: 'declarations',
  kind: 'declaration',
  operations: {
    apply: operation({
      method: 'POST', path: '/declarations/apply', scope: 'organisation_settings.update', action: 'applied', isAlone: () => true, reply: applyReply,
      body: object({
        documents: Type.Array(anyObject(), { maxItems: documentsMax, description: 'lists of objects by their names, as in a file of gateway apply' }),
        source: Type.Optional(Type.String({ pattern: '^[\\w.@:/+-]+$', maxLength: 100, default: sourceDefault, description: 'the name of the files together: what they made earlier is known by it' })),
        dry_run: Type.Optional(Type.Boolean({ description: 'nothing is changed' })),
        prune: Type.Optional(Type.Boolean({ description: 'what the source made earlier and the documents do not have is removed' })),
      }),
      handle: async (context, { body }) => {
        const request = { source: body.source ?? sourceDefault, documents: body.documents, isDryRun: body.dry_run === true, isPruning: body.prune === true };
        return replyOf(await applyAndRecord(context, declared, request, 'api_key'), request);
      },
    }),
    export: operation({
      method: 'GET', path: '/declarations/export', scope: 'organisation_settings.read', reply: exportReply,
      handle: async (context) => ({ object: 'declaration', ...await exportDocuments(context, declared, await context.workspaceIfNamed()) }),
    }),
  },
});
