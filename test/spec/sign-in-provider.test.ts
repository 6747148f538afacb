// A sign-in against the server of a provider library: what it asks for and answers is not of our making.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import Provider from 'oidc-provider';
import { Browser } from '../support/browser.js';
import { startTestGateway } from '../support/gateway.js';

const server = createServer();
await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const { port } = server.address() as AddressInfo;
const issuer = `http://127.0.0.1:${port}`;
after(() => {
  server.close();
  server.closeAllConnections();
});

const gateway = await startTestGateway({
  GATEWAY_OIDC_ISSUER: issuer, GATEWAY_OIDC_CLIENT_ID: 'gateway', GATEWAY_OIDC_CLIENT_SECRET: 'secret-of-the-client-0123456789', GATEWAY_OIDC_SCOPES: 'openid,email,profile,groups', GATEWAY_OWNER_EMAIL: 'ada@example.com',
}, { hasControlThread: true });

// It warns of what a deployment should have, which is nothing here.
const { info, warn } = console;
Object.assign(console, { info: () => {}, warn: () => {} });
const provider = new Provider(issuer, {
  clients: [{ client_id: 'gateway', client_secret: 'secret-of-the-client-0123456789', redirect_uris: [`${gateway.url}/auth/callback`], response_types: ['code'], grant_types: ['authorization_code'] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'], groups: ['groups'] },
  findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, given_name: 'Ada', family_name: 'Person', groups: ['builders'] }) }),
  pkce: { required: () => true },
  cookies: { keys: ['key of a test'] },
});
Object.assign(console, { info, warn });
server.on('request', provider.callback());

const stepsMax = 12;

it('goes from /auth/login through login and consent to a control call with the cookie', async () => {
  const browser = new Browser();
  let { location } = await browser.go(`${gateway.url}/auth/login?return_to=/console`);
  assert.ok(location.startsWith(`${issuer}/auth?`), location);
  for (let step = 0; location !== '/console'; step += 1) {
    assert.ok(step < stepsMax, 'the sign-in does not end');
    const url = new URL(location, issuer).href;
    const answer = await browser.go(url);
    if (answer.location !== '') {
      location = answer.location;
      continue;
    }
    // A page of the provider: first for the name, then for the consent.
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const prompt = /name="prompt" value="(\w+)"/.exec(String(answer.body.text))?.[1] ?? assert.fail('the provider shows no form');
    location = (await browser.go(url, { method: 'POST', body: new URLSearchParams({ prompt, login: 'ada', password: 'any' }) })).location;
  }
  const { status, body } = await browser.go(`${gateway.url}/auth/session`);
  // The address came from its userinfo endpoint: this provider puts no such claims into ID tokens.
  assert.deepEqual([status, body.user?.email, body.user?.role, body.user?.last_name], [200, 'ada@example.com', 'owner', 'Person']);
  const made = await browser.go(`${gateway.url}/v1/workspaces`, { method: 'POST', headers: { 'content-type': 'application/json', origin: gateway.url }, body: JSON.stringify({ name: 'Made with a cookie' }) });
  assert.equal(made.status, 200, JSON.stringify(made.body));
});
