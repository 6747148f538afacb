import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { Config } from '../../../core/config/config.js';
import { dialects } from '../../../core/dialect/dialects.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import type { EndpointDefinition } from '../../../core/exchange/endpoint.js';
import type { Exchange } from '../../../core/exchange/exchange.js';
import { prepare, type PreparedRequest } from '../../../core/pipeline/request/prepare.js';
import { compilePlan } from '../../../core/plan/compile.js';
import type { TargetPlan } from '../../../core/plan/plan.js';
import { exchangeOf, proxyEndpoint, type ExchangeParts } from '../exchange/fakes.js';
import { planServices } from '../plan/plan-services.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';

const provider = (members: string): string => `import { defineProvider } from '@gateway/plugin-sdk';
export default defineProvider({ title: 'P', describe: 'P.', baseUrl: 'https://p.example/v1', params: { type: 'object', properties: { api_key: { type: 'string' } } },
  endpoints: { chatCompletions: '/chat/completions' }, ${members} });`;

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { provider: 1 }, plugins: { provider: ['bearer', 'keyHeader', 'prefixed', 'query', 'none', 'signed', 'inPath', 'versioned', 'ruled', 'plain', 'mixed', 'shaped', 'placed', 'defaulted', 'told', 'toldByFunction'] } },
  files: {
    'provider/bearer.js': provider("auth: { type: 'bearer' }"),
    'provider/keyHeader.js': provider("auth: { type: 'header', name: 'X-Acme-Key' }"),
    'provider/prefixed.js': provider("auth: { type: 'header', name: 'authorization', prefix: 'Key ' }"),
    'provider/query.js': provider("auth: { type: 'query', name: 'key' }"),
    'provider/none.js': provider("auth: { type: 'none' }"),
    'provider/signed.js': provider("auth: { type: 'signed' }, sign() {}"),
    'provider/inPath.js': provider("auth: { type: 'none' }, endpoints: { chatCompletions: '/models/{model}:chat' }"),
    'provider/versioned.js': provider("auth: { type: 'none' }, headers: { 'Acme-Version': '2024-01-01', 'X-Project': '{vendor_project}' }, params: { type: 'object', properties: { vendor_project: { type: 'string' } } }"),
    'provider/ruled.js': provider(`auth: { type: 'none' }, endpoints: { chatCompletions: { path: '/c', params: {
      temperature: { min: 0, max: 1 }, logit_bias: { refuse: 'it knows no tokens' }, max_completion_tokens: { rename: 'max_tokens' }, top_k: { default: 40 } } } }`),
    'provider/plain.js': provider(`auth: { type: 'none' }, endpoints: { chatCompletions: { path: '/c', roles: { developer: 'system' }, params: {
      logprobs: { without: [false], refuse: 'it tells none' }, logit_bias: { without: [{}, []] }, max_completion_tokens: { rename: 'max_tokens' } } } }`),
    'provider/mixed.js': provider(`auth: { type: 'none' }, endpoints: { chatCompletions: { path: '/c', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } },
      request: (body) => ({ sent: body }) } }`),
    'provider/told.js': provider(`auth: { type: 'none' }, endpoints: { chatCompletions: { path: '/c', streamUsage: 'stream_options', params: { max_completion_tokens: { rename: 'max_tokens' } } } }`),
    'provider/toldByFunction.js': provider(`auth: { type: 'none' }, endpoints: { chatCompletions: { path: '/c', streamUsage: 'stream_options', request: (body) => ({ ...body, model: 'other' }) } }`),
    'provider/placed.js': provider(`auth: { type: 'none' }, baseUrl: ({ cloud1_region: region = 'us-1' }) => 'https://' + region + '.models.example/v1',
      params: { type: 'object', properties: { cloud1_region: { type: 'string' }, cloud2_service_account_json: { type: 'object', properties: {} } } },
      endpoints: (() => { const chat = { path: '/c', streamPath: '/c/{cloud1_region}?alt=sse', headers: (call) => ({ 'x-region': String(call.credentials.cloud1_region) }) };
        return { chatCompletions: (call) => (call.model === 'none' ? undefined : chat), embeddings: { path: '/e', baseUrl: 'https://{cloud1_region}.embed.example' } }; })()`),
    'provider/defaulted.js': provider("auth: { type: 'none' }, baseUrl: 'https://{region}.models.example', params: { type: 'object', properties: { region: { type: 'string', default: 'us-1' } } }"),
    'provider/shaped.js': provider(`auth: { type: 'none' }, endpoints: { chatCompletions: { path: '/c', request: (body, call) => ({ asked: body.messages, of: body.model, by: call.exchange.metadata.user ?? 'nobody' }) } }`),
  },
});

const services = planServices([folder]);

async function leafOf(config: Config): Promise<TargetPlan> {
  const { root } = await compilePlan(config, { workspaceId: 'w', provider: undefined, customHost: undefined, digest: 'd' }, services);
  assert.ok(root.kind === 'target');
  return root;
}

const chatBody = '{"model":"m","messages":[]}';
const unified = (parts: ExchangeParts = {}): Exchange => exchangeOf({ body: chatBody, ...parts, headers: { 'content-type': 'application/json', ...parts.headers } });
const proxied = (parts: ExchangeParts = {}): Exchange => exchangeOf({ route: proxyEndpoint, path: '/v1/proxy/x', suffix: '/x', body: chatBody, ...parts, headers: { 'content-type': 'application/json', ...parts.headers } });

/** Name to value; a repeated name is a failure of its own. */
function headersOf({ request }: PreparedRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < request.headers.length; index += 2) {
    const name = request.headers[index] ?? '';
    assert.equal(name, name.toLowerCase());
    assert.ok(!Object.hasOwn(headers, name), `${name} is there twice`);
    headers[name] = request.headers[index + 1] ?? '';
  }
  return headers;
}

const textOf = ({ request }: PreparedRequest): string => (request.body instanceof Uint8Array ? Buffer.from(request.body).toString() : assert.fail('no bytes'));

function faultOf(work: () => unknown): { code: string; param: string | null; message: string } {
  try {
    work();
  } catch (thrown) {
    assert.ok(isGatewayError(thrown), String(thrown));
    return { code: thrown.code, param: thrown.param, message: thrown.message };
  }
  return assert.fail('nothing was thrown');
}

const clientHeaders = {
  accept: 'text/event-stream', 'user-agent': 'client/1', 'x-custom': 'c', cookie: 'session=1', connection: 'keep-alive', host: 'gateway.example', te: 'trailers', 'keep-alive': '5',
  'x-forwarded-for': '10.0.0.9', 'x-real-ip': '10.0.0.9', via: 'proxy', 'proxy-authorization': 'Basic x', upgrade: 'h2c', 'x-gateway-trace-id': 't', 'x-gateway-unknown': 'u', traceparent: '00-a',
};

describe('headers on a unified route', () => {
  it('are the content type, the gateway\'s user agent and the credential, and nothing of the client\'s', async () => {
    const target = await leafOf({ provider: 'acme.bearer', api_key: 'sk-1' });
    assert.deepEqual(headersOf(prepare(unified({ headers: clientHeaders }), target, null)), { 'content-type': 'application/json', 'user-agent': 'gateway/test', authorization: 'Bearer sk-1' });
  });

  it('have the client\'s own content type, or JSON where it sent none, and none without a body', async () => {
    const target = await leafOf({ provider: 'acme.none' });
    assert.equal(headersOf(prepare(unified({ headers: { 'content-type': 'application/json; charset=utf-8' } }), target, null))['content-type'], 'application/json; charset=utf-8');
    assert.equal(headersOf(prepare(exchangeOf({ body: chatBody }), target, null))['content-type'], 'application/json');
    assert.deepEqual(headersOf(prepare(exchangeOf({ method: 'GET', headers: { 'content-type': 'application/json' } }), target, null)), { 'user-agent': 'gateway/test' });
  });

  it('have the forwarded ones by the config, by the request\'s header before it, and never what must not travel', async () => {
    const target = await leafOf({ provider: 'acme.none', forward_headers: ['X-Custom', 'accept', 'cookie', 'x-gateway-trace-id', 'x-forwarded-for', 'authorization', 'absent', 'host'] });
    const plain = { 'content-type': 'application/json', 'user-agent': 'gateway/test' };
    assert.deepEqual(headersOf(prepare(unified({ headers: { ...clientHeaders, authorization: 'Bearer client' } }), target, null)), { ...plain, 'x-custom': 'c', accept: 'text/event-stream' });
    assert.deepEqual(headersOf(prepare(unified({ headers: { ...clientHeaders, 'x-gateway-forward-headers': ' traceparent , X-CUSTOM,, content-type' } }), target, null)), { ...plain, 'x-custom': 'c', traceparent: '00-a' });
    assert.deepEqual(headersOf(prepare(unified({ headers: { ...clientHeaders, 'x-gateway-forward-headers': '' } }), target, null)), plain);
  });

  it('have the provider\'s own, with credentials from the config or else from the request', async () => {
    const given = await leafOf({ provider: 'acme.versioned', vendor_project: 'from-config' });
    const open = await leafOf({ provider: 'acme.versioned' });
    const parts = { headers: { 'x-gateway-vendor-project': 'from-request' } };
    assert.equal(headersOf(prepare(unified(parts), given, null))['x-project'], 'from-config');
    assert.equal(headersOf(prepare(unified(parts), open, null))['x-project'], 'from-request');
    assert.equal(headersOf(prepare(unified(), open, null))['x-project'], undefined);
    assert.equal(headersOf(prepare(unified(), open, null))['acme-version'], '2024-01-01');
  });
});

describe('headers on the proxy route', () => {
  it('are the client\'s, without what belongs to its connection, its address or the gateway', async () => {
    const target = await leafOf({ provider: 'acme.bearer', api_key: 'sk-1' });
    assert.deepEqual(headersOf(prepare(proxied({ headers: { ...clientHeaders, authorization: 'Bearer client' } }), target, null)), {
      'content-type': 'application/json', accept: 'text/event-stream', 'user-agent': 'client/1', 'x-custom': 'c', traceparent: '00-a', authorization: 'Bearer sk-1',
    });
  });

  it('have the provider\'s own only where the client has none', async () => {
    const target = await leafOf({ provider: 'acme.versioned' });
    assert.equal(headersOf(prepare(proxied({ headers: { 'acme-version': '2023-06-01' } }), target, null))['acme-version'], '2023-06-01');
    assert.equal(headersOf(prepare(proxied(), target, null))['acme-version'], '2024-01-01');
    assert.equal(headersOf(prepare(proxied(), target, null))['user-agent'], 'gateway/test');
  });

  it('hold one credential, the gateway\'s, wherever the client put another', async () => {
    for (const [id, name, value] of [['bearer', 'authorization', 'Bearer sk-1'], ['keyHeader', 'x-acme-key', 'sk-1'], ['prefixed', 'authorization', 'Key sk-1']] as const) {
      const target = await leafOf({ provider: `acme.${id}`, api_key: 'sk-1' });
      const others = { 'x-api-key': 'client', 'api-key': 'client', 'x-goog-api-key': 'client', authorization: 'Bearer client', 'x-acme-key': 'client' };
      const headers = headersOf(prepare(proxied({ headers: id === 'keyHeader' ? others : { ...others, 'x-acme-key': 'a header like another here' } }), target, null));
      assert.equal(headers[name], value);
      assert.ok(!Object.values(headers).some((each) => each.includes('client')), JSON.stringify(headers));
    }
  });
});

describe('the credential', () => {
  it('is written where the provider takes it, from the config', async () => {
    const cases: readonly (readonly [id: string, header: string | undefined, value: string | undefined, path: string])[] = [
      ['bearer', 'authorization', 'Bearer k&1', '/v1/chat/completions'], ['keyHeader', 'x-acme-key', 'k&1', '/v1/chat/completions'], ['prefixed', 'authorization', 'Key k&1', '/v1/chat/completions'],
      ['query', undefined, undefined, '/v1/chat/completions?key=k%261'], ['none', undefined, undefined, '/v1/chat/completions'], ['signed', undefined, undefined, '/v1/chat/completions'],
    ];
    for (const [id, header, value, path] of cases) {
      const prepared = prepare(unified(), await leafOf({ provider: `acme.${id}`, api_key: 'k&1' }), null);
      const headers = headersOf(prepared);
      assert.deepEqual(Object.keys(headers).sort(), ['content-type', 'user-agent', ...(header === undefined ? [] : [header])].sort(), id);
      if (header !== undefined) assert.equal(headers[header], value, id);
      assert.equal(prepared.request.path, path, id);
    }
  });

  it('in the query comes after the client\'s own', async () => {
    const target = await leafOf({ provider: 'acme.query', api_key: 'k' });
    assert.equal(prepare(unified({ query: 'a=1&b=%20' }), target, null).request.path, '/v1/chat/completions?a=1&b=%20&key=k');
  });

  it('is the client\'s Authorization when the config has none, with or without the word Bearer', async () => {
    for (const given of ['Bearer client-key', 'bearer   client-key', 'client-key']) {
      for (const [id, header, value] of [['bearer', 'authorization', 'Bearer client-key'], ['keyHeader', 'x-acme-key', 'client-key'], ['prefixed', 'authorization', 'Key client-key']] as const) {
        assert.equal(headersOf(prepare(unified({ headers: { authorization: given } }), await leafOf({ provider: `acme.${id}` }), null))[header], value, `${id} ${given}`);
      }
    }
    assert.equal(prepare(unified({ headers: { authorization: 'Bearer c' } }), await leafOf({ provider: 'acme.query' }), null).request.path, '/v1/chat/completions?key=c');
  });

  it('may come in the header that the provider itself expects', async () => {
    const target = await leafOf({ provider: 'acme.keyHeader' });
    assert.equal(headersOf(prepare(unified({ headers: { 'x-acme-key': 'own' } }), target, null))['x-acme-key'], 'own');
    assert.equal(headersOf(prepare(proxied({ headers: { 'x-acme-key': 'own' } }), target, null))['x-acme-key'], 'own');
  });

  it('that nobody gave is asked for, unless another host took the provider\'s place', async () => {
    for (const id of ['bearer', 'keyHeader', 'query']) {
      const target = await leafOf({ provider: `acme.${id}` });
      const fault = faultOf(() => prepare(unified(), target, null));
      assert.equal(fault.code, 'PROVIDER_KEY_MISSING');
      assert.match(fault.message, new RegExp(`provider acme\\.${id} needs an API key`));
    }
    const target = await leafOf({ provider: 'acme.bearer', custom_host: 'http://own.example/v1' });
    assert.equal(headersOf(prepare(unified(), target, null)).authorization, undefined);
  });

  it('of a client never goes to a provider that takes none', async () => {
    for (const id of ['none', 'signed']) assert.equal(headersOf(prepare(unified({ headers: { authorization: 'Bearer client' } }), await leafOf({ provider: `acme.${id}` }), null)).authorization, undefined);
  });
});

describe('the path', () => {
  it('is base path, endpoint, what follows it, and the query', async () => {
    const target = await leafOf({ provider: 'openai', api_key: 'k', custom_host: 'http://h.example/base/v1/' });
    const files: EndpointDefinition = { name: 'files', dialect: dialects.chat, scope: 'completions.write', body: 'any', validate: null, isSingleTarget: true };
    const exchange = exchangeOf({ method: 'GET', route: files, path: '/v1/files/f%2F1/content', suffix: '/f%2F1/content', query: 'x=1' });
    const { request, spec } = prepare(exchange, target, null);
    assert.deepEqual([request.method, request.path, request.body], ['GET', '/base/v1/files/f%2F1/content?x=1', null]);
    assert.equal(spec?.path, '/files');
  });

  it('on the proxy route has the version of the base URL once, also when the client writes it too', async () => {
    const cases: readonly (readonly [host: string, suffix: string, path: string])[] = [
      ['https://api.example.com/v1', '/v1/chat/completions', '/v1/chat/completions'],
      ['https://api.example.com/v1', '/chat/completions', '/v1/chat/completions'],
      ['https://api.example.com/openai/v1', '/openai/v1/chat/completions', '/openai/v1/chat/completions'],
      ['https://api.example.com/openai/v1', '/v1/chat/completions', '/openai/v1/chat/completions'],
      ['https://api.example.com/v1beta', '/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
      ['https://api.example.com/v1', '/v1', '/v1'],
      ['https://api.example.com/v1', '/v1/v1/x', '/v1/v1/x'],
      ['https://api.example.com/v1', '/v10/x', '/v1/v10/x'],
      ['https://api.example.com/v1', '/v2/x', '/v1/v2/x'],
      ['https://api.example.com/models', '/models/x', '/models/models/x'],
      ['https://api.example.com', '/v1/x', '/v1/x'],
    ];
    for (const [host, suffix, path] of cases) {
      const target = await leafOf({ provider: 'acme.none', custom_host: host });
      assert.equal(prepare(proxied({ suffix }), target, null).request.path, path, `${host} ${suffix}`);
    }
  });

  it('on the proxy route is what the client wrote below the base path', async () => {
    const target = await leafOf({ provider: 'acme.none', custom_host: 'http://h.example' });
    assert.equal(prepare(proxied({ suffix: '/a//b%2e?' }), target, null).request.path, '/a//b%2e?');
    assert.equal(prepare(proxied({ suffix: '' }), target, null).request.path, '/');
    assert.equal(prepare(proxied({ suffix: '' }), target, null).spec, null);
  });

  it('holds the model where the provider wants it there', async () => {
    const target = await leafOf({ provider: 'acme.inPath' });
    const pathFor = (body: string, by = target): string => prepare(unified({ body }), by, null).request.path;
    assert.equal(pathFor('{"model":"org/model:1 $& x?"}'), '/v1/models/org%2Fmodel%3A1%20%24%26%20x%3F:chat');
    for (const body of ['{}', '{"model":""}', '{"model":7}']) assert.deepEqual([faultOf(() => pathFor(body)).code, faultOf(() => pathFor(body)).param], ['BODY_INVALID', 'model']);
  });

  it('holds the model that goes up, not the one the client named', async () => {
    const pathFor = async (config: Config, body: string): Promise<string> => prepare(unified({ body }), await leafOf({ provider: 'acme.inPath', ...config }), null).request.path;
    assert.equal(await pathFor({ override_params: { model: 'mine' } }, '{"model":"theirs"}'), '/v1/models/mine:chat');
    assert.equal(await pathFor({ override_params: { model: 'mine' } }, '{}'), '/v1/models/mine:chat');
    assert.equal(await pathFor({ default_params: { model: 'mine' } }, '{"model":"theirs"}'), '/v1/models/theirs:chat');
    assert.equal(await pathFor({ default_params: { model: 'mine' } }, '{}'), '/v1/models/mine:chat');
  });

  it('does not exist for an endpoint that the provider does not have', async () => {
    const target = await leafOf({ provider: 'acme.none' });
    const embeddings: EndpointDefinition = { name: 'embeddings', dialect: dialects.chat, scope: 'completions.write', body: 'json', validate: null, isSingleTarget: false };
    assert.deepEqual(faultOf(() => prepare(exchangeOf({ route: embeddings, path: '/v1/embeddings', body: '{}' }), target, null)), {
      code: 'ENDPOINT_UNSUPPORTED', param: 'provider', message: 'provider acme.none does not offer embeddings; use /v1/proxy/embeddings to reach its own API',
    });
  });
});

describe('the body', () => {
  it('that nothing touches is the very one that came', async () => {
    const exchange = unified();
    assert.equal(prepare(exchange, await leafOf({ provider: 'acme.none' }), null).request.body, exchange.bytes);
    assert.equal(exchange.parsed, undefined);
  });

  it('asks for the usage of a stream where a limit counts it, and nobody has said whether it is wanted', async () => {
    const asked = async (provider: string, body: string, config: object = {}, headers: Record<string, string> = {}, hold: object | null = { delivered: { push: () => {} } }): Promise<string> => {
      const target = await leafOf({ provider, ...config });
      const exchange = unified({ body, headers });
      // Nothing else of it is looked at here.
      exchange.hold = hold as never;
      const prepared = prepare(exchange, target, null);
      assert.equal(prepared.hidesUsage, textOf(prepared).includes('"include_usage":true'));
      return textOf(prepared);
    };
    const stream = '{"model":"m", "stream":true, "seed":9007199254740993, "messages":[]}';
    const told = '{"model":"m", "stream":true, "seed":9007199254740993, "messages":[],"stream_options":{"include_usage":true}}';
    assert.equal(await asked('acme.told', stream), told);
    assert.equal(await asked('acme.told', stream.replace('{', '{"stream_options":null,')), '{"stream_options":{"include_usage":true},' + stream.slice(1));
    assert.equal(await asked('acme.told', stream.replace('"seed"', '"max_completion_tokens":5,"seed"')), told.replace('"seed"', '"max_tokens":5,"seed"'));
    assert.equal(await asked('acme.toldByFunction', stream), '{"model":"other","stream":true,"seed":9007199254740993,"messages":[],"stream_options":{"include_usage":true}}');
    assert.equal(await asked('acme.told', stream, { default_params: { stream_options: { include_usage: false } } }), stream.replace('[]}', '[],"stream_options":{"include_usage":false}}'));
    const unasked: readonly Parameters<typeof asked>[] = [
      ['acme.none', stream], ['acme.told', stream, {}, {}, null], ['acme.told', stream, {}, {}, { delivered: null }], ['acme.told', stream, { drop_params: ['stream_options'] }],
      ['acme.told', stream.replace('true', 'false')], ['acme.told', chatBody], ['acme.told', stream.replace('{', '{"stream_options":{"include_usage":false},')],
      ['acme.told', stream, { forward_headers: ['Accept-Encoding'] }], ['acme.told', stream, {}, { 'x-gateway-forward-headers': 'a, Accept-Encoding' }],
    ];
    for (const given of unasked) assert.equal(await asked(...given), given[1], JSON.stringify(given));
  });

  it('has defaults and overrides spliced in, and dropped parameters taken out, the rest to the byte', async () => {
    const target = await leafOf({ provider: 'acme.none', default_params: { a: 1, b: 1 }, override_params: { c: 2 }, drop_params: ['d.e'] });
    assert.equal(textOf(prepare(unified({ body: '{ "a" : 9,\n"c":[1],"d":{"e":1, "f": 2.0}, "z":1e5 }' }), target, null)), '{ "a" : 9,\n"c":2,"d":{"f": 2.0}, "z":1e5,"b":1 }');
  });

  it('follows the provider\'s rules, and is refused where they say no', async () => {
    const target = await leafOf({ provider: 'acme.ruled' });
    assert.equal(textOf(prepare(unified({ body: '{"temperature":1,"max_completion_tokens":5,"logit_bias":null}' }), target, null)), '{"temperature":1,"max_tokens":5,"logit_bias":null,"top_k":40}');
    for (const [body, param, reason] of [
      ['{"temperature":1.5}', 'temperature', /acme\.ruled takes 1 or less/], ['{"temperature":-1}', 'temperature', /acme\.ruled takes 0 or more/], ['{"logit_bias":{}}', 'logit_bias', /does not take it: it knows no tokens/],
    ] as const) {
      const fault = faultOf(() => prepare(unified({ body }), target, null));
      assert.deepEqual([fault.code, fault.param], ['BODY_INVALID', param]);
      assert.match(fault.message, reason);
    }
  });

  it('has the roles that the provider knows, and every other byte as it came', async () => {
    const target = await leafOf({ provider: 'acme.plain' });
    const body = '{ "messages" : [ {"role" : "developer","content":"Be \\u0062rief"}, {"content":"developer","role":"user"},{"r\\u006fle":"d\\u0065veloper"} ], "seed": 9007199254740993 }';
    const sent = textOf(prepare(unified({ body }), target, null));
    assert.equal(sent, body.replace('"role" : "developer"', '"role" : "system"').replace('"d\\u0065veloper"', '"system"'));
    const untouched = unified({ body: '{"messages":[{"role":"user","content":"developer"}],"role":"developer"}' });
    assert.equal(prepare(untouched, target, null).request.body, untouched.bytes);
  });

  it('keeps the digits of its numbers through roles, rules and a function', async () => {
    const target = await leafOf({ provider: 'acme.mixed' });
    const body = '{"messages":[{"role":"developer","content":"a"}],"max_completion_tokens":5,"tools":[{"maximum":9223372036854775807}],"seed":9007199254740993}';
    const sent = `{"sent":${body.replace('developer', 'system').replace('max_completion_tokens', 'max_tokens')}}`;
    assert.equal(textOf(prepare(unified({ body }), target, null)), sent);
    assert.equal(textOf(prepare(unified({ body: body.replace('developer', 'user').replace('max_completion_tokens', 'max_tokens') }), target, null)), sent.replace('system', 'user'));
  });

  it('loses values that change nothing where the provider refuses them', async () => {
    const target = await leafOf({ provider: 'acme.plain' });
    assert.equal(textOf(prepare(unified({ body: '{"logprobs":false,"model":"m","logit_bias":{},"max_completion_tokens":5}' }), target, null)), '{"model":"m","max_tokens":5}');
    assert.equal(textOf(prepare(unified({ body: '{"logit_bias":{"5":1}}' }), target, null)), '{"logit_bias":{"5":1}}');
    assert.equal(faultOf(() => prepare(unified({ body: '{"logprobs":true}' }), target, null)).param, 'logprobs');
  });

  it('is what the provider\'s own function makes of it, after the config\'s changes', async () => {
    const target = await leafOf({ provider: 'acme.shaped', override_params: { model: 'mine' } });
    const prepared = prepare(unified({ body: '{"model":"theirs","messages":["ä"]}', headers: { 'x-gateway-metadata': '{"user":"u"}' } }), target, null);
    assert.deepEqual(JSON.parse(textOf(prepared)), { asked: ['ä'], of: 'mine', by: 'u' });
  });

  it('that is streamed travels as the stream, with the length that was announced', async () => {
    const upload = Readable.from([Buffer.from('x')]);
    const target = await leafOf({ provider: 'acme.none' });
    const prepared = prepare(proxied({ headers: { 'content-length': '1' } }), target, upload);
    assert.equal(prepared.request.body, upload);
    assert.equal(headersOf(prepared)['content-length'], '1');
    assert.equal(headersOf(prepare(proxied({ headers: { 'content-length': 'unknown', 'transfer-encoding': 'chunked' } }), target, upload))['content-length'], undefined);
    upload.destroy();
  });
});

describe('credentials in headers', () => {
  const region = { 'x-gateway-cloud1-region': 'eu-2' };

  it('complete the address, the path and the headers of the call', async () => {
    const target = await leafOf({ provider: 'acme.placed' });
    assert.equal(prepare(unified(), target, null).base.originUrl, 'https://us-1.models.example');
    const prepared = prepare(unified({ headers: region, body: JSON.stringify({ model: 'm', stream: true, messages: [] }) }), target, null);
    assert.equal(prepared.base.originUrl, 'https://eu-2.models.example');
    assert.equal(prepared.request.path, '/v1/c/eu-2?alt=sse');
    assert.equal(headersOf(prepared)['x-region'], 'eu-2');
    assert.equal(prepare(proxied({ headers: region }), target, null).base.originUrl, 'https://eu-2.models.example');
  });

  it('lose to those of the config', async () => {
    const target = await leafOf({ provider: 'acme.placed', cloud1_region: 'ap-3' });
    assert.equal(prepare(unified({ headers: region }), target, null).base.originUrl, 'https://ap-3.models.example');
  });

  it('win over defaults of the provider, and not over the same value from the config', async () => {
    const other = { 'x-gateway-region': 'eu-2' };
    const origin = async (more: object, headers: Record<string, string>): Promise<string> => prepare(unified({ headers }), await leafOf({ provider: 'acme.defaulted', ...more }), null).base.originUrl;
    assert.deepEqual([await origin({}, {}), await origin({}, other), await origin({ region: 'us-1' }, other)], ['https://us-1.models.example', 'https://eu-2.models.example', 'https://us-1.models.example']);
  });

  it('that are objects have to be JSON', async () => {
    const target = await leafOf({ provider: 'acme.placed' });
    assert.throws(() => prepare(unified({ headers: { 'x-gateway-cloud2-service-account-json': '{"secret' } }), target, null), (error: Error) => /must be JSON/.test(error.message) && !error.message.includes('secret'));
  });

  it('cannot lead a host name elsewhere', async () => {
    const target = await leafOf({ provider: 'acme.placed' });
    assert.throws(() => prepare(unified({ headers: { 'x-gateway-cloud1-region': 'evil.example/' } }), target, null));
  });
});

describe('an endpoint that is a function', () => {
  it('may leave a call to nobody', async () => {
    const target = await leafOf({ provider: 'acme.placed' });
    assert.throws(() => prepare(unified({ body: JSON.stringify({ model: 'none', messages: [] }) }), target, null), { code: 'ENDPOINT_UNSUPPORTED' });
  });
});
