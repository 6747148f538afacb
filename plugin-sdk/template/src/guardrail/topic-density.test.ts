import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import topicDensity from './topic-density.js';

const params = { terms: { casino: 2, bet: 1 } };
const prose = 'The weather in the mountains was fine all week, so we walked from hut to hut and slept early every night. '.repeat(2);

conformGuardrail(topicDensity, {
  passes: [
    { params, text: prose },
    { params, text: '' },
    { params, text: `${prose} I bet it rains.` },
    { params, text: `Alphabet soup, and betting. ${prose}` },
    { params: { ...params, threshold: 60 }, text: 'casino casino bet' },
    { params, text: prose, stage: 'output' },
  ],
  fails: [
    { params, text: 'Which Casino should I bet in?' },
    { params, text: 'The casino. The CASINO!', stage: 'output' },
    { params: { terms: { Größe: 3 } }, text: 'größe' },
  ],
  refuses: [{ terms: {} }, { terms: { 'two words': 1 } }, { terms: { '': 1 } }],
});

describe('the density of a topic', () => {
  it('is the same on the loop and in the worker pool', async () => {
    const host = fakeHost();
    const check = await topicDensity.create(withDefaults(topicDensity.params, params) as typeof params & { threshold: number }, host);
    const evaluate = (text: string) => check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }));
    const short = await evaluate('casino and so on '.repeat(100));
    assert.equal(host.counts.get('pooled'), undefined);
    const long = await evaluate('casino and so on '.repeat(10_000));
    assert.equal(host.counts.get('pooled'), 1);
    assert.deepEqual([short.pass, long.pass], [false, false]);
    assert.equal(short.why, long.why);
    assert.deepEqual(long.data, { words: 40_000, density: 50, threshold: 10, found: { casino: 10_000 } });
  });
});
