// Hot: runs for each call.
// The log record of an exchange that has ended.

import type { LogRecord } from '@gateway/plugin-sdk';
import type { Exchange } from '../exchange/exchange.js';
import type { Usage } from '../exchange/usage.js';

/** `usage`: what the answer said about itself; null when there was none. */
export function recordOf(exchange: Exchange, usage: Usage | null): LogRecord {
  const now = performance.now();
  const { head } = exchange;
  const asked = exchange.parsed === undefined ? exchange.model : exchange.parsed.model;
  return {
    id: exchange.id,
    traceId: exchange.traceId,
    spanId: exchange.spanId,
    parentSpanId: exchange.parentSpanId,
    spanName: head.spanName ?? '',
    organisationId: exchange.principal.organisationId,
    workspaceId: exchange.principal.workspaceId,
    keyId: exchange.principal.keyId,
    endpoint: exchange.route.name,
    method: head.method,
    path: head.path,
    provider: exchange.provider,
    model: usage !== null && usage.model !== '' ? usage.model : typeof asked === 'string' ? asked : '',
    targetPath: exchange.targetPath,
    status: exchange.status,
    ended: exchange.ending,
    errorCode: exchange.errorCode,
    isStream: exchange.isStream,
    attempts: exchange.attempts,
    cacheStatus: exchange.cacheStatus,
    finishReason: usage === null ? '' : usage.finishReason,
    inputTokens: usage === null ? -1 : usage.inputTokens,
    outputTokens: usage === null ? -1 : usage.outputTokens,
    totalTokens: usage === null ? -1 : usage.totalTokens,
    cachedTokens: usage === null ? -1 : usage.cachedTokens,
    reasoningTokens: usage === null ? -1 : usage.reasoningTokens,
    requestBytes: exchange.requestBytes,
    responseBytes: exchange.responder.bytesSent,
    startedAtMs: exchange.startedAtMs,
    firstByteMs: exchange.firstByteAt === 0 ? -1 : exchange.firstByteAt - exchange.startedAt,
    tookMs: now - exchange.startedAt,
    upstreamMs: exchange.upstreamMs,
    metadata: head.metadata ?? '',
    hookResults: exchange.hooks === null ? '' : exchange.hooks.logged(),
  };
}

