// One entry of the audit log, in the words of the reply. Bounded: nobody fills the disk with one call.

import type { AuditRecord } from '../storage/change.js';
import { masked, maskedHeaders, maskedQuery, maskedText } from './audit-mask.js';
import type { ControlCall } from './control-call.js';

const bodyCharsMax = 16 * 1024;
const refusedBodyCharsMax = 1024;
const headersCharsMax = 4 * 1024;
const textCharsMax = 2 * 1024;

export interface AuditedOutcome {
  readonly status: number;
  readonly nowMs: number;
  /** Undefined: no operation was found. */
  readonly kind: string | undefined;
  readonly action: string | null;
  /** The parsed body; undefined: it could not be parsed. */
  readonly body: unknown;
  /** Id of an existing workspace, never the text of the client. */
  readonly workspaceId: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

export function auditRecord(call: ControlCall, { status, nowMs, kind, action, body, workspaceId, details }: AuditedOutcome): AuditRecord {
  const { caller } = call;
  const isRefused = status >= 400;
  // A refused body may hold a secret in a member with a misspelt name, so more of it is masked.
  const text = body === undefined ? (call.body.length === 0 ? '' : `[${call.body.length} bytes]`) : JSON.stringify(masked(body, isRefused));
  return {
    timestamp: nowMs, method: call.method, uri: cut(maskedText(call.path), textCharsMax), request_id: call.id,
    request_body: cut(text, isRefused ? refusedBodyCharsMax : bodyCharsMax), query_params: cut(maskedQuery(call.query, isRefused), textCharsMax),
    request_headers: cut(maskedHeaders(call.headers), isRefused ? refusedBodyCharsMax : headersCharsMax),
    ...actorOf(caller), organisation_id: caller.organisationId, workspace_id: caller.workspaceId || (workspaceId ?? null),
    response_status_code: status, resource_type: kind ?? null, action, client_ip: call.address, country: null, details,
  };
}

/** A call by a session that was refused before its rows were read is known by the session alone. */
const actorOf = ({ keyType, keyId, person }: ControlCall['caller']): { readonly user_id: string; readonly user_type: string } =>
  (keyType === 'session' ? { user_id: person?.userId ?? keyId, user_type: 'user' } : { user_id: keyId, user_type: 'api_key' });

const cut = (text: string, charsMax: number): string => (text.length > charsMax ? `${text.slice(0, charsMax)}…` : text);
