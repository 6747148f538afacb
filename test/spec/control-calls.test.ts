// Control calls as clients send them: over HTTP, with the headers, bodies and connections that they may have.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlSegments } from '../../core/router/routes.js';
import { openWire } from '../support/wire.js';
import { adminKey, apiKey, routed, startTestGateway } from '../support/gateway.js';
import { startUpstream, sendJson } from '../support/upstream.js';

const gateway = await startTestGateway();
const upstream = await startUpstream((_, response) => sendJson(response, 200, {}));

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, any>;
}

async function call(method: string, path: string, { headers = {}, body, key = adminKey }: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string; readonly key?: string | null } = {}): Promise<Got> {
  const response = await fetch(gateway.url + path, {
    method, ...(body === undefined ? {} : { body }),
    headers: { ...(key === null ? {} : { 'x-gateway-api-key': key }), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

describe('a control call over HTTP', () => {
  it('is answered below /v1, /v2 and /, with the key in any header that takes keys', async () => {
    for (const path of ['/v1/workspaces', '/v2/workspaces', '/workspaces', '/v1/admin/workspaces', '/workspaces/?page_size=5']) {
      const got = await call('GET', path);
      assert.deepEqual([got.status, got.body.object, got.body.total], [200, 'list', 1], path);
      assert.equal(got.headers.get('content-type'), 'application/json');
      assert.match(got.headers.get('x-gateway-request-id') ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(got.headers.get('x-gateway-trace-id'), got.headers.get('x-gateway-request-id'));
    }
    for (const headers of [{ authorization: `Bearer ${adminKey}` }, { 'x-api-key': adminKey }]) assert.equal((await call('GET', '/v1/workspaces', { headers, key: null })).status, 200);
    assert.equal((await call('GET', '/v1/workspaces', { headers: { 'x-gateway-trace-id': 'mine' } })).headers.get('x-gateway-trace-id'), 'mine');
  });

  it('changes what it says, and tells the version', async () => {
    const read = await call('GET', '/v1/workspaces/first-workspace');
    const etag = read.headers.get('etag') ?? '';
    assert.match(etag, /^"\d+"$/);
    const update = await call('PUT', '/v1/workspaces/first-workspace', { body: '{"name":"Renamed"}', headers: { 'if-match': etag } });
    assert.equal(update.status, 200);
    const again = await call('GET', '/v1/workspaces/first-workspace');
    assert.deepEqual([again.body.name, again.headers.get('etag')], ['Renamed', update.headers.get('etag')]);
    const late = await call('PUT', '/v1/workspaces/first-workspace', { body: '{"name":"Late"}', headers: { 'if-match': etag } });
    assert.deepEqual([late.status, late.body.data.errorCode], [412, 'AB07']);
  });

  it('is refused in the control envelope: keys, scopes, paths, methods, bodies', async () => {
    const long = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
    const refusals: readonly [string, string, Parameters<typeof call>[2], number, string, string | null][] = [
      ['GET', '/v1/workspaces', { key: null }, 401, 'AB05', null],
      ['GET', '/v1/workspaces', { key: 'gw_unknown-key-0123456789' }, 401, 'AB05', null],
      ['GET', '/v1/feedback/none/none', {}, 404, 'AB08', null],
      ['POST', '/v1/feedback/none/none', { body: '{}' }, 404, 'AB08', null],
      ['POST', '/v1/workspaces/first-workspace', { body: '{}' }, 405, 'AB01', null],
      ['PATCH', '/v1/workspaces/first-workspace', { body: '{}' }, 405, 'AB01', null],
      ['PUT', '/v1/workspaces/first-workspace', { body: '{"name":' }, 400, 'AB01', 'body'],
      ['PUT', '/v1/workspaces/first-workspace', { body: '[]' }, 400, 'AB01', 'body'],
      ['PUT', '/v1/workspaces/first-workspace', { body: '"text"' }, 400, 'AB01', 'body'],
      ['PUT', '/v1/workspaces/first-workspace', { body: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 400, 'AB01', 'content-type'],
      ['PUT', '/v1/workspaces/first-workspace', { body: '{"name":"x"}', headers: { 'content-encoding': 'gzip' } }, 400, 'AB01', 'content-encoding'],
      ['PUT', '/v1/workspaces/first-workspace', { body: '{"name":"x"}', headers: { 'if-match': '1' } }, 400, 'AB01', 'if-match'],
      ['PUT', '/v1/workspaces/first-workspace', { body: long }, 413, 'AB01', null],
      ['GET', '/v1/workspaces/%zz', {}, 400, 'AB01', 'path'],
      ['GET', `/v1/workspaces/${apiKey}`, {}, 400, 'AB01', 'path'],
    ];
    for (const [method, path, options, status, code, param] of refusals) {
      const got = await call(method, path, options);
      assert.deepEqual([got.status, got.body.success, got.body.status, got.body.data?.errorCode, got.body.error?.code, got.body.error?.param, got.body.data?.message], [status, false, 'failure', code, code, param, got.body.message], `${method} ${path}`);
      assert.equal(JSON.stringify(got.body).includes(apiKey), false);
    }
    assert.equal((await call('PATCH', '/v1/workspaces/first-workspace')).headers.get('allow'), 'GET, PUT, DELETE');
    const head = await fetch(`${gateway.url}/v1/workspaces`, { method: 'HEAD', headers: { 'x-gateway-api-key': adminKey } });
    assert.equal(head.status, 405);
  });

  it('is never relayed to a provider, whatever its first segment', async () => {
    for (const segment of controlSegments) {
      for (const prefix of ['/v1', '/v2', '']) {
        const got = await call('POST', `${prefix}/${segment}/no/such/operation`, { headers: routed(upstream.url), body: '{}', key: apiKey });
        assert.deepEqual([got.status, got.body.success], [404, false], `${prefix}/${segment}`);
      }
    }
    assert.equal(upstream.received.length, 0);
  });

  it('of a body that comes in pieces is answered when the last is here, one that is too long at once, and one that never ends costs nothing', async () => {
    const head = (length: string): string => `PUT /v1/workspaces/first-workspace HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: ${adminKey}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`;
    const pieces = await openWire(gateway.port);
    pieces.write(`${head('content-length: 17')}{"name"`);
    pieces.write(':"Pieces"}');
    assert.match(await pieces.until((text) => text.includes('{}')), /^HTTP\/1\.1 200 /);
    pieces.write(`GET /v1/workspaces/first-workspace HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: ${adminKey}\r\n\r\n`);
    assert.match(await pieces.until((text) => text.includes('"slug"')), /"name":"Pieces"/);
    pieces.destroy();

    const chunked = await openWire(gateway.port);
    chunked.write(head('transfer-encoding: chunked'));
    chunked.write(`${(0x110000).toString(16)}\r\n${'x'.repeat(0x110000)}\r\n`);
    assert.match(await chunked.until((text) => text.includes('"param"')), /^HTTP\/1\.1 413 /);
    chunked.destroy();

    const gone = await openWire(gateway.port);
    gone.write(`${head('content-length: 1000')}{`);
    gone.destroy();
    await gone.closed();
    assert.equal((await call('GET', '/v1/workspaces')).status, 200);
  });
});
