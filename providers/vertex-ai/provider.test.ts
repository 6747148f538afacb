import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Endpoint, EndpointSpec, JsonObject, Outgoing, ProviderCall } from '@gateway/plugin-sdk';
import { ParameterError } from '@gateway/plugin-sdk';
import type { FakeHost } from '@gateway/plugin-sdk/testing';
import { Refusal, fakeCall, fakeHost } from '@gateway/plugin-sdk/testing';
import { baseUrlOf } from './credentials.js';
import provider from './provider.js';
import { sign } from './signature.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
let accounts = 0;
const account = (more: JsonObject = {}): JsonObject => {
  accounts += 1;
  return { type: 'service_account', project_id: 'project-1', private_key_id: `key-${accounts}`, private_key: pem, client_email: 'gateway@project-1.iam.gserviceaccount.com', token_uri: 'https://token.example/token', ...more };
};
const outgoing = (): Outgoing => ({ method: 'POST', url: new URL('https://aiplatform.googleapis.com/v1/x'), headers: [], body: undefined });
const signed = async (json: JsonObject, host: FakeHost): Promise<readonly string[]> => {
  const request = outgoing();
  await sign(request, { apiKey: 'of the client', credentials: { cloud2_service_account_json: json } }, host);
  return request.headers;
};
const place = { cloud2_project_id: 'project-1', cloud2_region: 'us-central1' };

function specOf(endpoint: Endpoint | undefined, call: ProviderCall): EndpointSpec | undefined {
  const given = typeof endpoint === 'function' ? endpoint(call) : endpoint;
  return typeof given === 'string' ? { path: given } : given;
}

describe('the token of a service account', () => {
  test('is fetched with a signed assertion and kept until five minutes before its end', async () => {
    let count = 0;
    const host = fakeHost({ nowMs: 1_700_000_000_000, fetch: () => ({ body: JSON.stringify({ access_token: `token-${count += 1}`, expires_in: 3600, token_type: 'Bearer' }) }) });
    const json = account();
    assert.deepEqual(await signed(json, host), ['authorization', 'Bearer token-1']);
    const [request] = host.requests;
    assert.equal(request?.url, 'https://token.example/token');
    const form = new URLSearchParams(String(request?.body));
    assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    assert.deepEqual(decoded(head), { alg: 'RS256', typ: 'JWT', kid: json.private_key_id });
    assert.deepEqual(decoded(claims), {
      scope: 'https://www.googleapis.com/auth/cloud-platform', iss: json.client_email, aud: json.token_uri, iat: 1_700_000_000, exp: 1_700_003_600,
    });
    assert.ok(verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url')));

    host.advance(54 * 60_000);
    assert.deepEqual(await signed(json, host), ['authorization', 'Bearer token-1']);
    host.advance(60_000);
    assert.deepEqual(await signed(json, host), ['authorization', 'Bearer token-2']);
    assert.equal(host.requests.length, 2);
  });

  test('is fetched once for all who wait for it', async () => {
    const host = fakeHost({ fetch: async () => ({ body: JSON.stringify({ access_token: 'token', expires_in: 3600 }) }) });
    const json = account();
    const all = await Promise.all([signed(json, host), signed(json, host), signed(json, host)]);
    assert.equal(host.requests.length, 1);
    assert.deepEqual(all.map((headers) => headers[1]), ['Bearer token', 'Bearer token', 'Bearer token']);
  });

  test('that was refused is not kept, and the reason is told', async () => {
    let isBad = true;
    const host = fakeHost({ fetch: () => (isBad ? { status: 400, body: '{"error":"invalid_grant","error_description":"Invalid JWT Signature."}' } : { body: '{"access_token":"token"}' }) });
    const json = account();
    await assert.rejects(signed(json, host), /invalid_grant: Invalid JWT Signature/);
    isBad = false;
    assert.deepEqual(await signed(json, host), ['authorization', 'Bearer token']);
  });

  test('cannot be had with a broken key, whose text is not told', async () => {
    const host = fakeHost({ fetch: () => ({ body: '{}' }) });
    await assert.rejects(signed(account({ private_key: 'a secret' }), host), (error: Error) => /private_key/.test(error.message) && !error.message.includes('a secret'));
    assert.throws(() => void sign(outgoing(), { apiKey: undefined, credentials: { cloud2_service_account_json: { project_id: 'p' } } }, host), ParameterError);
  });
});

describe('a key', () => {
  test('is an access token or an API key by its looks', () => {
    for (const [key, header] of [['ya29.token', ['authorization', 'Bearer ya29.token']], ['AIzaKey', ['x-goog-api-key', 'AIzaKey']], ['AQ.key', ['x-goog-api-key', 'AQ.key']]] as const) {
      const request = outgoing();
      void sign(request, { apiKey: key, credentials: {} }, fakeHost());
      assert.deepEqual(request.headers, header);
    }
    assert.throws(() => void sign(outgoing(), { apiKey: undefined, credentials: {} }, fakeHost()), ParameterError);
  });
});

describe('the address', () => {
  test('follows the location', () => {
    const of = (region: string | undefined): string => baseUrlOf({ cloud2_project_id: 'p', ...(region === undefined ? {} : { cloud2_region: region }) });
    assert.equal(of(undefined), 'https://aiplatform.googleapis.com/v1');
    assert.equal(of('global'), 'https://aiplatform.googleapis.com/v1');
    assert.equal(of('eu'), 'https://aiplatform.eu.rep.googleapis.com/v1');
    assert.equal(of('us-central1'), 'https://us-central1-aiplatform.googleapis.com/v1');
    assert.throws(() => of('evil.example/'), ParameterError);
  });

  test('needs a project, which the service account may name', () => {
    assert.throws(() => baseUrlOf({ cloud2_region: 'us-central1' }), ParameterError);
    assert.equal(baseUrlOf({ cloud2_region: 'us-central1', cloud2_service_account_json: account() }), 'https://us-central1-aiplatform.googleapis.com/v1');
    assert.equal(baseUrlOf({ cloud2_region: 'us-central1', api_key: 'AIzaKey' }), 'https://aiplatform.googleapis.com/v1');
  });
});

describe('a model', () => {
  const paths: readonly (readonly [string, string])[] = [
    ['gemini-2.5-flash', '/publishers/google/models/gemini-2.5-flash:generateContent'],
    ['google/gemini-2.5-flash', '/publishers/google/models/gemini-2.5-flash:generateContent'],
    ['publishers/google/models/gemini-2.5-flash', '/publishers/google/models/gemini-2.5-flash:generateContent'],
    ['anthropic.claude-opus-4-1@20250805', '/publishers/anthropic/models/claude-opus-4-1%4020250805:rawPredict'],
    ['claude-opus-4-1@20250805', '/publishers/anthropic/models/claude-opus-4-1%4020250805:rawPredict'],
    ['mistralai.codestral-2', '/publishers/mistralai/models/codestral-2:rawPredict'],
    ['meta.llama-3.3-70b-instruct-maas', '/endpoints/openapi/chat/completions'],
    ['deepseek-ai/deepseek-v3.1-maas', '/endpoints/openapi/chat/completions'],
    ['endpoints.123', '/endpoints/123/chat/completions'],
    ['google.endpoints.123', '/endpoints/123:generateContent'],
  ];
  for (const [model, path] of paths) {
    test(`${model} is called where its publisher serves it`, () => {
      const call = fakeCall({ model, messages: [] }, { credentials: place });
      assert.equal(specOf(provider.endpoints.chatCompletions, call)?.path, `/projects/project-1/locations/us-central1${path}`);
    });
  }

  test('that is open gets its instructions as system messages', () => {
    for (const model of ['mistralai.codestral-2', 'meta.llama-3.3-70b-instruct-maas', 'endpoints.123']) {
      assert.deepEqual(specOf(provider.endpoints.chatCompletions, fakeCall({ model, messages: [] }, { credentials: place }))?.roles, { developer: 'system' }, model);
    }
  });

  test('speaks the dialect of messages only when it is Claude', () => {
    const of = (model: string): EndpointSpec | undefined => specOf(provider.endpoints.messages, fakeCall({ model }, { endpoint: 'messages', credentials: place }));
    assert.equal(of('gemini-2.5-flash'), undefined);
    assert.equal(of('claude-sonnet-4-5')?.streamPath, '/projects/project-1/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict');
  });

  test('must be named', () => {
    assert.throws(() => specOf(provider.endpoints.chatCompletions, fakeCall({}, { credentials: place })), Refusal);
  });
});

describe('embeddings', () => {
  test('of Gemini go up one text at a time, and come back as one list', () => {
    const call = fakeCall({ model: 'gemini-embedding-001', input: ['one', 'two'] }, { endpoint: 'embeddings', credentials: place });
    const spec = specOf(provider.endpoints.embeddings, call);
    assert.equal(spec?.isFanOut, true);
    assert.deepEqual(spec?.request?.(call.body, call), [{ instances: [{ content: 'one' }] }, { instances: [{ content: 'two' }] }]);
    const answerOf = (value: number): JsonObject => ({ predictions: [{ embeddings: { values: [value], statistics: { token_count: value } } }] });
    assert.deepEqual(spec?.response?.([answerOf(1), answerOf(2)], call), {
      object: 'list', model: 'gemini-embedding-001',
      data: [{ object: 'embedding', index: 0, embedding: [1] }, { object: 'embedding', index: 1, embedding: [2] }], usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  });

  test('of later Gemini models have a method of their own', () => {
    const call = fakeCall({ model: 'gemini-embedding-2', input: 'one', dimensions: 3 }, { endpoint: 'embeddings', credentials: place });
    const spec = specOf(provider.endpoints.embeddings, call);
    assert.match(spec?.path ?? '', /gemini-embedding-2:embedContent$/);
    assert.deepEqual(spec?.request?.(call.body, call), [{ content: { parts: [{ text: 'one' }] }, embedContentConfig: { outputDimensionality: 3 } }]);
  });
});

describe('errors', () => {
  test('are Google\'s, in a list or alone, or Anthropic\'s', () => {
    const error = { error: { code: 403, message: 'denied', status: 'PERMISSION_DENIED' } };
    const fault = { message: 'denied', type: 'PERMISSION_DENIED', code: '403' };
    assert.deepEqual(provider.error?.(error, 403, () => undefined), fault);
    assert.deepEqual(provider.error?.([error], 403, () => undefined), fault);
    assert.equal(provider.error?.({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 529, () => undefined)?.message, 'busy');
    assert.equal(provider.error?.({ unknown: true }, 500, () => undefined), undefined);
  });
});
