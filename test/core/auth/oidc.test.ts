// The issuer as the control thread meets it when it is down, slow, or says what it should not.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, describe, it } from 'node:test';
import { OidcClient } from '../../../core/auth/oidc.js';
import { readSettings } from '../../../core/settings/read.js';
import { ThreadServices } from '../../../core/thread-services.js';
import { issuerClient, startIssuer } from '../../support/issuer.js';

const issuer = await startIssuer();
const settings = readSettings({ GATEWAY_OIDC_ISSUER: issuer.url, ...issuerClient }, tmpdir());
const services = new ThreadServices(settings);
after(() => services.close());
const callback = 'http://127.0.0.1:1/auth/callback';

function client(changes: Record<string, unknown> = {}): { readonly oidc: OidcClient; readonly clock: { nowMs: number }; readonly limits: { callMsMax: number } } {
  const clock = { nowMs: Date.now() };
  const limits = { callMsMax: 30_000 };
  assert.ok(settings.oidc);
  return { oidc: new OidcClient({ ...settings.oidc, ...changes }, services.upstream, () => clock.nowMs, limits), clock, limits };
}

const unavailable = (reason: RegExp) => (thrown: unknown): boolean => {
  const { code, message }: { readonly code?: unknown; readonly message?: unknown } = Object(thrown);
  assert.equal(code, 'ISSUER_UNAVAILABLE', String(message));
  assert.match(String(message), reason);
  return true;
};
const count = (path: string): number => issuer.asked.filter((each) => each === path).length;
const metadata = '/.well-known/openid-configuration';

describe('the client of the issuer', () => {
  it('asks what the issuer is once for all who wait, and anew after five minutes', async () => {
    const { oidc, clock } = client();
    const before = count(metadata);
    await Promise.all([oidc.begin(callback), oidc.begin(callback), oidc.begin(callback)]);
    await oidc.begin(callback);
    assert.equal(count(metadata), before + 1);
    clock.nowMs += 300_000;
    await oidc.begin(callback);
    assert.equal(count(metadata), before + 2);
  });

  it('makes state, nonce and verifier for each sign-in', async () => {
    const { oidc } = client();
    const [first, second] = [await oidc.begin(callback), await oidc.begin(callback)];
    for (const name of ['state', 'nonce', 'verifier'] as const) {
      assert.notEqual(first[name], second[name]);
      assert.ok(first[name].length >= 43);
    }
    assert.equal(first.url.includes(first.verifier), false);
  });

  it('refuses metadata of another issuer, and metadata that are none', async () => {
    issuer.behaviour.issuer = 'https://other.example';
    await assert.rejects(client().oidc.begin(callback), unavailable(/issuer/));
    issuer.behaviour.issuer = undefined;
    issuer.behaviour.failing.set(metadata, 404);
    await assert.rejects(client().oidc.begin(callback), unavailable(/could not be asked/));
    issuer.behaviour.failing.clear();
  });

  it('gives up an issuer that is silent or gone, and asks again the next time', async () => {
    const { oidc, limits } = client();
    limits.callMsMax = 50;
    issuer.behaviour.silent.add(metadata);
    await assert.rejects(oidc.begin(callback), unavailable(/./));
    issuer.behaviour.silent.clear();
    limits.callMsMax = 30_000;
    await oidc.begin(callback);
    await assert.rejects(client({ issuer: 'http://127.0.0.1:1' }).oidc.begin(callback), unavailable(/./));
  });

  it('gives the same answer for a sign-in whose commit is made anew, and forgets it', async () => {
    const { oidc, clock } = client();
    const { url, ...secrets } = await oidc.begin(callback);
    const back = new URL(await issuer.authorize(url));
    const before = count('/token');
    const [first, second] = await Promise.all([oidc.finish(back, secrets), oidc.finish(back, secrets)]);
    assert.deepEqual([first, first.email, first.isVerified, count('/token')], [second, 'ada@example.com', true, before + 1]);
    clock.nowMs += 60_000;
    // The code counts once.
    await assert.rejects(oidc.finish(back, secrets), /the issuer says invalid_grant/);
    await assert.rejects(oidc.finish(back, { ...secrets, state: 'another' }), /the sign-in failed/);
  });

  it('takes an address for verified when the document that names it says so, and no other', async () => {
    const cases: readonly (readonly [claims: Record<string, unknown>, userinfo: Record<string, unknown>, email: string | undefined, isVerified: boolean])[] = [
      [{ email: 'victim@example.com', email_verified: undefined, groups: undefined }, { email: 'attacker@example.com', email_verified: true }, 'victim@example.com', false],
      [{ email: undefined, email_verified: true, groups: undefined }, { email: 'victim@example.com' }, 'victim@example.com', false],
      [{ email: 'victim@example.com', email_verified: false, groups: undefined }, { email: 'victim@example.com', email_verified: true }, 'victim@example.com', false],
      [{ email: 'ada@example.com', email_verified: undefined, groups: undefined }, { email: 'ada@example.com', email_verified: true }, 'ada@example.com', true],
      [{ email: undefined, email_verified: undefined }, { email: 'ada@example.com', email_verified: true }, 'ada@example.com', true],
      [{ email: 'mi\u212ae@Example.com' }, {}, 'mi\u212ae@example.com', true],
    ];
    for (const [claims, userinfo, email, isVerified] of cases) {
      Object.assign(issuer.behaviour, { claims, userinfo });
      const { oidc } = client();
      const { url, ...secrets } = await oidc.begin(callback);
      const person = await oidc.finish(new URL(await issuer.authorize(url)), secrets);
      assert.deepEqual([person.email, person.isVerified], [email, isVerified], JSON.stringify([claims, userinfo]));
    }
    Object.assign(issuer.behaviour, { claims: {}, userinfo: undefined });
  });

  it('is sent to no private address by what the issuer says', async () => {
    const { oidc } = client({ issuer: issuer.url.replace('127.0.0.1', 'localhost') });
    issuer.behaviour.issuer = issuer.url.replace('127.0.0.1', 'localhost');
    const { url, ...secrets } = await oidc.begin(callback);
    issuer.behaviour.issuer = undefined;
    // Its token endpoint stands at another address than the operator wrote down.
    await assert.rejects(oidc.finish(new URL(await issuer.authorize(url)), secrets), unavailable(/refused to connect to 127\.0\.0\.1/));
  });
});
