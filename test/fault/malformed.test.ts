// Five thousand requests that nobody should send, on raw sockets, each different and each wrong for certain. All get a clear refusal, none
// gets to a provider, none is an error of the gateway's own, and afterwards everything is as before.

import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { apiKey, routed, startTestGateway } from '../support/gateway.js';
import { testSeed } from '../support/seed.js';
import { startUpstream } from '../support/upstream.js';

const requestCount = 5_000;
const connectionCount = 8;
/** What the heap may have more after the second half than after the first. */
const growthBytesMax = 12 * 1024 * 1024;
const waitMs = 60_000;

const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_BODY_TIMEOUT_MS: '100', GATEWAY_EXPORTERS: 'store' });

// ---- chance, repeatable ----

class Chance {
  #state: number;
  constructor(seed: number) { this.#state = seed >>> 0; }

  /** mulberry32 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number { return Math.floor(this.next() * count); }
  of<T>(values: readonly [T, ...T[]] | readonly T[]): T { return values[this.below(values.length)] as T; }
  /** Latin-1 text of bytes from `from` to `to`. */
  bytes(length: number, from = 0, to = 255): string {
    let text = '';
    for (let index = 0; index < length; index += 1) text += String.fromCharCode(from + this.below(to - from + 1));
    return text;
  }
  word(): string { return this.bytes(1 + this.below(12), 97, 122); }
}

// ---- requests ----

interface Malformed {
  readonly kind: string;
  /** One character for each byte. */
  readonly bytes: string;
  /**
   * Not HTTP, or framed so badly that the library answers for itself, waits for the rest, or closes. Sent on a connection of its own, whose
   * end the client announces behind it.
   */
  readonly isRaw: boolean;
}

type Headers = Record<string, string>;

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const valid = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });
const identity = (): Headers => ({ 'content-type': 'application/json', ...routed(upstream.url) });

function http(kind: string, method: string, path: string, headers: Headers, body: string | undefined, isRaw = false): Malformed {
  const lines = Object.entries(body === undefined ? headers : { ...headers, 'content-length': String(body.length) });
  return { kind, isRaw, bytes: `${method} ${path} HTTP/1.1\r\nhost: g\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}` };
}

const wrongFor: Readonly<Record<string, readonly unknown[]>> = {
  text: [1, true, [], {}, ['x']],
  flag: ['true', 1, 0, [], {}],
  number: ['1', true, [], {}, 1e999, -1e999],
  list: ['x', 1, true, {}, []],
  object: ['x', 1, true, []],
};

/** Known members of each unified route, what a wrong value for them is, and a body that is right. */
const routes: readonly { readonly path: string; readonly right: object; readonly members: Readonly<Record<string, readonly unknown[]>> }[] = [
  {
    path: '/v1/chat/completions', right: JSON.parse(valid),
    members: {
      model: [...wrongFor.text!, '', null], messages: [...wrongFor.list!, null, [null], [1], ['x'], [{}], [{ role: 'robot' }], [{ role: 1, content: 'x' }], [[]]],
      stream: wrongFor.flag!, stream_options: [...wrongFor.object!, {}], temperature: [...wrongFor.number!, -0.1, 2.1], top_p: [...wrongFor.number!, -1, 1.5],
      n: [...wrongFor.number!, 0, 1.5, 129], frequency_penalty: [...wrongFor.number!, -3, 3], presence_penalty: [...wrongFor.number!, 99], max_tokens: [...wrongFor.number!.slice(0, 4), -1, 0.5],
      logprobs: wrongFor.flag!, top_logprobs: [...wrongFor.number!, 21, 5], logit_bias: [...wrongFor.object!, { 1: 101 }, { 1: 'x' }], stop: [1, true, {}, [1], ['a', 'b', 'c', 'd', 'e']],
      seed: [...wrongFor.number!, 0.5], response_format: wrongFor.object!, tools: ['x', 1, {}, [1], [{}], [{ type: 'function' }], Array.from({ length: 129 }, () => ({ type: 'function', function: { name: 'f' } }))],
      tool_choice: [1, true, 'perhaps', []], parallel_tool_calls: wrongFor.flag!, functions: wrongFor.list!, user: wrongFor.text!, thinking: [1, 'x', [], {}],
    },
  },
  { path: '/v1/completions', right: { model: 'm', prompt: 'x' }, members: { model: [...wrongFor.text!, ''], temperature: [...wrongFor.number!, 3], stream: wrongFor.flag!, n: [...wrongFor.number!, 0] } },
  { path: '/v1/embeddings', right: { model: 'm', input: 'x' }, members: { model: [...wrongFor.text!, ''], input: [1, true, {}, null], dimensions: [...wrongFor.number!, 0, 1.5] } },
  { path: '/v1/messages', right: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] }, members: { model: [...wrongFor.text!, ''], max_tokens: [...wrongFor.number!.slice(0, 4), null, -1], messages: [...wrongFor.list!, null], temperature: [...wrongFor.number!, 1.1], stream: wrongFor.flag! } },
  { path: '/v1/responses', right: { model: 'm', input: 'x' }, members: { model: wrongFor.text!, input: [1, true, {}], max_output_tokens: [...wrongFor.number!.slice(0, 4), 0], tools: ['x', {}], truncation: ['maybe', 1], metadata: [...wrongFor.object!, { k: 'v'.repeat(513) }], stream: wrongFor.flag! } },
  { path: '/v1/moderations', right: { input: 'x' }, members: { input: [1, true, {}, null], model: wrongFor.text! } },
  { path: '/v1/rerank', right: { model: 'm', query: 'x', documents: ['x'] }, members: { model: [...wrongFor.text!, ''], query: [...wrongFor.text!, ''], documents: [...wrongFor.list!, [1], null], top_n: [...wrongFor.number!.slice(0, 4), 0] } },
  { path: '/v1/images/generations', right: { prompt: 'x' }, members: { prompt: [...wrongFor.text!, '', null], n: [...wrongFor.number!, 0, 11], response_format: ['svg', 1], size: wrongFor.text! } },
];

/** 1e999 is Infinity in JavaScript and no JSON there; on the wire it is a number. */
const stringify = (value: unknown): string => JSON.stringify(value, (_, inner: unknown) => (inner === Infinity ? '<1e999>' : inner === -Infinity ? '<-1e999>' : inner))
  .replaceAll(/"<(-?1e999)>"/g, '$1');

const wrongMember = (chance: Chance): Malformed => {
  const { path, right, members } = chance.of(routes);
  const name = chance.of(Object.keys(members));
  const body = { ...right, [name]: chance.of(members[name] ?? []) };
  return http(`member ${path} ${name}`, 'POST', path, identity(), latin1(stringify(body)));
};

const brokenJson = (chance: Chance): Malformed => {
  const { path, right } = chance.of(routes);
  const text = JSON.stringify({ ...right, user: chance.word() });
  const depth = 10 ** (1 + chance.below(4));
  const body = chance.of<() => string>([
    () => text.slice(0, 1 + chance.below(text.length - 1)),
    () => text + chance.of(['}', ']', ',', 'x', '{}', '\0', '"']),
    () => text.replace('"user"', chance.of(['user', "'user'", '"user', 'user"', '"user"\0', '\\"user"'])),
    () => text.replace(':', chance.of(['', '::', '=', ','])),
    () => text.replace('{', chance.of(['[', '', '{{', '{,'])),
    () => '['.repeat(depth),
    () => '{"a":'.repeat(depth),
    () => '['.repeat(depth) + ']'.repeat(depth),
    () => text.replace(/"user":"\w+"/, `"user":"${chance.bytes(3, 0x80, 0xbf)}"`),
    () => text.replace(/"user":"\w+"/, `"user":"\\u12"`),
    () => text.replace(/"user":"\w+"/, `"user":"${chance.bytes(1, 0, 0x1f)}"`),
    () => text.replace(/"user":"\w+"/, `"user":${chance.of(['01', '.5', '1.', '+1', '0x10', 'NaN', 'Infinity', '1e', '--1', 'undefined', 'True'])}`),
    () => `{"__proto__":{"model":"m"},${text.slice(1)}`,
    () => chance.of(['null', 'true', '1', '"x"', '[]', '[{}]', ' ', '\u0000', '{', '}', '[1,2', '\xef\xbb\xbf{}x']),
    () => chance.bytes(1 + chance.below(200), 0x80, 0xff),
    () => '\xff\xfe' + [...text].join('\0'),
  ])();
  return http(`json ${path}`, 'POST', path, identity(), body);
};

/** Only letters, digits and marks that a header name may have. */
const headGarbage = (chance: Chance): Malformed => {
  // Without a key that is good: garbage may happen to be a header that is in order.
  const headers: Headers = { ...identity(), 'x-gateway-api-key': chance.of([`${apiKey}x`, chance.word(), 'Bearer', chance.bytes(20, 0x21, 0x7e), 'k'.repeat(5000)]) };
  const line = chance.of<() => string>([
    () => `${chance.bytes(1 + chance.below(40), 0, 255).replaceAll(/[\r\n]/g, ' ')}`,
    () => `${chance.word()}: ${chance.bytes(1 + chance.below(100), 0, 255).replaceAll(/[\r\n]/g, '\0')}`,
    () => `${chance.word()} : ${chance.word()}`,
    () => `${chance.word()}`,
    () => ` ${chance.word()}: ${chance.word()}`,
    () => `${chance.bytes(1 + chance.below(5), 0x80, 0xff)}: x`,
    () => `(${chance.word()}): x`,
    () => `x-gateway-${chance.word()}: ${chance.bytes(20, 0x21, 0x7e)}`,
    () => `x-gateway-trace-id: ${chance.bytes(300, 0x21, 0xff)}`,
    () => `traceparent: ${chance.bytes(55, 0x21, 0x7e)}`,
    () => `authorization: ${chance.bytes(1 + chance.below(50), 0x21, 0x7e)}`,
    () => `cookie: ${chance.bytes(2000, 0x21, 0x7e)}`,
    () => Array.from({ length: 30 }, () => `${chance.word()}: ${chance.word()}`).join('\r\n'),
    () => Array.from({ length: 150 }, () => `${chance.word()}: ${chance.word()}`).join('\r\n'),
    () => `host: ${chance.word()}`,
    () => `content-type: ${chance.bytes(20, 0x21, 0x7e)}\r\ncontent-type: ${chance.word()}`,
  ])();
  const request = http('head garbage', 'POST', '/v1/chat/completions', headers, valid, true);
  return { ...request, bytes: request.bytes.replace('\r\nhost: g\r\n', () => `\r\nhost: g\r\n${line}\r\n`) };
};

const oddHeader = (chance: Chance): Malformed => {
  const [name, value] = chance.of<() => [string, string]>([
    () => ['x-gateway-request-timeout', chance.of(['0', '-1', '1.5', 'soon', '1e3', '0x10', '99999999999', ' ', chance.word()])],
    () => ['x-gateway-forward-headers', `${chance.word()}, X-Gateway-${chance.word()}`],
    () => ['x-gateway-metadata', chance.of(['{', '[]', 'null', '1', '"x"', 'true', `{"a":}`, '{"a":1', `{${chance.word()}:1}`, chance.bytes(50, 0x21, 0x7a)])],
    () => ['x-gateway-metadata', '['.repeat(1 + chance.below(5000))],
    () => ['content-type', chance.of(['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application', 'json', chance.word(), '/', 'text/json'])],
    () => ['x-gateway-custom-host', chance.of(['http://10.0.0.1/v1', 'http://169.254.169.254/latest', 'http://[::1]:1/', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'http://', '//x', 'http://user:pass@127.0.0.1/', 'http://127.0.0.1:99999/', 'http://0x7f.1.1.1.1.1/', chance.word()])],
  ])();
  const headers = identity();
  if (name === 'x-gateway-custom-host') {
    delete headers['x-gateway-config'];
    Object.assign(headers, { 'x-gateway-provider': 'openai', authorization: 'Bearer sk' });
  }
  return http(`header ${name}`, 'POST', '/v1/chat/completions', { ...headers, [name]: value }, valid);
};

const oddKey = (chance: Chance): Malformed => {
  const headers = identity();
  delete headers['x-gateway-api-key'];
  const key = chance.of<() => Headers>([
    () => ({}),
    () => ({ 'x-gateway-api-key': chance.of([apiKey.slice(1), apiKey.toUpperCase(), `${apiKey} ${apiKey}`, `"${apiKey}"`, `Bearer ${apiKey}`, '', 'null', chance.bytes(43, 0x21, 0x7e)]) }),
    () => ({ authorization: chance.of([apiKey, `Basic ${apiKey}`, `Bearer${apiKey}`, 'Bearer', 'Bearer ', `Bearer ${chance.bytes(43, 0x21, 0x7e)}`, `Bearer gw_${chance.bytes(43, 0x61, 0x7a)}`]) }),
  ])();
  return http('key', 'POST', '/v1/chat/completions', { ...headers, ...key }, valid);
};

const target = (): Record<string, unknown> => ({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` });

const brokenConfig = (chance: Chance): Malformed => {
  const wrong: readonly unknown[] = [null, 1, true, 'x', [], [1], {}, { x: 1 }, -1, 1.5];
  const not = (...types: string[]): unknown => chance.of(wrong.filter((value) => !types.includes(value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)));
  const nested = (depth: number): object => (depth === 0 ? target() : { strategy: { mode: 'fallback' }, targets: [nested(depth - 1)] });
  const whole = JSON.stringify({ strategy: { mode: 'fallback' }, targets: [target(), target()], retry: { attempts: 2 } });
  const text = chance.of<() => string>([
    () => whole.slice(0, 1 + chance.below(whole.length - 1)),
    () => `${whole}${chance.of(['}', 'x', ','])}`,
    () => chance.of(['[]', 'null', '1', '"x"', '{}', '[{}]', '{{}}', 'true', '{"a"', chance.word(), chance.bytes(40, 0x21, 0x7a), '../../etc/passwd', '%00']),
    () => '{"targets":['.repeat(1 + chance.below(800)),
    () => `{"a":${'['.repeat(1 + chance.below(3000))}`,
    () => JSON.stringify(nested(9 + chance.below(60))),
    () => JSON.stringify({ strategy: { mode: 'fallback' }, targets: Array.from({ length: 101 + chance.below(200) }, () => target()) }),
    () => JSON.stringify({ ...target(), [chance.word() + '_']: 1 }),
    () => JSON.stringify({ ...target(), [chance.of(['retry', 'cache', 'cb_config', 'override_params', 'default_params'])]: not('object') }),
    () => JSON.stringify({ ...target(), [chance.of(['drop_params', 'forward_headers', 'on_status_codes', 'before_request_hooks', 'deployments', 'input_guardrails'])]: not('list') }),
    () => JSON.stringify({ ...target(), [chance.of(['provider', 'api_key', 'virtual_key', 'custom_host', 'name', 'cloud1_region', 'vendor_project'])]: not('string') }),
    () => JSON.stringify({ ...target(), [chance.of(['passthrough', 'strict_reference_compliance'])]: not('boolean') }),
    () => JSON.stringify({ ...target(), [chance.of(['weight', 'request_timeout'])]: chance.of<unknown>(['1', -1, null, [], {}, true]) }),
    () => JSON.stringify({ ...target(), retry: chance.of<unknown>([{}, { attempts: -1 }, { attempts: 21 }, { attempts: '1' }, { attempts: 1.5 }, { attempts: 1, on_status_codes: [99] }, { attempts: 1, on_status_codes: '500' }, { attempts: 1, more: 1 }]) }),
    () => JSON.stringify({ ...target(), cb_config: chance.of<unknown>([{}, { failure_threshold: 0, cooldown_interval: 30_000 }, { failure_threshold: 1, cooldown_interval: 1 }, { failure_threshold: 1 }]) }),
    () => JSON.stringify({ ...target(), drop_params: [chance.of(['', '.', 'a..b', 'a[', 'a[x]', 'a[-1]', 1])] }),
    () => JSON.stringify({ ...target(), forward_headers: [chance.of(['', 'a b', 'a:b', 'é', 'a\r\nb', 1])] }),
    () => JSON.stringify({ ...target(), api_key: chance.of(['', 'a\nb', 'a\r\nx: y', '日本', '\u0000']) }),
    () => JSON.stringify({ ...target(), provider: chance.of(['', '../openai', 'OPENAI/', 'a'.repeat(300), 'nobody', '__proto__', 'constructor', 'openai\n', '%2e%2e', '@nobody', 'acme.nobody']) }),
    () => JSON.stringify({ ...target(), custom_host: chance.of(['not a url', 'ftp://x/', 'javascript:alert(1)', 'http://', 'http://127.0.0.1:0/', 'http://10.1.2.3/v1', 'http://[fe80::1]/', 'http://metadata/\n', 'http://a b/', 'http://u:p@127.0.0.1/']) }),
    () => JSON.stringify({ strategy: chance.of<unknown>([null, 'fallback', {}, { mode: '' }, { mode: 'nowhere' }, { mode: '../x' }, { mode: 'acme.nowhere' }, { mode: 1 }, { mode: 'fallback', more: 1 }, { mode: 'conditional' }, { mode: 'conditional', conditions: [{}] }, { mode: 'm'.repeat(200) }]), targets: [target()] }),
    () => JSON.stringify({ strategy: { mode: 'conditional', conditions: [{ query: chance.of<object>([{ 'metadata.a': { $regex: '(' } }, { 'metadata.a': { $what: 1 } }, { $and: 1 }, { 'params.x': { $gt: {} } }, { other: 1 }]), then: 'a' }] }, targets: [{ ...target(), name: 'a' }] }),
    () => JSON.stringify({ strategy: { mode: 'single' }, targets: chance.of<unknown>([[], {}, null, 'x', [null], [1], [[]], [{}], [{ targets: [] }], [{ strategy: {} }]]) }),
    () => JSON.stringify({ strategy: { mode: 'single' } }),
    () => JSON.stringify({ targets: [target()] }),
    () => JSON.stringify({ options: [target()], mode: 'single' }),
    () => `{"__proto__":{"x":1},${JSON.stringify(target()).slice(1)}`,
    () => `{"constructor":{"prototype":{}},${JSON.stringify(target()).slice(1)}`,
    () => JSON.stringify({ ...target(), passthrough: true, override_params: {} }),
  ])();
  // As bytes in a header: no line ends, nothing trimmed at the end.
  return http('config', 'POST', '/v1/chat/completions', { ...identity(), 'x-gateway-config': latin1(text).replaceAll(/[\r\n]/g, ' ') }, valid);
};

const oddPath = (chance: Chance): Malformed => {
  const [method, path] = chance.of<() => [string, string]>([
    () => ['POST', `/v1/proxy/${chance.of(['%', '%2', '%zz', 'a%g1b', '%2e%2e/x', '../x', 'a/../../x', './x', 'a/%2E', 'a\\b', 'a%2f..%2fb', '..'])}`],
    () => ['POST', `/v1/${chance.word()}/${chance.of(['%', '%zz', '../../x', '%2e%2e/admin', '..%2f..'])}`],
    () => ['GET', `/v1/proxy/${chance.bytes(1 + chance.below(5), 0x80, 0xff)}`],
    () => ['GET', `/v1/proxy/x?q=${chance.bytes(1 + chance.below(5), 0xc3, 0xff)}y`],
    () => ['GET', chance.of(['/', '/v1', '/v1/', '/v2/chat/completions', `/${chance.word()}`, '/v1/prompts/x', '/v1/policies', '/v1/realtime', '//v1/chat/completions', '/V1/chat/completions', '/v1/proxy', '/v1/proxy/', '/.env', '/v1;/x', '*'])],
    () => [chance.of(['PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'Post', chance.bytes(5, 65, 90)]), `/v1/${chance.of(['chat/completions', 'models', 'proxy/x', chance.word()])}`],
    () => [chance.of(['POST', 'PUT', 'DELETE']), chance.of(['/health', '/ready', '/v1/health'])],
    () => ['POST', `/${chance.bytes(2000, 97, 122)}`],
  ])();
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return http(`path ${method} ${path.slice(0, 40)}`, method, path, identity(), hasBody ? valid : undefined, !path.startsWith('/'));
};

const oddUpload = (chance: Chance): Malformed => {
  const path = chance.of(['/v1/files', '/v1/audio/transcriptions', '/v1/audio/translations', '/v1/images/edits', '/v1/images/variations']);
  const type = chance.of(['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary', 'multipart/mixed; boundary=x', 'application/json', 'text/plain', `multipart/form-data; boundary="${'b'.repeat(80)}"`, 'multipart']);
  return http(`upload ${type}`, 'POST', path, { ...identity(), 'content-type': type }, chance.bytes(1 + chance.below(300)));
};

const badFraming = (chance: Chance): Malformed => {
  const path = chance.of(['/v1/chat/completions', '/v1/proxy/upload']);
  const size = valid.length.toString(16);
  const [framing, body] = chance.of<() => [string, string]>([
    () => ['transfer-encoding: chunked\r\n', `${chance.of(['zz', '-1', '+5', '0x5', '5z'])}\r\n${valid}\r\n0\r\n\r\n`],
    () => ['transfer-encoding: chunked\r\n', `${'f'.repeat(9 + chance.below(20))}\r\n${valid}\r\n0\r\n\r\n`],
    () => [`transfer-encoding: ${chance.of(['gzip', 'identity', 'chunked, gzip', 'x', 'chunked;q=1', '"chunked"', chance.word()])}\r\n`, `${size}\r\n${valid}\r\n0\r\n\r\n`],
    () => [`content-length: ${valid.length}\r\ncontent-length: ${valid.length}\r\n`, valid],
    () => [`content-length: ${valid.length}\r\ntransfer-encoding: chunked\r\n`, `${size}\r\n${valid}\r\n0\r\n\r\n`],
    () => [`content-length: ${chance.of(['-1', '+5', 'x', '5x', '0x5', '5,5', '5 5', '1e1', '', '99999999999999999999', '5.0'])}\r\n`, valid],
  ])();
  const head = http(`framing ${framing.trim().slice(0, 60)}`, 'POST', path, identity(), undefined, true);
  return { ...head, bytes: `${head.bytes.slice(0, -2)}${framing}\r\n${body}` };
};

const notHttp = (chance: Chance): Malformed => {
  const key = `x-gateway-api-key: ${chance.word()}\r\n`;
  const bytes = chance.of<() => string>([
    () => `${chance.bytes(1 + chance.below(300)).replaceAll('\r', ' ')}\r\n\r\n`,
    () => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${chance.bytes(300)}\r\n\r\n`,
    () => `GET /health HTTP/${chance.of(['1.0', '2.0', '0.9', '9.9', '1.', '11', 'x', '1.1.1'])}\r\nhost: g\r\n\r\n`,
    () => `GET /v1/models\r\n${key}\r\n`,
    () => `GET  /v1/models HTTP/1.1\r\nhost: g\r\n${key}\r\n`,
    () => `/v1/models HTTP/1.1\r\nhost: g\r\n${key}\r\n`,
    () => `GET /v1/models HTTP/1.1\r\n${key}\r\n`,
    () => `GET http://127.0.0.1/v1/models HTTP/1.1\r\nhost: g\r\n${key}\r\n`,
    () => `CONNECT 10.0.0.1:443 HTTP/1.1\r\nhost: 10.0.0.1\r\n\r\n`,
    () => `GET /v1/a b HTTP/1.1\r\nhost: g\r\n${key}\r\n`,
    () => `GET /v1/\0 HTTP/1.1\r\nhost: g\r\n${key}\r\n`,
    () => `GET /v1/${chance.bytes(5, 1, 31).replaceAll('\r', '\t')} HTTP/1.1\r\nhost: g\r\n${key}\r\n`,
    () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    () => `\r\n\r\n\r\n\r\n`,
    () => `SSH-2.0-OpenSSH_9.2\r\n\r\n`,
    () => `EHLO x\r\nMAIL FROM:<a@b>\r\n\r\n`,
    () => `GET /v1/models HTTP/1.1\r\nhost: g\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`,
    () => `GET /v1/models?${'y'.repeat(70_000)} HTTP/1.1\r\nhost: g\r\n\r\n`,
  ])();
  return { kind: `not HTTP ${JSON.stringify(bytes.slice(0, 40))}`, bytes, isRaw: true };
};

const makers: readonly ((chance: Chance) => Malformed)[] = [
  wrongMember, wrongMember, wrongMember, brokenJson, brokenJson, brokenConfig, brokenConfig, brokenConfig, oddHeader, oddKey, oddPath, oddPath, oddUpload, headGarbage, headGarbage, badFraming, notHttp,
];

// ---- a client that expects anything ----

/** One connection at a time, opened again when the other side closed it. */
class Client {
  #socket: Socket | null = null;
  #text = '';
  #isClosed = false;
  #wake: (() => void) | null = null;

  async open(): Promise<Socket> {
    if (this.#socket !== null && !this.#isClosed) return this.#socket;
    const socket = connect(gateway.port, '127.0.0.1');
    socket.setNoDelay(true);
    this.#socket = socket;
    this.#isClosed = false;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => { this.#text += text; this.#wake?.(); });
    socket.on('close', () => { this.#isClosed = true; this.#wake?.(); });
    // A reset is one of the ways to refuse.
    socket.on('error', () => {});
    await new Promise<void>((resolve) => { socket.once('connect', resolve); });
    return socket;
  }

  /** The whole answer; what came of it when the connection was closed. Undefined: nothing came in time. */
  async send({ bytes, isRaw }: Malformed): Promise<string | undefined> {
    if (isRaw) this.close();
    const socket = await this.open();
    this.#text = '';
    socket.write(bytes, 'latin1');
    if (isRaw) socket.end();
    const isThere = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), waitMs);
      this.#wake = () => {
        if (!this.#isClosed && (isRaw || !isWhole(this.#text))) return;
        clearTimeout(timer);
        this.#wake = null;
        resolve(true);
      };
    });
    if (isRaw || !isThere || /\r\nconnection: close\r\n/i.test(this.#text)) this.close();
    return isThere ? this.#text : undefined;
  }

  close(): void {
    this.#socket?.removeAllListeners('data').removeAllListeners('close').resetAndDestroy();
    this.#socket = null;
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return length !== undefined && text.length >= end + 4 + Number(length);
}

/** What is wrong with the answer; undefined when the refusal is as it should be. */
function faultOf({ isRaw, bytes }: Malformed, answer: string | undefined): string | undefined {
  if (answer === undefined) return 'no answer, and the connection stayed open';
  if (answer === '') return isRaw ? undefined : 'closed without an answer';
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);
  if (isRaw && status === 505) return undefined;
  if (status < 400 || status > 499) return `status ${status}`;
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  if (isRaw && body.startsWith('<h1>')) return undefined;
  if (bytes.startsWith('HEAD ')) return body === '' ? undefined : 'HEAD is answered with a body';
  if (!/\r\ncontent-type: application\/json/i.test(head)) return 'not JSON';
  try {
    const { error } = JSON.parse(Buffer.from(body, 'latin1').toString());
    if (typeof error.message !== 'string' || error.message === '' || typeof error.type !== 'string') return 'no message or type';
    if (body.includes(apiKey)) return 'the answer has the key in it';
  } catch {
    return 'a body that is not JSON';
  }
  return undefined;
}

async function sendAll(requests: readonly Malformed[], seed: number): Promise<void> {
  let index = 0;
  /** By what they have in common, with the first of each. */
  const faults = new Map<string, string>();
  await Promise.all(Array.from({ length: connectionCount }, async () => {
    const client = new Client();
    for (let request = requests[index++]; request !== undefined; request = requests[index++]) {
      const answer = await client.send(request);
      const fault = faultOf(request, answer);
      const group = `${fault ?? ''}: ${request.kind}`;
      if (fault !== undefined && !faults.has(group)) faults.set(group, `${group}\n    ${JSON.stringify(request.bytes.slice(0, 1000))}\n    ${JSON.stringify(answer?.slice(-400))}`);
    }
    client.close();
  }));
  assert.ok(faults.size === 0, `seed ${seed}:\n${[...faults.values()].slice(0, 20).join('\n')}`);
}

// ---- before and after ----

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

async function heapBytes(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  return process.memoryUsage().heapUsed;
}

function openSockets(): number {
  let count = 0;
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      if (readlinkSync(`/proc/self/fd/${name}`).startsWith('socket:')) count += 1;
    } catch {
      // The descriptor of the folder itself is gone by now.
    }
  }
  return count;
}

const innocent = JSON.stringify({ ...JSON.parse(valid), user: 'innocent' });

async function callWorks(): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { ...identity(), connection: 'close' }, body: innocent });
  assert.equal(answer.status, 200);
  assert.equal((await answer.json() as { object: string }).object, 'chat.completion');
}

describe('malformed requests', () => {
  it('are all refused with a 4xx that says why, reach no provider, and leave nothing behind', async (t) => {
    const seed = testSeed;
    t.diagnostic(`seed ${seed} (set GATEWAY_TEST_SEED to repeat)`);
    const chance = new Chance(seed);
    const round = (): Promise<void> => sendAll(Array.from({ length: requestCount / 2 }, () => chance.of(makers)(chance)), seed);
    await callWorks();
    const socketsBefore = openSockets();
    await round();
    await callWorks();
    const heapBetween = await heapBytes();
    await round();
    await callWorks();
    const growth = await heapBytes() - heapBetween;
    assert.ok(growth < growthBytesMax, `the heap grew by ${growth} bytes`);
    // Sockets that were just reset are closed by the loop's next turns.
    const until = performance.now() + waitMs;
    while (openSockets() > socketsBefore && performance.now() < until) await new Promise((resolve) => { setImmediate(resolve); });
    assert.ok(openSockets() <= socketsBefore, `${openSockets()} sockets are open, ${socketsBefore} were`);
    const reached = upstream.received.filter(({ body }) => body.toString() !== innocent);
    assert.deepEqual(reached.map(({ method, url, body }) => `${method} ${url} ${body.toString('latin1')}`), [], 'reached the provider');
    t.diagnostic(`heap ${(growth / 1024 / 1024).toFixed(1)} MB more after the second half`);
  });
});
