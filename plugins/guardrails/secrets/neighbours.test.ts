// Secrets stand beside other words and numbers, and joined to them.

import { fakeCheckInput, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import plugin from './plugin.js';

const check = await plugin.create(withDefaults(plugin.params, { redact: true }) as never, fakeHost());
const lookBackMax = plugin.lookBackMax ?? 0;

/** Made up, in two parts so that nobody takes them for real. */
const secrets: readonly string[] = [
  ['AKIA', 'Q3EGRMEUVZXLNW7P'], ['sk-proj-', 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9kLm2n'], ['sk-', 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z'], ['ghp_', 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d'],
  ['AIza', 'SyD4f6Hj8Kl0Qw2Er4Ty6Ui8Op0As2Df4Gh'], ['xoxb-', '2345678901-Ab3dEf6hIj9k'], ['sk_live_', 'Ab3dEf6hIj9kLm2nOp5q'], ['npm_', 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d'], ['hf_', 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb'],
  ['gsk_', 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6h'],
].map((parts) => parts.join(''));

const frames: readonly string[] = [
  'X', '09:12:44 X', '2024-05-01T09:12:44Z X', 'order 12345 X', 'X 12345', 'X 24/7', 'X X', 'X, X', 'X,X', 'X/X', 'X_X', 'X;X', 'X|X', 'user_X', 'KEY_X', '12345_X', '12345:X', 'key:X', 'key=X', 'key="X"', '(X)', '<X>', 'a/X/b', 'X.', 'X?', 'v1.2.3 X', '94103 X', '#7 X',
];

describe('secrets beside other words and numbers', () => {
  it('are found whole in every frame, in a stream too', async () => {
    const missed: string[] = [];
    for (const secret of secrets) {
      for (const frame of frames) {
        const text = frame.replaceAll('X', secret);
        const { edits = [] } = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }));
        for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
          if (!edits.some(({ from, to }) => from <= at && to >= at + secret.length)) missed.push(`${text}: ${JSON.stringify(edits)}`);
        }
        const streamed = runStreamCheck(check, [...text], { lookBackMax }).text;
        if (streamed.includes(secret)) missed.push(`${text} streamed: ${streamed}`);
      }
    }
    assert.deepEqual(missed, []);
  });
});
