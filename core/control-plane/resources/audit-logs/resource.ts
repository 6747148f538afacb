import { fail } from '../../../errors/gateway-error.js';
import type { AuditEntry } from '../../../storage/repository.js';
import { anyObject, choice, object, orNull } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, named, time, timeText } from '../../envelope.js';
import { countedMax, readAudit } from './read-audit.js';

const pageSizeMax = 100;
const pageSizeDefault = 50;
const filterText = () => Type.Optional(Type.String({ minLength: 1, maxLength: 2048 }));

/** Members that must be the same; of `uri` a part is enough. */
const sameNames = ['method', 'request_id', 'user_id', 'user_type', 'response_status_code', 'resource_type', 'action', 'client_ip', 'country'] as const;

const entrySchema = named('AuditEntry', object({
  id: Type.String(), timestamp: timeText(), method: choice(['POST', 'PUT', 'DELETE']), uri: Type.String(), request_id: Type.String(), request_body: Type.String({ description: 'masked, and cut' }),
  query_params: Type.String(), request_headers: Type.String(), user_id: orNull(Type.String()), user_type: choice(['user', 'api_key', 'gateway']), organisation_id: idText(), workspace_id: orNull(idText()),
  response_status_code: Type.Integer(), resource_type: orNull(Type.String()), action: orNull(Type.String()), client_ip: Type.String(), country: orNull(Type.String()), details: anyObject(),
  hash: Type.String({ description: 'SHA-256 over the entry before and this one' }),
}));

function view({ record, sequence, number, hash }: AuditEntry): Reply {
  return { ...record, timestamp: time(Number(record.timestamp)), id: `${sequence}.${number}`, hash };
}

export const auditLogsResource = defineResource({
  name: 'audit-logs',
  kind: 'audit-log',
  operations: {
    list: operation({
      method: 'GET', path: '/audit-logs', scope: 'audit_logs.list',
      query: object({
        start_time: Type.String({ format: 'date-time' }), end_time: Type.String({ format: 'date-time' }),
        method: Type.Optional(choice(['POST', 'PUT', 'DELETE'])), uri: filterText(), request_id: filterText(), user_id: filterText(), user_type: Type.Optional(choice(['user', 'api_key', 'gateway'])),
        response_status_code: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })), resource_type: filterText(), action: filterText(), client_ip: filterText(), country: filterText(),
        current_page: Type.Optional(Type.Integer({ minimum: 0, maximum: countedMax, default: 0 })),
        page_size: Type.Optional(Type.Integer({ minimum: 0, maximum: pageSizeMax, default: pageSizeDefault })),
      }),
      reply: object({ object: Type.Literal('list'), total: Type.Integer({ minimum: 0, description: 'that were counted' }), has_more: Type.Boolean({ description: 'there may be more' }), records: Type.Array(entrySchema) }),
      handle: async (context, { query }) => {
        if (!context.isOrganisationKey) throw fail('ACTION_FORBIDDEN', { reason: 'the audit log is read with a key of the organisation' });
        const workspace = await context.workspaceIfNamed();
        const limit = query.page_size ?? pageSizeDefault;
        const offset = (query.current_page ?? 0) * limit;
        if (offset >= countedMax) throw fail('FIELD_INVALID', { param: 'current_page', reason: `reaches beyond the first ${countedMax} entries; narrow the time or add a filter` });
        const [startMs, endMs] = [Date.parse(query.start_time), Date.parse(query.end_time)];
        if (endMs < startMs) throw fail('FIELD_INVALID', { param: 'end_time', reason: 'must not be before start_time' });
        const wanted = sameNames.filter((name) => query[name] !== undefined);
        const { entries, total, isCut } = await readAudit(context.repository, { startMs, endMs, offset, limit }, (record) =>
          record.organisation_id === context.caller.organisationId
          && wanted.every((name) => record[name] === query[name])
          && (query.uri === undefined || String(record.uri).includes(query.uri))
          && (workspace === undefined || record.workspace_id === workspace.id || record.workspace_id === workspace.slug));
        // `total` is what was counted; `has_more` says that there may be more.
        return { object: 'list', total, has_more: isCut || offset + entries.length < total, records: entries.map(view) };
      },
    }),
  },
});
