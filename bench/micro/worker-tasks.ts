// What the bench of the worker pool runs in it: functions, and a guardrail that looks for a word.
import { defineGuardrail } from '@gateway/plugin-sdk';

export const lengthOf = (text: string): number => text.length;

/** Takes its thread for so long. */
export const spinFor = (durationMs: number): void => {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
};

export default defineGuardrail({
  title: 'Word',
  describe: 'Passes when the word is not there.',
  stages: ['input'],
  needs: { request: 'json' },
  params: { type: 'object', properties: { word: { type: 'string', description: 'The word.' } } },
  runs: 'pool',
  create: ({ word = '' }) => ({ evaluate: (input) => ({ pass: !input.text().some((text) => text.includes(word)) }) }),
});
