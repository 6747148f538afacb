// Checks of the request alone: who asks, what for, how much.

import assert from 'node:assert/strict';
import type { CheckCases, DialectName } from './check-case.js';

const types = ['chatComplete', 'messages', 'createModelResponse'];
const tool = (dialect: DialectName, name: string): object => {
  const parameters = { type: 'object', properties: {} };
  if (dialect === 'chat') return { type: 'function', function: { name, parameters } };
  return dialect === 'messages' ? { name, input_schema: parameters } : { type: 'function', name, parameters, strict: false };
};
const turns = (dialect: DialectName, ...texts: readonly string[]): Record<string, unknown> =>
  ({ [dialect === 'responses' ? 'input' : 'messages']: texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })) });
const header = 'x-user-token';

export const requestRules: CheckCases = {
  'add-prefix': [
    { name: 'before the user\'s text', outcome: 'change', params: { prefix: 'Briefly: ' }, text: 'what is it?', changed: 'Briefly: what is it?' },
    { name: 'not where there is text', outcome: 'pass', params: { prefix: 'Briefly: ', onlyIfEmpty: true }, text: 'what is it?', data: { applied: false } },
    {
      name: 'as the system\'s text', outcome: 'change', params: { prefix: 'Be brief.', applyToRole: 'system' }, text: 'what is it?', data: { applied: true },
      verify: (body) => {
        const { system, instructions, messages } = body as { system?: unknown; instructions?: unknown; messages?: { role: string; content: unknown }[] };
        assert.match(JSON.stringify(system ?? instructions ?? messages?.find(({ role }) => role === 'system')), /Be brief\./);
      },
    },
  ],
  'allowed-request-types': [
    { name: 'allowed', outcome: 'pass', params: { allowedTypes: types }, text: 'hello', data: { mode: 'allowlist' } },
    { name: 'not among the allowed', outcome: 'fail', params: { allowedTypes: 'embed, rerank' }, text: 'hello' },
    { name: 'blocked', outcome: 'fail', params: { blockedTypes: types }, text: 'hello', data: { mode: 'blocklist' } },
  ],
  'model-whitelist': [
    { name: 'listed', outcome: 'pass', params: { models: ['check-model*'] }, text: 'hello', data: { requestedModel: 'check-model-1' } },
    { name: 'not listed', outcome: 'fail', params: { models: ['other'] }, text: 'hello' },
    { name: 'listed, inverted', outcome: 'fail', params: { models: ['check-model-1'], not: true }, text: 'hello' },
  ],
  'model-rules': [
    { name: 'by the metadata', outcome: 'pass', params: { rules: { defaults: ['other'], metadata: { plan: { pro: ['check-*'] } } } }, text: 'hello', metadata: { plan: 'pro' }, data: { matchedKeys: ['plan'] } },
    { name: 'by default', outcome: 'fail', params: { rules: { defaults: ['other'], metadata: { plan: { pro: ['check-*'] } } } }, text: 'hello', metadata: { plan: 'free' }, data: { matchedKeys: [] } },
  ],
  'required-metadata-keys': [
    { name: 'all there', outcome: 'pass', params: { metadataKeys: ['team', 'plan'] }, text: 'hello', metadata: { team: 'a', plan: '' } },
    { name: 'one missing', outcome: 'fail', params: { metadataKeys: ['team', 'plan'] }, text: 'hello', metadata: { team: 'a' }, data: { missing_metadata_keys: ['plan'] } },
    { name: 'no metadata', outcome: 'fail', params: { metadataKeys: ['team'] }, text: 'hello' },
  ],
  'required-metadata-key-pairs': [
    { name: 'all match', outcome: 'pass', params: { metadataPairs: { team: ['a', 'b'], plan: 'pro' } }, text: 'hello', metadata: { team: 'b', plan: 'pro' } },
    { name: 'one does not', outcome: 'fail', params: { metadataPairs: { team: ['a', 'b'], plan: 'pro' } }, text: 'hello', metadata: { team: 'c', plan: 'pro' }, data: { unmatched_metadata_keys: ['team'] } },
    { name: 'a pattern', outcome: 'pass', params: { metadataPairs: { team: '^te+am-[0-9]$' }, matchType: 'regex' }, text: 'hello', metadata: { team: 'team-7' } },
  ],
  'request-parameters-check': [
    { name: 'an allowed tool', outcome: 'pass', params: { tools: { allowedFunctionNames: ['look'] } }, text: 'hello', request: (dialect) => ({ tools: [tool(dialect, 'look')] }), data: { toolsInRequest: ['look'] } },
    { name: 'a tool that is not allowed', outcome: 'fail', params: { tools: { allowedFunctionNames: ['look'] } }, text: 'hello', request: (dialect) => ({ tools: [tool(dialect, 'look'), tool(dialect, 'erase')] }) },
    { name: 'a value that is not allowed', outcome: 'fail', params: { params: { values: { temperature: { allowedValues: [0, 0.5] } } } }, text: 'hello', request: () => ({ temperature: 1 }) },
    { name: 'a value that is allowed', outcome: 'pass', params: { params: { values: { temperature: { allowedValues: [0, 0.5] } } } }, text: 'hello', request: () => ({ temperature: 0.5 }) },
  ],
  'size-limit': [
    { name: 'within all limits', outcome: 'pass', params: { maxBytes: 10_000, maxMessages: 3, maxImages: 0, maxTools: 0, maxCharactersPerMessage: 5 }, text: 'hello', data: { reasons: [] } },
    { name: 'too many bytes', outcome: 'fail', params: { maxBytes: 500 }, text: 'hello '.repeat(100) },
    { name: 'too many messages', outcome: 'fail', params: { maxMessages: 2 }, text: 'three', request: (dialect) => turns(dialect, 'one', 'two', 'three'), data: { reasons: [{ limit: 'maxMessages', allowed: 2, found: 3 }] } },
    { name: 'a message that is too long', outcome: 'fail', params: { maxCharactersPerMessage: 5 }, text: 'hello!' },
  ],
  jwt: [
    { name: 'a token of a listed key', outcome: 'pass', params: ({ keys }) => ({ jwks: keys, headerKey: header, extractClaims: ['sub'] }), text: 'hello', headers: ({ token }) => ({ [header]: `Bearer ${token}` }), data: { claims: { 'x-jwt-sub': 'ann' } } },
    { name: 'a token of a key set that is fetched', outcome: 'pass', params: ({ url }) => ({ jwksUri: `${url}/keys`, headerKey: header, requiredClaims: ['sub'] }), text: 'hello', headers: ({ token }) => ({ [header]: token }) },
    { name: 'no token', outcome: 'fail', params: ({ keys }) => ({ jwks: keys, headerKey: header }), text: 'hello' },
    { name: 'a forged token', outcome: 'fail', params: ({ keys }) => ({ jwks: keys, headerKey: header }), text: 'hello', headers: ({ forgedToken }) => ({ [header]: forgedToken }) },
    { name: 'an expired token', outcome: 'fail', params: ({ url }) => ({ jwksUri: `${url}/keys`, headerKey: header }), text: 'hello', headers: ({ expiredToken }) => ({ [header]: expiredToken }) },
    { name: 'a claim that is missing', outcome: 'fail', params: ({ keys }) => ({ jwks: keys, headerKey: header, requiredClaims: ['role'] }), text: 'hello', headers: ({ token }) => ({ [header]: token }) },
    { name: 'a key set that cannot be read', outcome: 'error', params: ({ url }) => ({ jwksUri: `${url}/broken`, headerKey: header, failOnError: true }), text: 'hello', headers: ({ token }) => ({ [header]: token }) },
  ],
};
