import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ParameterError, type Json, type Verdict } from '@gateway/plugin-sdk';
import { fakeExchange, fakeCheckInput, fakeHost, withDefaults, conformGuardrail, type FakeAnswer, type FakeHost } from '@gateway/plugin-sdk/testing';
import { readDuration } from './duration.js';
import plugin from './plugin.js';

const nowMs = 1_700_000_000_000;
const now = nowMs / 1000;
const jwksUri = 'https://issuer.example/keys';
const introspectEndpoint = 'https://issuer.example/introspect';

interface Key { readonly secret: CryptoKey; readonly jwk: JWK }
async function makeKey(kid: string, algorithm = 'RS256'): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  return { secret: privateKey, jwk: { ...await exportJWK(publicKey), kid, alg: algorithm, use: 'sig' } };
}

const [first, second, curve] = await Promise.all([makeKey('first'), makeKey('second'), makeKey('curve', 'ES256')]);
const foreign = await makeKey('first');

const sign = (claims: Record<string, unknown> = {}, { key = first, header = {} }: { readonly key?: Key; readonly header?: Record<string, unknown> } = {}): Promise<string> =>
  new SignJWT({ sub: 'user', iat: now - 60, exp: now + 600, ...claims }).setProtectedHeader({ alg: key.jwk.alg ?? '', ...(key.jwk.kid === undefined ? {} : { kid: key.jwk.kid }), ...header }).sign(key.secret);
const keySet = (...keys: readonly Key[]) => ({ keys: keys.map(({ jwk }) => jwk) }) as unknown as Json;

/** A check with `jwks` unless the parameters say where keys are. */
async function make(params: Record<string, unknown> = {}, host: FakeHost = fakeHost()) {
  const source = 'jwksUri' in params || 'introspectEndpoint' in params ? {} : { jwks: keySet(first, second, curve) };
  const check = await plugin.create(withDefaults(plugin.params, { ...source, ...params }) as unknown as Parameters<typeof plugin.create>[0], host);
  return async (token: string | undefined, headers: Record<string, string> = {}): Promise<Verdict> =>
    check.evaluate(fakeCheckInput({ headers: { ...(token === undefined ? {} : { authorization: token }), ...headers } }));
}

const refusesWith = async (verdict: Promise<Verdict>, message: RegExp): Promise<void> => {
  const { pass, why } = await verdict;
  assert.equal(pass, false);
  assert.match(why ?? '', message);
};

const valid = await sign();
conformGuardrail(plugin, {
  passes: [
    { params: { jwks: keySet(first) }, text: 'hi', headers: { authorization: `Bearer ${valid}` } },
    { params: { jwks: keySet(first) }, text: 'hi', headers: { authorization: valid } },
    { params: { jwks: keySet(first), headerKey: 'X-User-Token' }, text: 'hi', headers: { 'x-user-token': `bearer ${valid}` } },
  ],
  fails: [
    { params: { jwks: keySet(first) }, text: 'hi' },
    { params: { jwks: keySet(first) }, text: 'hi', headers: { authorization: 'Bearer ' } },
    { params: { jwks: keySet(first) }, text: 'hi', headers: { authorization: 'sk-something' } },
    { params: { jwks: keySet(first) }, text: 'hi', headers: { authorization: 'a.b.c' } },
    { params: { jwks: keySet(second) }, text: 'hi', headers: { authorization: valid } },
    { params: { jwks: keySet(first), headerKey: 'X-User-Token' }, text: 'hi', headers: { authorization: valid } },
    { params: { jwks: keySet(first) }, text: 'hi', headers: { authorization: 'x'.repeat(17_000) } },
  ],
  errors: [{ params: { jwksUri }, text: 'hi', headers: { authorization: valid }, host: { fetch: () => ({ status: 503 }) }, message: /issuer\.example could not be read: status 503/ }],
  refuses: [
    {}, { jwksUri: 'keys' }, { jwksUri, jwks: { keys: [] } }, { jwks: { keys: [] } }, { jwks: {} }, { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }, { jwks: { keys: ['x'] } },
    { jwksUri, algorithms: ['HS256'] }, { jwksUri, algorithms: ['none'] }, { jwksUri, algorithms: [] }, { jwksUri, maxTokenAge: 'soon' }, { jwksUri, maxTokenAge: -1 },
    { jwksUri, headerKey: '' }, { jwksUri, claimValues: { a: {} } }, { jwksUri, claimValues: { a: { values: '(', matchType: 'regex' } } }, { introspectEndpoint: 'x' },
    { introspectEndpoint, introspectHeaders: 'x' },
  ],
});

describe('signatures', () => {
  test('a token of any key of the set is known, one that was changed is not', async () => {
    const judge = await make({ algorithms: ['RS256', 'ES256'] });
    for (const key of [first, second, curve]) assert.equal((await judge(await sign({}, { key }))).pass, true);
    const [head = '', , signature = ''] = valid.split('.');
    await refusesWith(judge([head, Buffer.from(JSON.stringify({ sub: 'admin', iat: now, exp: now + 60 })).toString('base64url'), signature].join('.')), /signature of the token is wrong/);
    await refusesWith(judge(await sign({}, { key: foreign })), /signature of the token is wrong/);
  });

  test('only the named algorithms are accepted', async () => {
    const judge = await make();
    await refusesWith(judge(await sign({}, { key: curve })), /algorithm that is not allowed/);
    const unsigned = [{ alg: 'none' }, { sub: 'user', iat: now, exp: now + 60 }].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    await refusesWith(judge(`${unsigned}.`), /algorithm that is not allowed|not a signed/);
    // The public key as the secret of an HMAC: the classic confusion.
    const confused = await new SignJWT({ sub: 'user', iat: now, exp: now + 60 }).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(Buffer.from(JSON.stringify(first.jwk)));
    await refusesWith(judge(confused), /algorithm that is not allowed/);
  });

  test('a private key in the config is refused', async () => {
    const jwk = await exportJWK(first.secret);
    await assert.rejects(make({ jwks: { keys: [jwk] } }), (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'jwks.keys[0]');
  });
});

describe('times', () => {
  const limits = [
    [{ exp: now - 6 }, /expired/], [{ exp: now - 5 }, /expired/], [{ exp: now - 4 }, undefined], [{ nbf: now + 6 }, /not valid yet/], [{ nbf: now + 5 }, undefined],
    [{ iat: now - 86_406 }, /too old/], [{ iat: now - 86_404 }, undefined], [{ iat: now + 6 }, /in the future/], [{ iat: undefined }, /does not say when/],
    [{ exp: undefined }, undefined], [{ exp: 'soon' }, /not a time/],
  ] as const;
  for (const [claims, message] of limits) {
    test(`a token with ${JSON.stringify(claims)} ${message === undefined ? 'passes' : 'fails'}`, async () => {
      // SignJWT checks the types of times itself.
      const token = 'exp' in claims && typeof claims.exp === 'string' ? await signRaw({ ...claims, iat: now }) : await sign(claims);
      const verdict = (await make())(token);
      if (message === undefined) assert.equal((await verdict).pass, true);
      else await refusesWith(verdict, message);
    });
  }

  test('a token that was verified before still expires', async () => {
    const host = fakeHost();
    const judge = await make({}, host);
    const token = await sign({ exp: now + 10 });
    assert.equal((await judge(token)).pass, true);
    host.advance(20_000);
    await refusesWith(judge(token), /expired/);
  });

  test('the age may be any, and durations are read', async () => {
    assert.equal((await (await make({ maxTokenAge: 0 }))(await sign({ iat: undefined }))).pass, true);
    await refusesWith((await make({ maxTokenAge: '30s' }))(valid), /too old/);
    assert.deepEqual(['90', 90, '90s', '15m', '12h', '1d', '2w', '0'].map((text) => readDuration(text, 'a')), [90, 90, 90, 900, 43_200, 86_400, 1_209_600, 0]);
    for (const text of ['', '1 year', '-1d', '1.5h', null, 'd']) assert.throws(() => readDuration(text, 'a'), ParameterError);
  });
});

async function signRaw(claims: Record<string, unknown>): Promise<string> {
  const { CompactSign } = await import('jose');
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(first.secret);
}

describe('a key set at an address', () => {
  let served: Json;
  const answers = { fetch: (): FakeAnswer => ({ body: JSON.stringify(served) }) };
  before(() => { served = keySet(first); });

  test('is fetched once for all who wait, and kept as long as it may be', async () => {
    served = keySet(first);
    const host = fakeHost(answers);
    const judge = await make({ jwksUri, cacheMaxAge: 100 }, host);
    const verdicts = await Promise.all([judge(valid), judge(valid), judge(valid)]);
    assert.ok(verdicts.every(({ pass }) => pass));
    assert.equal(host.requests.length, 1);
    host.advance(99_000);
    await judge(valid);
    assert.equal(host.requests.length, 1);
    host.advance(2000);
    await judge(valid);
    assert.equal(host.requests.length, 2);
  });

  test('is fetched again for an unknown key, at most every thirty seconds', async () => {
    served = keySet(first);
    const host = fakeHost(answers);
    const judge = await make({ jwksUri }, host);
    await judge(valid);
    served = keySet(first, second);
    const token = await sign({}, { key: second });
    await refusesWith(judge(token), /not in the key set/);
    assert.equal(host.requests.length, 1);
    host.advance(31_000);
    assert.deepEqual((await Promise.all([judge(token), judge(token)])).map(({ pass }) => pass), [true, true]);
    assert.equal(host.requests.length, 2);
    for (let index = 0; index < 5; index += 1) await refusesWith(judge(await sign({ index }, { header: { kid: `invented-${index}` } })), /not in the key set/);
    assert.equal(host.requests.length, 2);
  });

  test('a key that was taken out does not vouch any more', async () => {
    served = keySet(first, second);
    const host = fakeHost(answers);
    const judge = await make({ jwksUri, cacheMaxAge: 10 }, host);
    assert.equal((await judge(valid)).pass, true);
    served = keySet(second);
    host.advance(11_000);
    await refusesWith(judge(valid), /not in the key set/);
  });

  test('that cannot be read is an error, remembered for a second', async () => {
    let isDown = true;
    const host = fakeHost({ fetch: () => { if (isDown) throw new Error('connection refused'); return { body: JSON.stringify(keySet(first)) }; } });
    const judge = await make({ jwksUri }, host);
    await assert.rejects(judge(valid), /issuer\.example could not be read: connection refused/);
    await assert.rejects(judge(valid), /connection refused/);
    assert.equal(host.requests.length, 1);
    isDown = false;
    host.advance(1000);
    assert.equal((await judge(valid)).pass, true);
  });

  test('that is not a key set is an error', async () => {
    for (const body of ['<html>', '{}', '[]', '{"keys": 7}', '{"keys": [7]}']) {
      await assert.rejects((await make({ jwksUri }, fakeHost({ fetch: () => ({ body }) })))(valid), /could not be read/, body);
    }
  });
});

describe('introspection', () => {
  const asking = (answer: Json, status = 200) => fakeHost({ fetch: () => ({ status, body: JSON.stringify(answer) }) });

  test('active decides, then valid, then a subject', async () => {
    for (const [answer, pass] of [
      [{ active: true }, true], [{ active: false, sub: 'user', valid: true }, false], [{ active: 'true' }, false], [{ valid: true }, true], [{ valid: false, sub: 'user' }, false],
      [{ sub: 'user' }, true], [{ sub: '' }, false], [{}, false],
    ] as const) assert.equal((await (await make({ introspectEndpoint }, asking(answer)))('opaque')).pass, pass, JSON.stringify(answer));
  });

  test('the token goes as a form or as JSON, with the headers of the config', async () => {
    const host = asking({ active: true });
    await (await make({ introspectEndpoint, introspectHeaders: { Authorization: 'Basic own' } }, host))('Bearer a+b');
    await (await make({ introspectEndpoint, introspectContentType: 'application/json' }, host))('Bearer a+b');
    assert.deepEqual(host.requests.map(({ method, body, headers }) => [method, body, headers?.['content-type'], headers?.authorization]), [
      ['POST', 'token=a%2Bb', 'application/x-www-form-urlencoded', 'Basic own'], ['POST', '{"token":"a+b"}', 'application/json', undefined],
    ]);
  });

  test('a yes is kept as long as the config says, and not beyond the token', async () => {
    const host = asking({ active: true, exp: now + 30 });
    const judge = await make({ introspectEndpoint, introspectCacheMaxAge: 60, clockTolerance: 1000 }, host);
    for (let index = 0; index < 3; index += 1) await judge('opaque');
    assert.equal(host.requests.length, 1);
    await judge('another');
    assert.equal(host.requests.length, 2);
    host.advance(31_000);
    await judge('opaque');
    assert.equal(host.requests.length, 3);
  });

  test('a no is never kept, and nothing is without a cache age', async () => {
    const refused = asking({ active: false });
    const judge = await make({ introspectEndpoint, introspectCacheMaxAge: 60 }, refused);
    await judge('opaque');
    await judge('opaque');
    assert.equal(refused.requests.length, 2);
    const uncached = asking({ active: true });
    const other = await make({ introspectEndpoint }, uncached);
    await other('opaque');
    await other('opaque');
    assert.equal(uncached.requests.length, 2);
  });

  test('a service that does not say is an error', async () => {
    await assert.rejects((await make({ introspectEndpoint }, asking({}, 401)))('opaque'), /answered with status 401/);
    await assert.rejects((await make({ introspectEndpoint }, asking([])))('opaque'), /without saying/);
  });

  test('beside a key set both have to hold', async () => {
    const params = { jwksUri, introspectEndpoint, requiredClaims: ['sub', 'scope'] };
    const host = (active: boolean) => fakeHost({ fetch: ({ url }) => ({ body: JSON.stringify(url === jwksUri ? keySet(first) : { active, scope: 'read', sub: 'other' }) }) });
    assert.equal((await (await make(params, host(true)))(valid)).pass, true);
    await refusesWith((await make(params, host(false)))(valid), /not active/);
    await refusesWith((await make(params, host(true)))(await sign({}, { key: foreign })), /signature/);
  });
});

describe('claims', () => {
  test('required claims have to be there', async () => {
    const judge = await make({ requiredClaims: ['sub', 'team'] });
    assert.equal((await judge(await sign({ team: 'a' }))).pass, true);
    await refusesWith(judge(valid), /lacks the claim team/);
    await refusesWith((await make({ requiredClaims: ['constructor'] }))(valid), /lacks the claim constructor/);
  });

  test('values are compared as the match type says', async () => {
    const fits = async (claims: Record<string, unknown>, claimValues: Record<string, unknown>) => (await (await make({ claimValues }))(await sign(claims))).pass;
    assert.equal(await fits({ role: 'admin' }, { role: { values: ['owner', 'admin'] } }), true);
    assert.equal(await fits({ role: 'user' }, { role: { values: 'admin' } }), false);
    assert.equal(await fits({}, { role: { values: 'admin' } }), false);
    assert.equal(await fits({ aud: ['a', 'b'] }, { aud: { values: 'b', matchType: 'contains' } }), true);
    assert.equal(await fits({ groups: ['x', 'y'] }, { groups: { values: ['y', 'z'], matchType: 'containsAll' } }), false);
    assert.equal(await fits({ email: 'a@corp.example' }, { email: { values: '@corp\\.example$', matchType: 'regex' } }), true);
    assert.equal(await fits({ scope: 'read write' }, { scope: { values: ['write', 'read'], matchType: 'containsAll' } }), true);
    assert.equal(await fits({ scope: 'superadmin read' }, { scope: { values: 'admin', matchType: 'contains' } }), false);
    assert.equal(await fits({ scope: 'superadmin' }, { scope: { values: 'admin', matchType: 'contains' } }), false);
    assert.equal(await fits({ scope: 'read write' }, { scope: { values: 'read write' } }), true);
  });

  test('a header and a claim of one name have to be equal', async () => {
    const judge = await make({ headerPayloadMatch: ['X-Tenant'] });
    const token = await sign({ 'X-Tenant': 't1' });
    assert.equal((await judge(token, { 'x-tenant': 't1' })).pass, true);
    await refusesWith(judge(token, { 'x-tenant': 't2' }), /header X-Tenant is not the claim/);
    await refusesWith(judge(token), /header X-Tenant/);
    await refusesWith(judge(valid, { 'x-tenant': 't1' }), /header X-Tenant/);
  });

  test('each validation is reported, and claims are taken out only of tokens that pass', async () => {
    const params = { jwks: keySet(first), requiredClaims: ['sub'], claimValues: { sub: { values: 'user' } }, extractClaims: ['sub', 'absent'] };
    const check = await plugin.create(withDefaults(plugin.params, params) as unknown as Parameters<typeof plugin.create>[0], fakeHost());
    const exchange = fakeExchange({ headers: { authorization: valid } });
    assert.deepEqual((await check.evaluate(fakeCheckInput({ exchange }))).data, {
      explanation: 'the token is valid', validations: { signatureValid: true, requiredClaims: true, claimValues: true }, claims: { 'x-jwt-sub': 'user' },
    });
    assert.deepEqual(exchange.notes.get('default.jwt.claims'), { 'x-jwt-sub': 'user' });
    const other = fakeExchange({ headers: { authorization: await sign({ sub: 'nobody' }) } });
    assert.deepEqual((await check.evaluate(fakeCheckInput({ exchange: other }))).data, {
      explanation: 'the claim sub of the token has not the wanted value', validations: { signatureValid: true, requiredClaims: true, claimValues: false }, claims: {},
    });
    assert.equal(other.notes.size, 0);
  });
});
