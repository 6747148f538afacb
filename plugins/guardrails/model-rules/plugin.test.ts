import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const rules = { defaults: ['small'], metadata: { plan: { pro: ['large*'], team: ['team-1'], '7': ['seven'], true: ['truth'] }, region: { eu: ['eu-1'], any: ['*'] } } };
const body = (model: string) => ({ model, messages: [] });

conformGuardrail(plugin, {
  passes: [
    { params: { rules }, body: body('small') },
    { params: { rules }, body: body('small'), metadata: { plan: 'free' } },
    { params: { rules }, body: body('large-2'), metadata: { plan: 'pro' } },
    { params: { rules }, body: body('eu-1'), metadata: { plan: 'pro', region: 'eu' } },
    { params: { rules }, body: body('large'), metadata: { plan: 'pro', region: 'eu' } },
    { params: { rules }, body: body('team-1'), metadata: { plan: ['pro', 'team'] } },
    { params: { rules }, body: body('large'), metadata: { plan: ['pro', 'team'] } },
    { params: { rules }, body: body('seven'), metadata: { plan: 7 } },
    { params: { rules }, body: body('truth'), metadata: { plan: true } },
    { params: { rules }, body: body('whatever'), metadata: { region: 'any' } },
    { params: { rules: { defaults: ['*'] } }, text: 'hi' },
    { params: { rules, not: true }, body: body('other') },
    { params: { rules }, body: body('small'), metadata: { plan: null, region: { eu: 1 } } },
  ],
  fails: [
    { params: { rules }, body: body('large') },
    { params: { rules }, body: body('small'), metadata: { plan: 'pro' } },
    { params: { rules }, body: body('large'), metadata: { plan: 'constructor' } },
    { params: { rules }, body: body('eu-1'), metadata: { plan: ['pro', 'team'] } },
    { params: { rules: { metadata: { plan: { pro: ['a'] } } } }, body: body('a') },
    { params: { rules: { metadata: { plan: { pro: [] } } } }, body: body('a'), metadata: { plan: 'pro' } },
    { params: { rules: { defaults: ['*'] } }, body: { messages: [] } },
    { params: { rules, not: true }, body: body('small') },
  ],
  errors: [{ params: { rules }, endpoint: 'files', method: 'GET', path: '/v1/files', message: /names no model/ }],
  refuses: [{ rules: {} }, { rules: { defaults: [] } }, { rules: { metadata: { plan: {} } } }, { rules: { defaults: ['a*b'] } }, { rules: { metadata: { plan: { '': ['a'] } } } }],
});

test('the verdict says which metadata decided', async () => {
  const check = await plugin.create({ rules, not: false }, fakeHost());
  const judge = async (metadata: Record<string, string>) => (await check.evaluate(fakeCheckInput({ body: body('eu-1'), metadata }))).data;
  assert.deepEqual(await judge({ plan: 'pro', region: 'eu' }), { explanation: 'the model of the request is allowed to this plan, region', requestedModel: 'eu-1', matchedKeys: ['plan', 'region'] });
  assert.deepEqual(await judge({}), { explanation: 'the model of the request is not allowed by default', requestedModel: 'eu-1', matchedKeys: [] });
});
