import { bodyOf, cut, features, json, need, sse, type Family } from './family.js';
import { messageBody, messageError, messageEvents, parseMessages } from './messages-wire.js';

const key = 'sk-ant-matrix';
const all = new Set(features);

export const anthropic: Family = {
  name: 'anthropic', features: all, model: 'claude-sonnet-4-5', usageParts: new Set(['cached']), hasSignature: true, hasBudget: true, hasToolChoice: true,
  target: (origin) => ({ provider: 'anthropic', api_key: key, custom_host: `${origin}/v1` }),
  parse(call) {
    // Newer clients send the key as a bearer token and name a newer version.
    need(call.headers['x-api-key'] === key || call.headers.authorization === `Bearer ${key}`, 'invalid x-api-key');
    need(['2023-06-01', '2026-10-21'].includes(call.headers['anthropic-version'] ?? ''), `anthropic-version: ${call.headers['anthropic-version'] ?? 'header is required'}`);
    need(call.url.replace(/\?.*/, '') === '/v1/messages', `unknown path ${call.url}`);
    const body = bodyOf(call);
    need(typeof body.model === 'string', 'model: field required');
    need(body.anthropic_version === undefined, 'anthropic_version: extra inputs are not permitted');
    return parseMessages(body, body.stream === true);
  },
  answer(reply, seen) {
    if (reply.error !== undefined) return json(reply.error.status, messageError(reply.error.message, reply.error.status));
    if (!seen.isStream) return json(200, messageBody(reply));
    const answered = sse(messageEvents(reply));
    return { ...answered, chunks: cut(Buffer.concat(answered.chunks), 11) };
  },
};
