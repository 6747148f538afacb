import assert from 'node:assert/strict';
import { resourceCases } from './cases.js';

const noConflict = { none: 'it changes no row that there is' };
const noWorkspace = { none: 'it is about no workspace' };

export default resourceCases({
  resource: 'sign-in',
  operations: {
    login: {
      target: () => ({ query: 'return_to=%2Fconsole' }),
      status: 302,
      check: ({ headers }, stage) => {
        assert.equal(new URL(headers.get('location') ?? '').origin, stage.issuer.url);
        assert.match(headers.get('set-cookie') ?? '', /^gateway_sign_in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
      },
      bad: [{ query: 'return_to=https%3A%2F%2Fevil.example', param: 'return_to' }, { query: 'return_to=%2F%2Fevil.example', param: 'return_to' }],
      conflict: noConflict, foreign: noWorkspace,
    },
    callback: {
      target: async (stage) => {
        const name = stage.unique('signed-in');
        stage.issuer.behaviour.claims = { sub: name, email: `${name}@example.com` };
        const begun = await stage.call('GET', '/auth/login', undefined, { key: null });
        const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
        const { searchParams } = new URL(begun.headers.get('location') ?? '');
        const back = new URL(await stage.issuer.authorize(begun.headers.get('location') ?? ''));
        assert.equal(back.searchParams.get('state'), searchParams.get('state'));
        return { query: back.search.slice(1), headers: { cookie } };
      },
      status: 302,
      takesUnknownQuery: true,
      check: ({ headers }) => {
        assert.equal(headers.get('location'), '/');
        assert.match(headers.get('set-cookie') ?? '', /^gateway_session=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax, gateway_sign_in=; Path=\/; Max-Age=0/);
      },
      bad: [{ query: 'code=a&code=b', param: 'code' }],
      conflict: noConflict, foreign: noWorkspace,
    },
    session: {
      target: () => ({}),
      check: ({ body }) => assert.deepEqual([body.object, body.type, body.user], ['session', 'api_key', null]),
      bad: [], conflict: noConflict, foreign: noWorkspace,
    },
    logout: {
      target: () => ({}),
      check: ({ body, headers }) => assert.deepEqual([body, headers.get('set-cookie')], [{}, 'gateway_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax']),
      bad: [], conflict: noConflict, foreign: noWorkspace,
    },
  },
});
