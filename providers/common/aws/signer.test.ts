import { AwsV4Signer } from 'aws4fetch';
import { ParameterError, type Outgoing } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AwsCredentials } from './credentials.js';
import { regionalUrl } from './credentials.js';
import { signRequest } from './signer.js';

const keys = { cloud1_access_key_id: 'AKIDEXAMPLE', cloud1_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', cloud1_region: 'eu-central-1' };
const now = new Date('2026-11-21T10:00:00.000Z');
const host = 'https://bedrock-runtime.eu-central-1.amazonaws.com';
const json = ['content-type', 'application/json'];

interface Signed {
  readonly url: URL;
  readonly headers: ReadonlyMap<string, string>;
  readonly names: readonly string[];
}

function outgoing(url: string, headers: readonly string[] = json, body: string | undefined = '{"messages":[]}', method = 'POST'): Outgoing {
  return { method, url: new URL(url), headers: [...headers], body: body === undefined ? undefined : Buffer.from(body) };
}

async function sign(request: Outgoing, credentials: AwsCredentials = keys, at: Date = now, apiKey?: string): Promise<Signed> {
  await signRequest('bedrock', request, { credentials, apiKey }, at);
  const names = request.headers.filter((_, index) => index % 2 === 0);
  return { url: request.url, names, headers: new Map(names.map((name, index) => [name, request.headers[index * 2 + 1] ?? ''])) };
}

/** The signature that an implementation of others gives for the same request. */
async function expected(request: Outgoing, signedNames: readonly string[], credentials: AwsCredentials = keys, at: Date = now): Promise<string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < request.headers.length; index += 2) {
    const name = request.headers[index] ?? '';
    if (signedNames.includes(name)) headers[name] = request.headers[index + 1] ?? '';
  }
  const signer = new AwsV4Signer({
    method: request.method, url: request.url.href, headers, ...(request.body === undefined ? {} : { body: Buffer.from(request.body) }),
    accessKeyId: credentials.cloud1_access_key_id ?? '', secretAccessKey: credentials.cloud1_secret_access_key ?? '',
    ...(credentials.cloud1_session_token === undefined ? {} : { sessionToken: credentials.cloud1_session_token }),
    service: 'bedrock', region: credentials.cloud1_region ?? 'us-east-1', datetime: at.toISOString().replace(/[:-]|\.\d{3}/g, ''), allHeaders: true,
  });
  return (await signer.sign()).headers.get('authorization') ?? '';
}

async function agrees(request: Outgoing, signedNames: readonly string[], credentials: AwsCredentials = keys): Promise<Signed> {
  const wanted = await expected(request, signedNames, credentials);
  const signed = await sign(request, credentials);
  assert.equal(signed.headers.get('authorization'), wanted);
  assert.deepEqual(signed.names, [...new Set(signed.names)], 'each header once');
  return signed;
}

describe('signatures agree with aws4fetch', () => {
  const arn = encodeURIComponent('arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3');
  const urls: readonly (readonly [string, string])[] = [
    ['a model id with a colon', `${host}/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse`],
    ['a colon that is not encoded', `${host}/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse`],
    ['an ARN with an encoded slash', `${host}/model/${arn}/converse-stream`],
    ['a query', `${host}/model/m/converse?b=2&a=1&a=0&empty=&odd=%2F%20%C3%BC~*()!'`],
    ['a port of a private endpoint', 'https://vpce-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com:8443/model/m/converse'],
    ['another service', 'https://bedrock-agent-runtime.eu-central-1.amazonaws.com/rerank'],
  ];
  for (const [what, url] of urls) test(what, async () => { await agrees(outgoing(url), ['content-type']); });

  test('other bodies: none, empty, not ASCII', async () => {
    await agrees({ ...outgoing(`${host}/guardrails?maxResults=1`, [], undefined, 'GET') }, []);
    await agrees(outgoing(`${host}/model/m/invoke`, json, ''), ['content-type']);
    await agrees(outgoing(`${host}/model/m/invoke`, json, '{"text":"Grüezi 🙂"}'), ['content-type']);
  });

  test('a session token', async () => {
    const credentials = { ...keys, cloud1_session_token: 'FwoGZXIvYXdzEXAMPLE//token==' };
    const signed = await agrees(outgoing(`${host}/model/m/converse`), ['content-type'], credentials);
    assert.equal(signed.headers.get('x-amz-security-token'), credentials.cloud1_session_token);
    assert.match(signed.headers.get('authorization') ?? '', /SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,/);
  });

  test('headers of AWS are signed, those that a proxy may change are not', async () => {
    const headers = [...json, 'user-agent', 'x/1', 'accept', '*/*', 'x-amzn-bedrock-trace', 'ENABLED', 'x-amzn-bedrock-guardrailidentifier', 'gr-1', 'x-forwarded-for', '::1'];
    const signed = await agrees(outgoing(`${host}/model/m/invoke`, headers), ['content-type', 'x-amzn-bedrock-trace', 'x-amzn-bedrock-guardrailidentifier']);
    assert.match(signed.headers.get('authorization') ?? '', /SignedHeaders=content-type;host;x-amz-date;x-amzn-bedrock-guardrailidentifier;x-amzn-bedrock-trace,/);
    assert.equal(signed.headers.get('user-agent'), 'x/1');
  });
});

test('what an AWS client signed for the gateway is replaced', async () => {
  const foreign = [
    'authorization', 'AWS4-HMAC-SHA256 Credential=OTHER/20200101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00', 'x-amz-date', '20200101T000000Z',
    'x-amz-content-sha256', 'e3b0', 'x-amz-security-token', 'theirs', 'x-amz-user-agent', 'aws-sdk-js/3', 'amz-sdk-invocation-id', '1', 'amz-sdk-request', 'attempt=1; max=3', 'date', 'today',
  ];
  const plain = await sign(outgoing(`${host}/model/m/converse`));
  const signed = await sign(outgoing(`${host}/model/m/converse`, [...foreign, ...json]));
  assert.deepEqual(signed.headers, plain.headers);
  assert.equal(signed.headers.get('x-amz-date'), '20261121T100000Z');
  assert.deepEqual(signed.names, ['content-type', 'x-amz-date', 'authorization']);
});

test('a retry is signed anew, with its own time', async () => {
  const request = outgoing(`${host}/model/m/converse`);
  const first = (await sign(request)).headers.get('authorization');
  const later = new Date(now.getTime() + 1000);
  const second = await sign(request, keys, later);
  assert.notEqual(second.headers.get('authorization'), first);
  assert.equal(second.headers.get('x-amz-date'), '20261121T100001Z');
  assert.deepEqual(second.names, ['content-type', 'x-amz-date', 'authorization']);
  assert.equal(second.headers.get('authorization'), await expected(outgoing(`${host}/model/m/converse`), ['content-type'], keys, later));
  const nextDay = new Date('2026-11-22T00:00:00.000Z');
  assert.equal((await sign(request, keys, nextDay)).headers.get('authorization'), await expected(outgoing(`${host}/model/m/converse`), ['content-type'], keys, nextDay));
});

test('two accounts at the same time do not mix', async () => {
  const other = { ...keys, cloud1_secret_access_key: 'other', cloud1_access_key_id: 'AKIDOTHER' };
  const sets = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? keys : { ...other, cloud1_secret_access_key: `other${index}` }));
  await Promise.all(sets.map((credentials) => agrees(outgoing(`${host}/model/m/converse`), ['content-type'], credentials)));
});

test('a plus in a query is sent as the blank that was signed', async () => {
  const signed = await sign(outgoing(`${host}/model/m/converse?name=a+b%2Bc`));
  assert.equal(signed.url.search, '?name=a%20b%2Bc');
  assert.equal(signed.headers.get('authorization'), await expected(outgoing(`${host}/model/m/converse?name=a%20b%2Bc`), ['content-type']));
});

test('the region: of the config, else of the host, else the default', async () => {
  const { cloud1_region: _, ...unplaced } = keys;
  const scope = async (url: string, credentials: AwsCredentials): Promise<string | undefined> => /Credential=[^/]+\/(\S+),/.exec((await sign(outgoing(url), credentials)).headers.get('authorization') ?? '')?.[1];
  assert.equal(await scope(`${host}/model/m/converse`, { ...unplaced, cloud1_region: 'us-west-2' }), '20261121/us-west-2/bedrock/aws4_request');
  assert.equal(await scope(`${host}/model/m/converse`, unplaced), '20261121/eu-central-1/bedrock/aws4_request');
  assert.equal(await scope('https://vpce-0a.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com/model/m/converse', unplaced), '20261121/ap-southeast-2/bedrock/aws4_request');
  assert.equal(await scope('https://bedrock.example/model/m/converse', unplaced), '20261121/us-east-1/bedrock/aws4_request');
});

test('an API key is a bearer token, and only used when there is no access key', async () => {
  const bearer = await sign(outgoing(`${host}/model/m/converse`, ['authorization', 'AWS4 foreign', ...json]), { cloud1_region: 'eu-central-1' }, now, 'bedrock-key');
  assert.deepEqual([...bearer.headers], [['content-type', 'application/json'], ['authorization', 'Bearer bedrock-key']]);
  assert.match((await sign(outgoing(`${host}/model/m/converse`), keys, now, 'bedrock-key')).headers.get('authorization') ?? '', /^AWS4-HMAC-SHA256 /);
});

test('missing credentials are named', async () => {
  const fails = (credentials: AwsCredentials, path: string) => assert.rejects(sign(outgoing(`${host}/model/m/converse`), credentials), (error) => error instanceof ParameterError && error.path === path);
  await fails({}, 'cloud1_access_key_id');
  await fails({ cloud1_access_key_id: 'a' }, 'cloud1_secret_access_key');
  await fails({ cloud1_secret_access_key: 'a' }, 'cloud1_access_key_id');
  await fails({ ...keys, cloud1_region: 'evil.example/' }, 'cloud1_region');
});

test('regions become hosts only when they are plain labels', () => {
  assert.equal(regionalUrl('bedrock-runtime', {}), 'https://bedrock-runtime.us-east-1.amazonaws.com');
  assert.equal(regionalUrl('bedrock-runtime', { cloud1_region: 'cn-north-1' }), 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn');
  for (const region of ['', 'x.evil.example', 'a/b', 'a@b', 'eu-', 'EU-CENTRAL-1', 'a\nb']) assert.throws(() => regionalUrl('bedrock-runtime', { cloud1_region: region }), ParameterError);
});
