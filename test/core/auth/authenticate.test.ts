import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Authenticator } from '../../../core/auth/authenticate.js';
import { givenKeyCharsMin, hashKey, looksLikeKey, makeKey, prefixOf } from '../../../core/auth/key.js';
import type { KeyLookup, Principal } from '../../../core/auth/principal.js';
import { requireScope, scopesOfType } from '../../../core/auth/scopes.js';
import { chatCompletions } from '../../../core/endpoints/chat-completions.js';
import { models } from '../../../core/endpoints/models.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { isGatewayError, type GatewayError } from '../../../core/errors/gateway-error.js';

const principal = (keyId: string, expiresAtMs = Infinity): Principal => Object.freeze({
  keyId, organisationId: 'o', workspaceId: 'w', scopes: new Set(scopesOfType['workspace-service']), type: 'workspace-service', expiresAtMs, defaults: null, workspace: null, limits: null, token: null,
});
const ours = makeKey();
const other = makeKey();
const expired = makeKey();
const given = 'a-given-key-of-the-operator';
const unknown = makeKey();
const provider = 'sk-provider-key-1234567890';
const principals = new Map([[ours, principal('ours')], [other, principal('other')], [expired, principal('expired', 1000)], [given, principal('given')]]
  .map(([key, value]) => [hashKey(String(key)), value as Principal]));
let hashed: string[] = [];
const lookup: KeyLookup = {
  principalByKeyHash: (hash) => { hashed.push(hash); return principals.get(hash); },
  mayBeKey: (text) => text.startsWith('gw_') || text.startsWith('a-gi'),
  keyBeginnings: () => ['gw_', 'a-gi'],
};
const authenticator = new Authenticator(lookup, () => 1000);
const headOf = (apiKey: string | undefined, authorization?: string, headers: Readonly<Record<string, string>> = {}, query = ''): RequestHead => {
  const head = new RequestHead();
  if (apiKey !== undefined) head.add('x-gateway-api-key', apiKey);
  if (authorization !== undefined) head.add('authorization', authorization);
  for (const [name, value] of Object.entries(headers)) head.add(name, value);
  head.path = '/v1/chat/completions';
  head.query = query;
  return head;
};
/** Whose key it is, and whether Authorization was taken out. */
const result = (apiKey: string | undefined, authorization?: string): [string, boolean] => {
  const head = headOf(apiKey, authorization);
  const found = authenticator.authenticate(head);
  assert.ok(found);
  return [found.keyId, authorization !== undefined && head.authorization === undefined];
};
const names = (head: RequestHead): string[] => head.headers.filter((_, index) => index % 2 === 0);
const refused = (apiKey: string | undefined, authorization?: string): GatewayError => {
  try {
    authenticator.authenticate(headOf(apiKey, authorization));
  } catch (thrown) {
    assert.ok(isGatewayError(thrown));
    return thrown;
  }
  return assert.fail('it was let in');
};

describe('authenticator', () => {
  it('takes the key of x-gateway-api-key and leaves a provider key in Authorization to be forwarded', () => {
    assert.deepEqual(result(ours), ['ours', false]);
    assert.deepEqual(result(ours, `Bearer ${provider}`), ['ours', false]);
    assert.deepEqual(result(given, 'Basic dXNlcjpwYXNz'), ['given', false]);
  });

  it('takes a gateway key from Authorization when x-gateway-api-key is absent, and then it is never forwarded', () => {
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer   ']) assert.deepEqual(result(undefined, scheme + ours), ['ours', true]);
    assert.deepEqual(result('', `Bearer ${given} `), ['given', true]);
  });

  it('flags a gateway key in Authorization beside x-gateway-api-key: the same, another, an expired one, and one without a scheme', () => {
    for (const authorization of [`Bearer ${ours}`, `Bearer ${other}`, `bearer ${expired}`, `Bearer ${given}`, ours, given]) {
      assert.deepEqual(result(ours, authorization), ['ours', true], authorization);
    }
  });

  it('lets a gateway-like key that is none of ours pass: the upstream may be another gateway', () => {
    assert.deepEqual(result(ours, `Bearer ${unknown}`), ['ours', false]);
  });

  it('answers KEY_MISSING when nothing could be a gateway key', () => {
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', `Bearer ${provider}`, `Basic ${ours}`, ours]) {
      const error = refused(undefined, authorization);
      assert.deepEqual([error.code, error.status], ['KEY_MISSING', 401], authorization);
    }
  });

  it('answers KEY_INVALID for an unknown, an expired and an overlong key, and names none of them', () => {
    const cases: [string | undefined, string | undefined][] = [
      [unknown, undefined], [provider, undefined], [expired, undefined], ['x'.repeat(60_000), undefined], [unknown, `Bearer ${ours}`],
      [undefined, `Bearer ${unknown}`], [undefined, `Bearer ${expired}`],
    ];
    for (const [apiKey, authorization] of cases) {
      const error = refused(apiKey, authorization);
      assert.deepEqual([error.code, error.status], ['KEY_INVALID', 401]);
      assert.ok(!error.message.includes(apiKey ?? String(authorization)));
    }
  });

  it('lets a key expire at its time and not before', () => {
    const at = (now: number): string => new Authenticator(lookup, () => now).authenticate(headOf(expired))?.keyId ?? '';
    assert.equal(at(999), 'expired');
    assert.throws(() => at(1000), /not valid/);
  });

  it('hashes once for a call, also beside a provider key', () => {
    hashed = [];
    result(ours, `Bearer ${provider}`);
    result(undefined, `Bearer ${ours}`);
    assert.equal(hashed.length, 2);
  });
});

describe('what a head carries besides', () => {
  const forms = (key: string): Record<string, string> => ({
    'x-api-key': key, 'api-key': ` ${key}`, 'x-list': `a, ${key},b`, 'x-quoted': `key="${key}"`, 'x-scheme': `Token ${key}`, 'x-tab': `Token\t${key}`,
    'x-json': JSON.stringify({ key }), 'x-sentence': `It is ${key}.`, 'x-path': `/bot/${key}/send`, 'x-protocol': `realtime, insecure-api-key.${key}`,
    'x-encoded': `Bearer%20${key}`, 'x-password': `Basic ${Buffer.from(`user:${key}`).toString('base64')}`, 'content-type': key,
  });
  const harmless = { 'x-one': 'one', 'user-agent': 'a-given-agent/1.0 (gw_like; not a key)', 'x-other': provider, 'x-unknown': unknown, accept: 'application/json', 'x-cut': ours.slice(0, -1), 'x-longer': `${ours}x` };

  it('loses our keys wherever they stand, expired ones too, and nothing else', () => {
    for (const key of [ours, other, expired, given]) {
      const head = headOf(ours, undefined, { ...harmless, ...forms(key), 'x-gateway-vendor-project': key }, `a=1&key=${key}&b=2&c=${encodeURIComponent(`Bearer ${key}`)}&twice=x%253D${key}&thrice=x%25253D${key}&d=4`);
      authenticator.authenticate(head);
      assert.deepEqual(names(head), Object.keys(harmless), key);
      assert.deepEqual(head.gatewayHeaders, []);
      assert.equal(head.query, 'a=1&b=2&d=4');
      assert.equal(head.contentType, '');
    }
  });

  it('leaves no key in the path of a refused call, which the log tells', () => {
    for (const [apiKey, code] of [[ours, 'PATH_INVALID'], [unknown, 'KEY_INVALID'], [undefined, 'KEY_MISSING'], [expired, 'KEY_INVALID']] as const) {
      for (const path of [`/v1/proxy/bot/${other}/send`, `/v1/proxy/bot/${encodeURIComponent(other).replace('_', '%5f')}`]) {
        const head = headOf(apiKey);
        head.path = path;
        assert.throws(() => authenticator.authenticate(head), (error: GatewayError) => error.code === code);
        assert.equal(head.path, '/', code);
      }
    }
    const plain = headOf(unknown);
    assert.throws(() => authenticator.authenticate(plain));
    assert.equal(plain.path, '/v1/chat/completions');
  });

  it('is refused when a key stands in the path, where nothing can be left out', () => {
    const head = headOf(ours);
    head.path = `/v1/proxy/bot/${other}/send`;
    assert.throws(() => authenticator.authenticate(head), (error: GatewayError) => error.code === 'PATH_INVALID' && !error.message.includes(other));
  });

  it('is not hashed when nothing in it begins like a key, and in a hostile head only so often', () => {
    hashed = [];
    authenticator.authenticate(headOf(ours, `Bearer ${provider}`, { 'user-agent': 'OpenAI/JS 6.49.0', accept: 'application/json', 'x-one': 'x'.repeat(5000) }, 'a=1&b=2'));
    assert.equal(hashed.length, 1);
    const flood = headOf(ours, undefined, { 'x-flood': `${unknown} `.repeat(1000) });
    authenticator.authenticate(flood);
    assert.ok(hashed.length < 100, String(hashed.length));
    assert.deepEqual(names(flood), [], 'what cannot be looked through does not travel');
  });

  it('is looked for keys as short as one may be', () => {
    assert.ok(given.length > givenKeyCharsMin);
    const head = headOf(ours, undefined, { 'x-cut': given.slice(0, givenKeyCharsMin) });
    authenticator.authenticate(head);
    assert.deepEqual(names(head), ['x-cut']);
  });
});

describe('keys', () => {
  it('are made unlike each other, in the shape they are known by', () => {
    const keys = Array.from({ length: 50 }, makeKey);
    assert.equal(new Set(keys).size, 50);
    for (const key of keys) assert.ok(looksLikeKey(key) && key.startsWith('gw_'), key);
    for (const text of ['', 'gw_', `gw_${'a'.repeat(42)}`, `gw_${'a'.repeat(44)}`, `gw_${'a'.repeat(42)}!`, `xgw_${'a'.repeat(43)}`]) assert.equal(looksLikeKey(text), false);
  });

  it('are hashed with SHA-256 and shown by a few characters', () => {
    assert.equal(hashKey('abc'), createHash('sha256').update('abc').digest('hex'));
    assert.equal(prefixOf(ours), ours.slice(0, 7));
    assert.equal(prefixOf('0123456789abcdef'), '0123');
  });
});

describe('scopes', () => {
  it('are those of the key type: who administers does not call, who calls does not administer', () => {
    const [admin, service, user] = [scopesOfType['organisation-service'], scopesOfType['workspace-service'], scopesOfType['workspace-user']];
    assert.ok(!admin.includes('completions.write') && !admin.includes('logs.write') && !admin.includes('prompts.render'));
    assert.ok(admin.includes('workspaces.create') && admin.includes('organisation_service_api_keys.rotate') && admin.includes('audit_logs.list'));
    assert.ok(service.includes('completions.write') && service.includes('workspaces.update') && !service.includes('workspaces.create'));
    assert.ok(user.includes('completions.write') && user.includes('virtual_keys.copy') && !user.includes('workspace_users.list'));
    assert.ok(service.includes('organisation_integrations.list') && !service.includes('organisation_integrations.read'));
    for (const scopes of [admin, service, user]) assert.equal(new Set(scopes).size, scopes.length);
    for (const scope of user) assert.ok(service.includes(scope), scope);
  });

  it('are required by name: 403 without', () => {
    requireScope(principal('a'), { scope: 'completions.write' });
    assert.throws(() => requireScope(principal('a'), { scope: 'workspaces.create' }), (thrown) => {
      assert.ok(isGatewayError(thrown));
      assert.deepEqual([thrown.code, thrown.status, thrown.message], ['SCOPE_MISSING', 403, 'this API key lacks the scope workspaces.create']);
      return true;
    });
  });

  it('stand on endpoints: models may be listed with another scope than the one for calls', () => {
    const lists = { ...principal('a'), scopes: new Set(['virtual_keys.list']) };
    requireScope(lists, models);
    requireScope(principal('a'), models);
    assert.throws(() => requireScope(lists, chatCompletions), /lacks the scope completions\.write$/);
    assert.throws(() => requireScope({ ...lists, scopes: new Set(['configs.list']) }, models), /lacks the scope completions\.write or virtual_keys\.list or models\.list$/);
  });
});
