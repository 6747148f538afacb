import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyEdits, type Check, type Json } from '@gateway/plugin-sdk';
import { bodyWithText, conformGuardrail, fakeCheckInput, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import { testSeed } from '../../../test/support/seed.js';
import { textOf } from '../common/spans/quality.js';
import { heldOut, tuning } from './labelled.js';
import plugin from './plugin.js';

const make = async (params: Readonly<Record<string, Json>>): Promise<Check> => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());
const lookBackMax = plugin.lookBackMax ?? 0;

// Made by hand, in two parts so that no scanner takes them for real.
const stripe = 'sk_live_' + '9aZ8bY7cX6dW5eV4fU3gT2hS';
const github = 'ghp_' + 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5';
const line = 'MIIEpAIBAAKCAQEA7bq0Zk9V3xR1sT5uW8yZ2aB4cD6eF8gH0iJ2kL4mN6oP8qR0';
const pem = `-----BEGIN RSA ${'PRIVATE KEY'}-----\n${`${line}\n`.repeat(8)}-----END RSA PRIVATE KEY-----`;
const token = `eyJhbGciOiJSUzI1NiJ9.${'eyJzdWIiOiI'}${'k3JxQ9'.repeat(50)}.${'sIgN4tUr3'.repeat(12)}`;

conformGuardrail(plugin, {
  passes: [
    { text: 'Nothing secret in here.' },
    { text: '' },
    { text: 'export KEY=sk-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX' },
    { params: { categories: ['GITHUB'] }, text: `key ${stripe}` },
    { params: { allow: [stripe] }, text: `key ${stripe}` },
    { params: { redact: true }, text: `key ${stripe}` },
    { params: { not: true }, text: `key ${stripe}` },
    { text: 'api_key=9f8e7d6c5b4a39281706f5e4' },
  ],
  fails: [
    { text: `key ${stripe}` },
    { stage: 'output', text: pem },
    { params: { entropy: true }, text: 'api_key=9f8e7d6c5b4a39281706f5e4' },
    { params: { not: true }, text: 'nothing here' },
    { text: 'url postgres://app:Zr8kQw2nVx@db.acme.io/main' },
  ],
  changes: [
    { params: { redact: true }, text: `use ${stripe}, or ${github}.`, changed: 'use [SECRET_STRIPE], or [SECRET_GITHUB].' },
    { params: { redact: true }, text: `a ${pem} b`, changed: 'a [SECRET_PRIVATE_KEY] b' },
    { params: { redact: true }, text: `jwt ${token}!`, changed: 'jwt [SECRET_JWT]!' },
    { params: { redact: true }, stage: 'output', text: 'redis://:Zr8kQw2nVx@cache.acme.io:6379', changed: 'redis://:[SECRET_URL_PASSWORD]@cache.acme.io:6379' },
  ],
  refuses: [{ categories: [] }, { categories: ['GENERIC'] }, { not: true, redact: true }],
  streams: [
    { text: `Key: ${stripe} ok`, streamed: undefined },
    { params: { redact: true }, text: `Key: ${stripe}, ${github}`, streamed: 'Key: [SECRET_STRIPE], [SECRET_GITHUB]' },
    { params: { redact: true }, text: `a\n${pem}\nb`, streamed: 'a\n[SECRET_PRIVATE_KEY]\nb' },
    { params: { redact: true }, text: `token=${token} and on`, streamed: 'token=[SECRET_JWT] and on' },
    { params: { redact: true }, text: 'the -----BEGIN PRIVATE KEY----- line starts a key, as everybody knows who ever looked at one', streamed: 'the -----BEGIN PRIVATE KEY----- line starts a key, as everybody knows who ever looked at one' },
  ],
});

describe('secrets', () => {
  it('streams what it would have judged as a whole, however it is cut', async () => {
    const check = await make({ redact: true, entropy: true });
    const seed = testSeed;
    let state = seed;
    // mulberry32 (public domain).
    const random = (): number => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    const texts = [pem, token, ...[...tuning.positives, ...tuning.negatives, ...heldOut.positives, ...heldOut.negatives].map((example) => textOf(example).text)];
    for (let run = 0; run < 60; run += 1) {
      const joint = [' ', '\n', ', ', ''][Math.floor(random() * 4)] ?? '';
      const text = Array.from({ length: 1 + Math.floor(random() * 6) }, () => texts[Math.floor(random() * texts.length)] ?? '').join(joint);
      const answer = bodyWithText('chatCompletions', text, 'output');
      const input = fakeCheckInput({ answer });
      const whole = applyEdits(answer, input.pieces(), (await check.evaluate(input)).edits ?? []);
      const cuts: string[] = [];
      for (let at = 0; at < text.length;) {
        const length = 1 + Math.floor(random() * 40);
        cuts.push(text.slice(at, at + length));
        at += length;
      }
      const streamed = runStreamCheck(check, cuts, { lookBackMax });
      assert.deepEqual(bodyWithText('chatCompletions', streamed.text, 'output'), whole, `seed ${seed}, run ${run}: ${JSON.stringify(text)}`);
    }
  });

  it('tells categories, places and counts, and never a value', async () => {
    const check = await make({});
    const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: `a ${stripe} b` }] } }));
    assert.deepEqual(verdict.data, {
      detectedCategories: ['STRIPE'],
      entities: [{ category: 'STRIPE', place: 'messages[0].content', count: 1 }],
      explanation: 'secrets found: STRIPE',
    });
  });
});
