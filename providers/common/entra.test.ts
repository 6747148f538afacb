import { fakeHost } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeAzure, entraToken, isAccessToken, type EntraCredentials } from './entra.js';

const application = (clientId: string) => ({ tenantId: 'contoso.onmicrosoft.com', clientId, clientSecret: 'p&ss', scope: 'https://cognitiveservices.azure.com/.default' });
const granted = (token: string, seconds = 3600) => ({ body: JSON.stringify({ token_type: 'Bearer', expires_in: seconds, access_token: token }) });
const outgoing = (url: string, headers: string[] = []) => ({ method: 'POST', url: new URL(url), headers, body: undefined });
const azureUrl = 'https://contoso.openai.azure.com/openai/v1/models';
const auth = { keyHeader: 'api-key', scope: 'https://cognitiveservices.azure.com/.default' } as const;

test('one exchange is shared by all who wait, and kept until five minutes before its end', async () => {
  let count = 0;
  const host = fakeHost({ fetch: async () => { count += 1; return granted(`token${count}`); } });
  const tokens = await Promise.all([1, 2, 3].map(() => entraToken(application('shared'), host)));
  assert.deepEqual(tokens, ['token1', 'token1', 'token1']);
  const [request] = host.requests;
  assert.equal(request?.url, 'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token');
  assert.equal(request?.body, 'grant_type=client_credentials&client_id=shared&client_secret=p%26ss&scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default');
  host.advance(54 * 60_000);
  assert.equal(await entraToken(application('shared'), host), 'token1');
  assert.equal(count, 1);
  host.advance(2 * 60_000);
  // Renewed behind the back of the call, which has the old token still.
  assert.equal(await entraToken(application('shared'), host), 'token1');
  await new Promise(setImmediate);
  assert.equal(await entraToken(application('shared'), host), 'token2');
  host.advance(61 * 60_000);
  assert.equal(await entraToken(application('shared'), host), 'token3');
});

test('a failure is told and not kept', async () => {
  const answers = [{ status: 401, body: JSON.stringify({ error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret.\r\nTrace ID: 1' }) }, granted('good')];
  const host = fakeHost({ fetch: () => answers.shift() ?? granted('none') });
  await assert.rejects(entraToken(application('failing'), host), { message: 'microsoft entra gave no token: invalid_client: AADSTS7000215: Invalid client secret.', status: 401, code: 'invalid_client' });
  assert.equal(await entraToken(application('failing'), host), 'good');
});

test('a failed early refresh leaves the old token in use', async () => {
  const answers = [granted('old'), { status: 503, body: 'busy' }, granted('new')];
  const host = fakeHost({ fetch: () => answers.shift() ?? granted('none') });
  assert.equal(await entraToken(application('flaky'), host), 'old');
  host.advance(56 * 60_000);
  assert.equal(await entraToken(application('flaky'), host), 'old');
  await new Promise(setImmediate);
  assert.equal(await entraToken(application('flaky'), host), 'old');
  assert.equal(host.requests.length, 2);
  host.advance(31_000);
  await entraToken(application('flaky'), host);
  await new Promise(setImmediate);
  assert.equal(await entraToken(application('flaky'), host), 'new');
});

test('another secret never gets the token, and government clouds have their own address', async () => {
  const host = fakeHost({ fetch: (request) => granted(String(request.body)) });
  const one = await entraToken(application('secret'), host);
  assert.notEqual(await entraToken({ ...application('secret'), clientSecret: 'guess' }, host), one);
  await entraToken({ ...application('secret'), scope: 'https://cognitiveservices.azure.us/.default' }, host);
  assert.match(host.requests[2]?.url ?? '', /^https:\/\/login\.microsoftonline\.us\//);
});

test('keys go into their header, tokens into authorization, and what was there before is removed', async () => {
  const host = fakeHost({ fetch: () => granted('entra') });
  const headersFor = async (apiKey: string | undefined, credentials: EntraCredentials = {}, url = azureUrl): Promise<string[]> => {
    const request = outgoing(url, ['content-type', 'application/json', 'api-key', 'of the client', 'authorization', 'Bearer of the client']);
    await authorizeAzure(request, { apiKey, credentials }, host, auth);
    return request.headers.slice(2);
  };
  assert.deepEqual(await headersFor('0123456789abcdef'), ['api-key', '0123456789abcdef']);
  assert.deepEqual(await headersFor('eyJhbGciOi.eyJhdWQi.c2ln'), ['authorization', 'Bearer eyJhbGciOi.eyJhdWQi.c2ln']);
  assert.deepEqual(await headersFor('key', { cloud3_ad_token: 'given' }), ['authorization', 'Bearer given']);
  const whole = { cloud3_entra_tenant_id: 't', cloud3_entra_client_id: 'c', cloud3_entra_client_secret: 's' };
  assert.deepEqual(await headersFor('key', whole), ['authorization', 'Bearer entra']);
  await assert.rejects(headersFor('key', { cloud3_entra_client_id: 'c' }), { path: 'cloud3_entra_tenant_id' });
  await assert.rejects(headersFor(undefined), { path: 'api_key' });
  assert.equal(isAccessToken('eyJ.no'), false);
  const own = outgoing('https://models.example.com/openai/v1/models');
  await authorizeAzure(own, { apiKey: undefined, credentials: {} }, host, auth);
  assert.deepEqual(own.headers, []);
});
