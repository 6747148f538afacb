// Tokens with a clock of the test's own and a real server for the keys: fetched, rotated, down, slow, lying.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, describe, test } from 'node:test';
import { fetchKeySet } from '../../../core/auth/token-keys.js';
import { Tokens } from '../../../core/auth/tokens.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { boundedKey } from '../../../core/limits/journal-layout.js';
import { isTokenExpired } from '../../../core/limits/limit-owners.js';
import { readSettings } from '../../../core/settings/read.js';
import { View } from '../../../core/snapshot/view.js';
import { organisations } from '../../../core/storage/tables/organisations.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { ThreadServices } from '../../../core/thread-services.js';
import { makeSigner, type Signer } from '../../support/signer.js';
import { sendJson, startUpstream } from '../../support/upstream.js';

const [first, second] = await Promise.all([makeSigner('first'), makeSigner('second')]);
const server = await startUpstream();
const services = new ThreadServices(readSettings({ GATEWAY_TRUSTED_HOSTS: '127.0.0.1', GATEWAY_LOG_LEVEL: 'error' }, '/nowhere'));
after(() => services.close());

const defaults = { metadata: {}, input_guardrails: [], output_guardrails: [] };
const workspaceRow = (id: string, slug: string, status = 'active', createdAtMs = 1) => ({
  id, organisationId: 'o', slug, name: slug, description: null, icon: null, status, isDefault: false, createdAtMs, updatedAtMs: 1, defaults: { ...defaults, user_api_key_config: null }, usageLimits: [], rateLimits: [],
});

function stage(environment: Record<string, string> = {}) {
  const view = new View(null);
  view.put(organisations.name, { id: 'o', name: 'o', createdAtMs: 1, updatedAtMs: 1, settings: {}, defaults, exclusions: { input_guardrails: [], output_guardrails: [] } } as never);
  view.put(workspaces.name, workspaceRow('w1', 'one') as never);
  const clock = { nowMs: Date.now() };
  const counts = new Map<string, number>();
  const faults: string[] = [];
  const settings = readSettings({ GATEWAY_JWT_JWKS_URL: `${server.url}/keys`, ...environment }, '/nowhere').tokens;
  assert.ok(settings);
  const tokens = new Tokens({
    settings, view: () => view, now: () => clock.nowMs, count: (metric) => counts.set(metric, (counts.get(metric) ?? 0) + 1), onFault: (reason) => faults.push(reason),
    fetch: () => fetchKeySet(services.upstream, settings.jwksUrl ?? ''),
  });
  const outcome = async (token: string, address?: string): Promise<string> => {
    try {
      if (tokens.find(token) === null) await tokens.verify(token, address);
      return tokens.find(token)?.workspaceId ?? 'unknown';
    } catch (thrown) {
      assert.ok(isGatewayError(thrown), String(thrown));
      return thrown.message;
    }
  };
  return { tokens, view, clock, counts, faults, outcome };
}

const tokenOf = (signer: Signer, more: Record<string, unknown> = {}): Promise<string> => signer.token({ oid: 'o', workspace: 'one', scope: 'completions.write', exp: Math.floor(Date.now() / 1000) + 86_400, ...more });
const serve = (...signers: readonly Signer[]): void => { server.answer = (_, response) => sendJson(response, 200, { keys: signers.map(({ publicJwk }) => publicJwk) }); };
const fetches = async (work: () => Promise<unknown>): Promise<number> => {
  const before = server.received.length;
  await work();
  return server.received.length - before;
};

const lies: readonly (readonly [string, RegExp, (response: ServerResponse) => void])[] = [
  ['is huge', /larger than/, (response) => { response.writeHead(200).end(`{"keys":[${' '.repeat(400_000)}]}`); }],
  ['is not JSON', /is not JSON/, (response) => { response.writeHead(200).end('<html>'); }],
  ['is another thing', /is not a JSON Web Key Set/, (response) => sendJson(response, 200, ['keys'])],
  ['is empty', /no public key/, (response) => sendJson(response, 200, { keys: [] })],
  ['has shared secrets alone', /no public key/, (response) => sendJson(response, 200, { keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'first' }] })],
  ['is too long a list', /more than 100 keys/, (response) => sendJson(response, 200, { keys: Array.from({ length: 101 }, () => first.publicJwk) })],
  ['leads elsewhere', /status 302/, (response) => { response.writeHead(302, { location: '/other' }).end(); }],
  ['is an error', /status 500/, (response) => { response.writeHead(500).end('{}'); }],
];

describe('a token that was verified', () => {
  test('is found by itself, and the keys are fetched once', async () => {
    serve(first);
    const { tokens, outcome, counts } = stage();
    const token = await tokenOf(first);
    assert.equal(await fetches(async () => {
      assert.equal(tokens.find(token), null);
      assert.deepEqual(await Promise.all(Array.from({ length: 50 }, () => outcome(token))), Array.from({ length: 50 }, () => 'w1'));
      assert.equal(await outcome(await tokenOf(first, { jti: 'other' })), 'w1');
    }), 1);
    assert.equal(tokens.find(token), tokens.find(token), 'the same object for all its calls');
    assert.equal(counts.get('tokens.verified'), 2, 'fifty calls at once verify it once');
  });

  test('ends with its exp and the skew of clocks', async () => {
    serve(first);
    const { clock, outcome } = stage();
    const token = await tokenOf(first, { exp: Math.floor(clock.nowMs / 1000) + 100 });
    assert.equal(await outcome(token), 'w1');
    clock.nowMs += 129_000;
    assert.equal(await outcome(token), 'w1');
    clock.nowMs += 2_000;
    assert.match(await outcome(token), /it has expired/);
  });

  test('follows its workspace: removed, another by its name, archived', async () => {
    serve(first);
    const { view, tokens, outcome } = stage();
    const token = await tokenOf(first);
    assert.equal(await outcome(token), 'w1');
    view.put(workspaces.name, workspaceRow('w1', 'renamed') as never);
    assert.match(await outcome(token), /for the workspace one, which is not there/);
    view.put(workspaces.name, workspaceRow('w2', 'one') as never);
    assert.equal(await outcome(token), 'w2');
    view.put(workspaces.name, workspaceRow('w2', 'one', 'archived') as never);
    assert.equal(tokens.find(token)?.workspace?.rules?.isActive, false);
    view.remove(workspaces.name, 'w2');
    assert.match(await outcome(token), /is not there/);
  });

  test('is not for a workspace that was made after it, and has the slug of one before', async () => {
    serve(first);
    const { view, clock, outcome } = stage();
    const iat = Math.floor(clock.nowMs / 1000);
    const [bySlug, byId] = [await tokenOf(first, { iat }), await tokenOf(first, { iat, workspace: 'w2' })];
    assert.equal(await outcome(bySlug), 'w1');
    view.remove(workspaces.name, 'w1');
    clock.nowMs += 60_000;
    view.put(workspaces.name, workspaceRow('w2', 'one', 'active', clock.nowMs) as never);
    assert.match(await outcome(bySlug), /is not there in its organisation, or was made after the token/);
    assert.equal(await outcome(byId), 'w2');
    assert.equal(await outcome(await tokenOf(first, { iat: iat + 60 })), 'w2');
    assert.equal(await outcome(await tokenOf(first, { jti: 'no iat' })), 'w2');
  });

  test('says nothing less by an empty claim than by its absence', async () => {
    serve(first);
    const { tokens, outcome } = stage();
    for (const more of [{ workspace: '' }, { workspace: null }, { sub: '' }, { sub: null }] as Record<string, unknown>[]) {
      const [name = ''] = Object.keys(more);
      assert.match(await outcome(await tokenOf(first, more)), new RegExp(`its claim ${name} is empty`));
    }
    const token = await tokenOf(first, { workspace: undefined });
    assert.equal(await outcome(token), '');
    assert.equal(tokens.find(token)?.type, 'organisation-service');
  });

  test('says what its claims say, limits too', async () => {
    serve(first);
    const { tokens, outcome } = stage({ GATEWAY_JWT_CLAIMS: 'user=email' });
    const token = await tokenOf(first, { email: 'a@b', usage_limits: { credit_limit: 5, type: 'cost' }, rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }], defaults: { config_id: 'pc-1', allow_config_override: false } });
    assert.equal(await outcome(token), 'w1');
    const principal = tokens.find(token);
    assert.deepEqual(principal?.token, { userId: 'a@b', usageLimits: [{ credit_limit: 5, type: 'cost' }], rateLimits: [{ type: 'requests', unit: 'rpm', value: 3 }] });
    assert.deepEqual(principal?.defaults, { config: 'pc-1', provider: undefined, allowsConfig: false, metadata: null, isOfMember: false });
    assert.equal(principal?.type, 'workspace-user');
  });
});

describe('the counters of a token', () => {
  const usage_limits = { credit_limit: 5, type: 'cost' };

  test('are those of its user, with a name that the ledger keeps whole, however long the user is called', async () => {
    serve(first);
    const { tokens, outcome } = stage();
    const counters = new Set<string>();
    for (const sub of ['ann', `${'漢'.repeat(254)}a`, `${'漢'.repeat(254)}b`]) {
      for (const credit_limit of [5, 6]) {
        const token = await tokenOf(first, { sub, usage_limits: { ...usage_limits, credit_limit } });
        assert.equal(await outcome(token), 'w1');
        const counter = tokens.find(token)?.limits?.[0]?.counter ?? assert.fail();
        assert.equal(boundedKey(counter), counter);
        counters.add(counter);
      }
    }
    assert.equal(counters.size, 3);
  });

  test('say when it expires where it has no user, so that they can be given back', async () => {
    serve(first);
    const { tokens, outcome, clock } = stage();
    const token = await tokenOf(first, { sub: undefined, usage_limits });
    assert.equal(await outcome(token), 'w1');
    const { limits, expiresAtMs } = tokens.find(token) ?? assert.fail();
    const counter = limits?.[0]?.counter ?? assert.fail();
    assert.deepEqual([isTokenExpired(counter, clock.nowMs), isTokenExpired(counter, expiresAtMs + 2 * 3_600_000)], [false, true]);
  });
});

describe('the keys', () => {
  test('are fetched for a kid that is new, at most every 30 seconds, and replace those before', async () => {
    serve(first);
    const { clock, outcome } = stage();
    const old = await tokenOf(first);
    assert.equal(await outcome(old), 'w1');
    serve(second);
    const fresh = await tokenOf(second);
    assert.equal(await fetches(async () => assert.match(await outcome(fresh), /its kid names no key/)), 0);
    clock.nowMs += 30_000;
    assert.equal(await fetches(async () => assert.equal(await outcome(fresh), 'w1')), 1);
    // What the former key has signed is worth nothing any more, though it was verified.
    assert.match(await outcome(old), /its kid names no key/);
  });

  test('are fetched again when they are old, beside the calls', async () => {
    serve(first);
    const { clock, outcome } = stage();
    assert.equal(await outcome(await tokenOf(first)), 'w1');
    const open: ServerResponse[] = [];
    server.answer = (_, response) => { open.push(response); };
    clock.nowMs += 601_000;
    // The server does not answer, and nobody waits for it.
    assert.equal(await outcome(await tokenOf(first, { jti: '1' })), 'w1');
    while (open.length === 0) await new Promise((resolve) => { setImmediate(resolve); });
    for (const response of open) sendJson(response, 200, { keys: [first.publicJwk] });
  });

  for (const [name, reason, lie] of lies) test(`stay in use when what comes ${name}; and without any, tokens are refused with 503`, async () => {
    serve(first);
    const { clock, outcome, faults } = stage();
    const known = await tokenOf(first);
    assert.equal(await outcome(known), 'w1');
    server.answer = (_, response) => lie(response);
    clock.nowMs += 601_000;
    assert.match(await outcome(await tokenOf(second)), /its kid names no key/);
    assert.match(faults.join(), reason);
    assert.equal(await outcome(known), 'w1');
    assert.equal(await outcome(await tokenOf(first, { jti: name })), 'w1');

    const empty = stage();
    assert.match(await empty.outcome(known), /^tokens cannot be verified now: the keys that sign them could not be fetched/);
    assert.equal(await fetches(async () => assert.match(await empty.outcome(known), /^tokens cannot be verified now/)), 0);
    serve(first);
    empty.clock.nowMs += 1_000;
    assert.equal(await empty.outcome(known), 'w1');
  });

  test('that are down are told once for each try', async () => {
    serve(first);
    const { clock, outcome, faults } = stage({ GATEWAY_JWT_JWKS_URL: 'http://127.0.0.1:1/keys' });
    for (let tries = 0; tries < 3; tries += 1) assert.match(await outcome(await tokenOf(first)), /could not be fetched/);
    assert.equal(faults.length, 1);
    clock.nowMs += 1_000;
    assert.match(await outcome(await tokenOf(first)), /could not be fetched/);
    assert.equal(faults.length, 2);
  });

  test('in the settings are used as they are', async () => {
    const { outcome } = stage({ GATEWAY_JWT_JWKS_URL: '', GATEWAY_JWT_JWKS: JSON.stringify({ keys: [first.publicJwk] }) });
    assert.equal(await outcome(await tokenOf(first)), 'w1');
    assert.match(await outcome(await tokenOf(second)), /its kid names no key/);
  });
});

describe('a flood', () => {
  test('of forged tokens is looked at 500 times a second, and known tokens go on', async () => {
    serve(first);
    const { clock, outcome, counts } = stage();
    clock.nowMs = Math.floor(clock.nowMs / 1000) * 1000;
    const known = await tokenOf(first);
    assert.equal(await outcome(known), 'w1');
    const [head = '', body = ''] = known.split('.');
    const outcomes = new Map<string, number>();
    for (let index = 0; index < 600; index += 1) {
      const forged = `${head}.${body}.${Buffer.alloc(256, `forged ${index}`).toString('base64url')}`;
      const message = await outcome(forged);
      outcomes.set(message, (outcomes.get(message) ?? 0) + 1);
    }
    assert.deepEqual([...outcomes], [['the token is not valid: its signature does not hold', 500], ['tokens cannot be verified now: too many new ones have come; try again', 100]]);
    assert.equal(await outcome(known), 'w1');
    clock.nowMs += 1_000;
    assert.equal(await outcome(await tokenOf(first, { jti: 'after' })), 'w1');
    assert.equal(counts.get('tokens.refused'), 600);
  });

  test('of forged tokens keeps nobody out but the client that sends it, until there are very many', async () => {
    serve(first);
    const { clock, outcome } = stage();
    clock.nowMs = Math.floor(clock.nowMs / 1000) * 1000;
    const [head = '', body = ''] = (await tokenOf(first)).split('.');
    let forged = 0;
    const flood = async (count: number, address: string): Promise<number> => {
      let looked = 0;
      for (let index = 0; index < count; index += 1) if (/does not hold/.test(await outcome(`${head}.${body}.${Buffer.alloc(256, `forged ${forged += 1}`).toString('base64url')}`, address))) looked += 1;
      return looked;
    };
    const fresh = async (address: string): Promise<string> => outcome(await tokenOf(first, { jti: address + String(forged) }), address);
    assert.equal(await flood(510, '192.0.2.1'), 500);
    assert.match(await fresh('192.0.2.1'), /too many new ones/);
    assert.equal(await fresh('192.0.2.2'), 'w1');
    assert.equal(await flood(250, '2001:0db8:0000:0001:0000:0000:0000:0001') + await flood(260, '2001:0db8:0000:0001:ffff:0000:0000:0002'), 500, 'one network');
    assert.equal(await fresh('2001:0db8:0000:0002:0000:0000:0000:0001'), 'w1');
    assert.equal(await flood(500, '192.0.2.3') + await flood(510, '192.0.2.4'), 1_000);
    assert.match(await fresh('192.0.2.2'), /too many new ones/);
    clock.nowMs += 1_000;
    assert.equal(await fresh('192.0.2.1'), 'w1');
  });

  test('of tokens that wait for the keys is bounded, and all get an answer', async () => {
    const open: ServerResponse[] = [];
    server.answer = (_, response) => { open.push(response); };
    const { outcome } = stage();
    const waiting = Promise.all(Array.from({ length: 200 }, async (_, index) => outcome(await tokenOf(first, { jti: String(index) }))));
    while (open.length === 0) await new Promise((resolve) => { setImmediate(resolve); });
    for (const response of open) sendJson(response, 200, { keys: [first.publicJwk] });
    const outcomes = await waiting;
    assert.ok(outcomes.includes('w1'));
    assert.ok(outcomes.every((each) => each === 'w1' || each.startsWith('tokens cannot be verified now')), outcomes.join());
  });
});
