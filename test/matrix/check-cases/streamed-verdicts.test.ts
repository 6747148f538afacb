// Checks that judge streams, with random texts cut at random: the verdict, and what they change, are those of the whole answer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyEdits, type Check, type GuardrailPlugin, type Json } from '@gateway/plugin-sdk';
import { fakeCheckInput, fakeExchange, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import { nameOf } from '../../../core/registry/ids.js';
import { TextGate } from '../../../core/dialect/common/text-gate.js';
import { testSeed } from '../../support/seed.js';

const runs = 250;
const seed = testSeed;
let state = seed;
/** mulberry32 (public domain). */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const below = (end: number): number => Math.floor(random() * end);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

const tokens = [
  'a', 'Word', 'the end', '. ', '? ', '! ', '\n\n', '...', '3.14', 'Mr. ', 'e.g. ', 'É', 'ß', 'ǅ', '🙂', '👍🏽', '\u00a0', ' ', '  ', 'apple', 'app', 'pear', 'peapear', '1234', '12', 'order 1234',
  '\t', '中文', '。', '"', '\\', '[EMAIL]', 'jane@contoso.com', 'jane@', '(212) 555-0123', '212', 'sk_live_' + '9aZ8bY7cX6dW5eV4fU3gT2hS', 'sk_live_', '-----BEGIN PRIVATE KEY-----',
  '4111 1111 1111 1111', 'İ', 'K', 'ſ', '\u2028', 'x', '1. ', 'ok',
];
const textOf = (): string => Array.from({ length: 1 + below(14) }, () => pick(tokens) + (random() < 0.4 ? ' ' : '')).join('');
const isNot = (): boolean => random() < 0.3;

const params: Readonly<Record<string, () => Record<string, unknown>>> = {
  'word-count': () => ({ minWords: below(4), maxWords: 4 + below(8), not: isNot() }),
  'character-count': () => ({ minCharacters: below(20), maxCharacters: 20 + below(40), not: isNot() }),
  'sentence-count': () => ({ minSentences: below(3), maxSentences: 3 + below(3), not: isNot() }),
  alllowercase: () => ({ not: isNot() }),
  'is-all-lower-case': () => ({ not: isNot() }),
  alluppercase: () => ({ not: isNot() }),
  contains: () => ({ words: pick([['apple', 'pear'], ['ß', 'k'], ['i̇', 'ss'], ['"'], ['\\'], ['\n\n'], ['apple', 'app']]), operator: pick(['any', 'all', 'none']), caseSensitive: isNot() }),
  'regex-match': () => ({ rule: pick(['[0-9]{4}', '\\bapp', 'pear$', '^a', '(?i)k', '\\s{2,}', 'a.*e', '(?m)^x', 'apple|pear', '\\bend\\b', '.$', '\\z', '[^a-z]{3}']), not: true }),
  'regex-replace': () => ({ rule: pick(['[0-9]{4}', '\\bapp', 'pear$', '^a', '(?i)k', '\\s{2,}', 'a.*?e', 'apple|pear', '[^a-z]{3}', '\\bend\\b', 'x*']), redactText: pick(['*', '"\\', '']), failOnDetection: isNot() }),
  pii: () => ({ redact: isNot() }),
  secrets: () => ({ redact: isNot() }),
  'token-limit': () => ({ maxTokens: 5 + below(20), minTokens: below(5), not: isNot() }),
};

const withoutArguments: readonly string[] = ['token-limit'];

interface Streamed { readonly text: string; readonly isEnded: boolean; readonly pass: boolean }

/** What the host does with a check that judges a stream. */
function stream(check: Check, text: string, lookBackMax: number, kind: 'text' | 'arguments'): Streamed {
  const judge = check.stream?.(fakeExchange());
  assert.ok(judge !== undefined);
  const gate = new TextGate({ check: judge, lookBackMax, changes: true, onFail: () => true }, false);
  const channel = gate.open('0', kind, 0, kind === 'arguments');
  let out = '';
  for (let at = 0; at < text.length && !gate.isDenied;) {
    const size = 1 + below(6);
    out += gate.pass(channel, text.slice(at, at + size));
    at += size;
  }
  if (!gate.isDenied) out += gate.flush(channel);
  assert.equal(gate.error, null);
  return { text: out, isEnded: gate.isDenied, pass: judge.verdict().pass };
}

async function whole(check: Check, answer: Json): Promise<{ readonly pass: boolean; readonly message: any }> {
  const input = fakeCheckInput({ answer });
  const { pass, edits } = await check.evaluate(input);
  const body: any = edits === undefined ? answer : applyEdits(answer, input.pieces(), edits);
  return { pass, message: body.choices[0].message };
}

/** Some providers write every character outside of ASCII as an escape. */
const inAscii = (text: string): string => text.replace(/[^\x00-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('a stream of random words', () => {
  for (const [folder, paramsOf] of Object.entries(params)) {
    const load = async (): Promise<GuardrailPlugin> => ((await import(new URL(`../../../plugins/guardrails/${folder}/plugin.js`, import.meta.url).href)) as { default: GuardrailPlugin }).default;

    it(`is judged by ${nameOf(folder)} as the whole text is`, async () => {
      const plugin = await load();
      for (let run = 0; run < runs; run += 1) {
        const given = paramsOf();
        const check = await plugin.create(withDefaults(plugin.params, given), fakeHost());
        const text = textOf();
        const { pass, message } = await whole(check, { choices: [{ index: 0, message: { role: 'assistant', content: text } }] });
        const streamed = stream(check, text, plugin.lookBackMax ?? 0, 'text');
        const shown = `seed ${seed}, run ${run}: ${JSON.stringify({ given, text })}`;
        assert.equal(streamed.pass, pass, shown);
        if (!streamed.isEnded) assert.equal(streamed.text, message.content, shown);
      }
    });

    if (!withoutArguments.includes(folder)) {
      it(`is judged by ${nameOf(folder)} in the arguments of a tool as they are in the whole answer`, async () => {
        const plugin = await load();
        for (let run = 0; run < runs; run += 1) {
          const given = paramsOf();
          const check = await plugin.create(withDefaults(plugin.params, given), fakeHost());
          const values = { a: textOf(), b: [pick<Json>([1234, 41, 4111111111111111, true, null, 1.5]), pick(tokens)], c: { d: pick(tokens) } };
          const args = random() < 0.5 ? JSON.stringify(values) : inAscii(JSON.stringify(values));
          const call = { id: 'call_1', type: 'function', function: { name: 'qq', arguments: args } };
          const { pass, message } = await whole(check, { choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] } }] });
          const streamed = stream(check, args, plugin.lookBackMax ?? 0, 'arguments');
          const shown = `seed ${seed}, run ${run}: ${JSON.stringify({ given, args })}`;
          assert.equal(streamed.pass, pass, shown);
          if (!streamed.isEnded) assert.deepEqual(JSON.parse(streamed.text), JSON.parse(message.tool_calls[0].function.arguments), shown);
        }
      });
    }
  }
});
