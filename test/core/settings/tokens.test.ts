import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspectSettings, readSettings } from '../../../core/settings/read.js';

const keys = JSON.stringify({ keys: [{ kty: 'RSA', kid: 'a', n: 'x', e: 'AQAB' }] });
const faultsOf = (environment: Record<string, string>): readonly string[] => inspectSettings(environment, '/nowhere').faults;

describe('the settings of tokens', () => {
  test('are off without keys', () => assert.equal(readSettings({}, '/nowhere').tokens, null));

  test('take an address or the keys themselves, with RS256 alone unless more is said', () => {
    const byUrl = readSettings({ GATEWAY_JWT_JWKS_URL: 'https://login.example.com/keys', GATEWAY_JWT_CLAIMS: 'organisation=tenant,scopes=permissions', GATEWAY_JWT_AUDIENCE: 'a,b', GATEWAY_JWT_ISSUER: 'https://login.example.com' }, '/nowhere').tokens;
    assert.deepEqual(byUrl, {
      jwksUrl: 'https://login.example.com/keys', jwks: undefined, algorithms: ['RS256'], issuer: 'https://login.example.com', audience: ['a', 'b'], clockSkewSeconds: 30,
      claims: { organisation: 'tenant', workspace: 'workspace', scopes: 'permissions', user: 'sub', defaults: 'defaults', usage_limits: 'usage_limits', rate_limits: 'rate_limits' },
    });
    assert.deepEqual(readSettings({ GATEWAY_JWT_JWKS: keys, GATEWAY_JWT_ALGORITHMS: 'ES256,EdDSA' }, '/nowhere').tokens?.algorithms, ['ES256', 'EdDSA']);
  });

  for (const [name, environment, fault] of [
    ['no algorithm with a shared secret', { GATEWAY_JWT_JWKS: keys, GATEWAY_JWT_ALGORITHMS: 'HS256' }, /^GATEWAY_JWT_ALGORITHMS must be a list of RS256/],
    ['no algorithm called none', { GATEWAY_JWT_JWKS: keys, GATEWAY_JWT_ALGORITHMS: 'none' }, /^GATEWAY_JWT_ALGORITHMS must be a list of RS256/],
    ['not two sources of keys', { GATEWAY_JWT_JWKS: keys, GATEWAY_JWT_JWKS_URL: 'https://x/keys' }, /are both given; keep one$/],
    ['no set without keys', { GATEWAY_JWT_JWKS: '{"keys":[]}' }, /^jwt_jwks must be a JSON Web Key Set/],
    ['nothing that is not JSON', { GATEWAY_JWT_JWKS: '{keys' }, /^jwt_jwks must be a JSON Web Key Set/],
    ['no address with a password', { GATEWAY_JWT_JWKS_URL: 'https://a:b@x/keys' }, /^jwt_jwks_url must be a URL without a user name/],
    ['no issuer without keys', { GATEWAY_JWT_ISSUER: 'https://x' }, /say nothing without keys/],
    ['no claim for what it does not know', { GATEWAY_JWT_JWKS: keys, GATEWAY_JWT_CLAIMS: 'tenant=oid' }, /^GATEWAY_JWT_CLAIMS must be a list of fact=claim pairs/],
  ] as const) test(`take ${name}`, () => {
    const faults = faultsOf(environment);
    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? '', fault);
  });

  test('take the sources of secrets apart, and refuse one without a rule', () => {
    assert.deepEqual(readSettings({ GATEWAY_SECRET_SOURCES: 'env=OPENAI_*, file=/run/secrets' }, '/nowhere').secretSources, [{ id: 'env', rule: 'OPENAI_*' }, { id: 'file', rule: '/run/secrets' }]);
    assert.match(faultsOf({ GATEWAY_SECRET_SOURCES: 'env' })[0] ?? '', /^GATEWAY_SECRET_SOURCES must be a list of source=rule pairs/);
  });
});
