import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Check, Json } from '@gateway/plugin-sdk';
import { applyEdits } from '@gateway/plugin-sdk';
import { bodyWithText, conformGuardrail, fakeCheckInput, fakeExchange, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import { testSeed } from '../../../test/support/seed.js';
import { textOf } from '../common/spans/quality.js';
import { heldOut, tuning } from './labelled.js';
import plugin from './plugin.js';

const make = async (params: Readonly<Record<string, Json>>): Promise<Check> => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());
const lookBackMax = plugin.lookBackMax ?? 0;

conformGuardrail(plugin, {
  passes: [
    { text: 'A plain sentence about nothing in particular.' },
    { text: '' },
    { params: { categories: ['SSN'] }, text: 'write to jane@contoso.com' },
    { params: { allow: ['contoso.com'] }, text: 'write to jane@mail.contoso.com' },
    { params: { allow: ['415-555-0198'] }, text: 'call 415-555-0198' },
    { params: { redact: true }, text: 'write to jane@contoso.com' },
    { params: { not: true }, text: 'write to jane@contoso.com' },
    { params: { restore: true }, stage: 'output', text: 'write to jane@contoso.com' },
  ],
  fails: [
    { text: 'write to jane@contoso.com' },
    { stage: 'output', text: 'call 415-555-0198' },
    { params: { categories: ['CREDIT_CARD'] }, text: 'card 4111 1111 1111 1111' },
    { params: { defaultCountry: 'GB' }, text: 'ring 020 7946 0958' },
    { params: { not: true }, text: 'nothing here' },
    { params: { restore: true }, text: 'write to jane@contoso.com' },
    { body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }, { type: 'text', text: 'ssn 536-22-1845' }] }] } },
  ],
  changes: [
    { params: { redact: true }, text: 'write to jane@contoso.com or (212) 555-0123.', changed: 'write to [EMAIL_ADDRESS] or [PHONE_NUMBER].' },
    { params: { redact: true, restore: true }, text: 'a@x.org, b@x.org, a@x.org', changed: '[EMAIL_ADDRESS_1], [EMAIL_ADDRESS_2], [EMAIL_ADDRESS_1]' },
    { params: { redact: true, restore: true }, text: 'not ours: [EMAIL_ADDRESS_1]; a@x.org', changed: 'not ours: [EMAIL_ADDRESS_1]; [EMAIL_ADDRESS_2]' },
    { params: { redact: true, placeholder: '<{category}>' }, stage: 'output', text: 'IBAN DE89 3704 0044 0532 0130 00.', changed: 'IBAN <IBAN>.' },
  ],
  refuses: [{ categories: [] }, { placeholder: '"' }, { restore: true, placeholder: '[{category}]' }, { not: true, redact: true }, { defaultCountry: 'XX' }],
  streams: [
    { text: 'Write to jane@contoso.com now', streamed: undefined },
    { text: 'nothing to see here, 12 apples', streamed: 'nothing to see here, 12 apples' },
    { params: { redact: true }, text: 'Mail jane.doe@contoso.com, ok', streamed: 'Mail [EMAIL_ADDRESS], ok' },
    { params: { redact: true }, text: 'Call (212) 555-0123 or +44 20 7946 0958!', streamed: 'Call [PHONE_NUMBER] or [PHONE_NUMBER]!' },
    { params: { redact: true }, text: 'Card 4111 1111 1111 1111 and SSN 536-22-1845', streamed: 'Card [CREDIT_CARD] and SSN [SSN]' },
    { params: { redact: true }, text: 'To MT84 MALT 0110 0001 2345 MTLC AST0 01S please', streamed: 'To [IBAN] please' },
    { params: { redact: true }, text: 'born on January 5, 1980 in Rome; my name is Ada King.', streamed: 'born on [DATE_OF_BIRTH] in Rome; my name is [NAME].' },
    { params: { redact: true }, text: 'log\\nfrom\\n203.0.113.42\\n2001:db8::ff00:42:8329 end', streamed: 'log\\nfrom\\n[IP_ADDRESS]\\n[IP_ADDRESS] end' },
  ],
});

/** Recognisers pass over stretches that are too short for them, or have too few digits or capitals. */
const shortest = [
  '{{EMAIL_ADDRESS:a@b.io}}', 'from {{IP_ADDRESS:8.8.8.8}}', 'from {{IP_ADDRESS:1::23}}', 'from {{IP_ADDRESS:1:2::}}', 'from {{IP_ADDRESS:::1:2}}', '{{MAC_ADDRESS:1a2b.3c4d.5e6f}}',
  '{{VIN:1HGCM82633A004352}}', '{{IN_PAN:ABCPE1234F}}', '{{IT_CODICE_FISCALE:RSSMRA85T10A562S}}', 'born {{DATE_OF_BIRTH:1/1/99}}', '{{CRYPTO_ADDRESS:1111111111111111111114oLvT2}}',
  '{{CRYPTO_ADDRESS:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4}}', '{{CRYPTO_ADDRESS:0x52908400098527886E0F7030069857D2E4169EE7}}', 'My name is {{NAME:Al}}', 'My name is {{NAME:Ôd}}',
  'at {{LOCATION_ADDRESS:1 N St}}', 'in {{LOCATION_ADDRESS:Platz 1}}', 'in {{LOCATION_ADDRESS:Aaring 1}}', '{{LOCATION_ADDRESS:PO Box 1}}', '{{LOCATION_ADDRESS:Postfach 1}}',
];

describe('personal data', () => {
  for (const example of shortest) {
    it(`is found where it is as short as it can be: ${example}`, async () => {
      const { text, spans } = textOf(example);
      const check = await make({ redact: true });
      const { edits } = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: text } }] } }));
      assert.deepEqual(edits, spans.map(({ from, to, category }) => ({ piece: 0, from, to, text: `[${category}]` })));
    });
  }

  it('streams what it would have judged as a whole, however it is cut', async () => {
    const check = await make({ redact: true });
    const seed = testSeed;
    let state = seed;
    // mulberry32 (public domain).
    const random = (): number => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    const texts = [...tuning.positives, ...tuning.negatives, ...heldOut.positives, ...heldOut.negatives].map((example) => textOf(example).text);
    for (let run = 0; run < 60; run += 1) {
      const count = 1 + Math.floor(random() * 8);
      const joint = [' ', '\n', ', ', ''][Math.floor(random() * 4)] ?? '';
      const text = Array.from({ length: count }, () => texts[Math.floor(random() * texts.length)] ?? '').join(joint);
      const answer = bodyWithText('chatCompletions', text, 'output');
      const input = fakeCheckInput({ answer });
      const verdict = await check.evaluate(input);
      const whole = applyEdits(answer, input.pieces(), verdict.edits ?? []);
      const cuts: string[] = [];
      for (let at = 0; at < text.length;) {
        const length = 1 + Math.floor(random() * 30);
        cuts.push(text.slice(at, at + length));
        at += length;
      }
      const streamed = runStreamCheck(check, cuts, { lookBackMax });
      assert.deepEqual(bodyWithText('chatCompletions', streamed.text, 'output'), whole, `seed ${seed}, run ${run}: ${JSON.stringify(text)}`);
      assert.ok(streamed.heldMax <= lookBackMax);
    }
  });

  it('judges endless numbers and words without blanks alike, within its look-back', async () => {
    const check = await make({ redact: true });
    for (const unit of ['12 ', '555-0199 ', 'ABC 123 ', 'Word ', '4111 1111 1111 1111 ', 'jane@contoso.com/', 'aB3/', '203.0.113.42:']) {
      const text = unit.repeat(Math.ceil(900 / unit.length));
      const outcomes = [1, 7, 20, 900].map((size) => runStreamCheck(check, text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [], { lookBackMax }).text);
      assert.equal(new Set(outcomes).size, 1, unit);
    }
  });

  it('lets plain words go at once', async () => {
    const check = await make({});
    const stream = check.stream?.(fakeExchange());
    assert.equal(stream?.push({ channel: '0', kind: 'text', group: 0, before: '', text: 'some plain words here ', isLast: false }).release, 22);
    assert.equal(stream?.push({ channel: '0', kind: 'text', group: 0, before: '', text: 'mail to jane', isLast: false }).release, 8);
  });

  it('puts back what the input check of the same exchange took out, in a plain answer and in a stream cut anywhere', async () => {
    const check = await make({ redact: true, restore: true });
    const body = bodyWithText('chatCompletions', 'I am jane@contoso.com, call 415-555-0198');
    const exchange = fakeExchange({ body });
    const input = await check.evaluate(fakeCheckInput({ body, exchange }));
    assert.equal(input.pass, true);
    assert.ok(!JSON.stringify(input.data).includes('jane'));
    const text = 'Dear [EMAIL_ADDRESS_1], we call [PHONE_NUMBER_1] and not [PHONE_NUMBER_12] [EMAIL';
    const restored = 'Dear jane@contoso.com, we call 415-555-0198 and not [PHONE_NUMBER_12] [EMAIL';
    const answer = bodyWithText('chatCompletions', text, 'output');
    const whole = fakeCheckInput({ stage: 'output', answer, exchange });
    assert.deepEqual(applyEdits(answer, whole.pieces(), (await check.evaluate(whole)).edits ?? []), bodyWithText('chatCompletions', restored, 'output'));
    for (let at = 0; at <= text.length; at += 1) {
      assert.equal(runStreamCheck(check, [text.slice(0, at), text.slice(at)], { exchange, lookBackMax }).text, restored);
    }
    assert.equal(runStreamCheck(check, [...text], { exchange, lookBackMax }).text, restored);
  });

  it('tells categories, places and counts, and never a value', async () => {
    const check = await make({});
    const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: 'a@x.org b@x.org 192.0.2.9' }] } }));
    assert.deepEqual(verdict.data, {
      detectedCategories: ['EMAIL_ADDRESS', 'IP_ADDRESS'],
      entities: [{ category: 'EMAIL_ADDRESS', place: 'messages[0].content', count: 2 }, { category: 'IP_ADDRESS', place: 'messages[0].content', count: 1 }],
      explanation: 'personal data found: EMAIL_ADDRESS, IP_ADDRESS',
    });
  });
});
