// Every client dialect over every provider family, feature by feature: real client libraries on one side, simulated providers on the other.
// What the provider understood and what the client got back are compared with what was said. Writes dist/matrix.md.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { dialects, type Ask, type Dialect, type Got, type Tool } from './dialects.js';
import { families } from './families.js';
import { features, type Family, type Feature, type Reply, type Seen } from './family.js';
import { startStage } from './stage.js';

const [firstFamily] = families;
assert.ok(firstFamily);
const stage = await startStage(firstFamily);
const gateway = await startTestGateway();
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = 'Grüße aus Köln 👋, "quoted"\nand a second line.';
const usage = { input: 40, output: 17 };
const weather: Tool = { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] } };
const clock: Tool = { name: 'get_time', parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] } };
/** Mistral wants ids of nine letters and digits back; the other families take them too. */
const calls = [
  { id: 'call00001', name: 'get_weather', args: { city: 'Köln "Süd"', days: 3 } },
  { id: 'call00002', name: 'get_time', args: { zone: 'Europe/Berlin' } },
] as const;
const schema = { type: 'object', properties: { city: { type: 'string' }, people: { type: 'integer' } }, required: ['city', 'people'], additionalProperties: false };
const thinking = { text: 'First the weather, then the time.', signature: 'c2lnbmF0dXJlLW9mLXRoZS10aGlua2luZw==' };
const plainReply: Reply = { text, finish: 'stop', usage };

const headersFor = (family: Family): Record<string, string> => ({ 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(family.target(stage.origin)) });

async function say(dialect: Dialect, family: Family, reply: Reply, ask: Partial<Ask>): Promise<{ got: Got; seen: Seen }> {
  stage.play(family, [reply]);
  const whole: Ask = { model: family.model, steps: [{ user: 'Hello Köln' }], isStream: false, ...ask };
  const got = await dialect.ask(gateway.url, headersFor(family), whole);
  assert.deepEqual(stage.faults, []);
  assert.equal(stage.seen.length, 1);
  const [seen] = stage.seen;
  assert.ok(seen);
  return { got, seen };
}

const namesAndArgs = (list: readonly { name: string; args: unknown }[] | undefined): unknown => list?.map(({ name, args }) => ({ name, args }));
/** Gemini's own schema type writes the types in capitals. */
const lowered = (value: unknown): unknown => JSON.parse(JSON.stringify(value), (key, inner) => (key === 'type' && typeof inner === 'string' ? inner.toLowerCase() : inner));

async function failing(run: () => Promise<unknown>): Promise<any> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return assert.fail('the client must hear of the error');
}

const cells: Record<Feature, (dialect: Dialect, family: Family) => Promise<void>> = {
  async plain(dialect, family) {
    const { got, seen } = await say(dialect, family, plainReply, { system: 'Be brief.', maxTokens: 300, temperature: 0.5 });
    assert.equal(got.text, text);
    assert.equal(got.finish, 'stop');
    assert.equal(seen.system, 'Be brief.');
    assert.deepEqual(seen.turns.map(({ role, text: said }) => [role, said]), [['user', 'Hello Köln']]);
    assert.deepEqual([seen.isStream, seen.maxTokens, seen.temperature], [false, 300, 0.5]);
    const cutOff = await say(dialect, family, { text: 'cut', finish: 'length', usage }, { maxTokens: 5 });
    assert.deepEqual([cutOff.got.text, cutOff.got.finish], ['cut', 'length']);
  },
  async stream(dialect, family) {
    const { got, seen } = await say(dialect, family, plainReply, { system: 'Be brief.', maxTokens: 300, isStream: true });
    assert.equal(got.text, text);
    assert.equal(got.finish, 'stop');
    assert.deepEqual([seen.isStream, seen.maxTokens, seen.system], [true, 300, 'Be brief.']);
  },
  async tools(dialect, family) {
    for (const isStream of [false, true]) {
      const { got, seen } = await say(dialect, family, { toolCalls: [calls[0]], finish: 'tool_calls', usage }, { tools: [weather], isStream });
      assert.deepEqual(seen.tools, ['get_weather']);
      assert.deepEqual(namesAndArgs(got.toolCalls), namesAndArgs([calls[0]]));
      assert.ok(got.toolCalls[0]?.id);
      assert.equal(got.finish, 'tool_calls');
    }
  },
  async 'parallel tools'(dialect, family) {
    for (const isStream of [false, true]) {
      const { got, seen } = await say(dialect, family, { text: 'Both.', toolCalls: calls, finish: 'tool_calls', usage }, {
        tools: [weather, clock], isStream, ...(family.hasToolChoice ? { toolChoice: 'required' as const } : {}),
      });
      if (family.hasToolChoice) assert.equal(seen.toolChoice, 'required');
      assert.equal(got.text, 'Both.');
      assert.deepEqual(namesAndArgs(got.toolCalls), namesAndArgs(calls));
      assert.equal(new Set(got.toolCalls.map(({ id }) => id)).size, 2);
      assert.equal(got.finish, 'tool_calls');
    }
  },
  async image(dialect, family) {
    const { got, seen } = await say(dialect, family, plainReply, { steps: [{ user: 'What is this?', image: png }] });
    assert.deepEqual(seen.turns.map((turn) => [turn.role, turn.text, turn.images]), [['user', 'What is this?', 1]]);
    assert.equal(got.text, text);
  },
  async 'JSON schema'(dialect, family) {
    const answer = '{"city":"Köln","people":1084831}';
    for (const isStream of [false, true]) {
      const { got, seen } = await say(dialect, family, { text: answer, finish: 'stop', usage }, { schema, isStream });
      assert.deepEqual(lowered(seen.schema), schema);
      assert.equal(got.text, answer);
    }
  },
  async thinking(dialect, family) {
    for (const isStream of [false, true]) {
      const { got, seen } = await say(dialect, family, { thinking, text, finish: 'stop', usage: { ...usage, reasoning: 5 } }, { thinkingBudget: 2048, maxTokens: 8000, isStream });
      if (family.hasBudget && dialect.name !== 'responses') assert.equal(seen.thinkingBudget, 2048);
      else if (family.hasBudget) assert.notEqual(seen.thinkingBudget, undefined);
      assert.equal(got.thinking?.text, thinking.text, isStream ? 'the thinking, streamed' : 'the thinking, plain');
      if (family.hasSignature && dialect.name !== 'responses') assert.equal(got.thinking?.signature, thinking.signature, `the signature, ${isStream ? 'streamed' : 'plain'}: ${got.thinking?.signature}`);
      assert.equal(got.text, text);
      if (!family.hasSignature) continue;
      const again = await say(dialect, family, plainReply, {
        thinkingBudget: 2048, maxTokens: 8000, isStream, steps: [{ user: 'Hello Köln' }, { assistant: got.native }, { user: 'And now?' }],
      });
      assert.deepEqual(again.seen.turns.map((turn) => [turn.role, turn.text]), [['user', 'Hello Köln'], ['assistant', text], ['user', 'And now?']]);
      assert.equal(again.seen.turns[1]?.thinking?.signature, thinking.signature, `the signature that came back, ${isStream ? 'streamed' : 'plain'}`);
    }
  },
  async usage(dialect, family) {
    const parts = family.usageParts;
    const said = { input: 120, output: 45, ...(parts.has('cached') ? { cached: 100 } : {}), ...(parts.has('reasoning') ? { reasoning: 20 } : {}) };
    for (const isStream of [false, true]) {
      const { got } = await say(dialect, family, { ...plainReply, usage: said }, { isStream });
      assert.deepEqual([got.usage.input, got.usage.output], [120, 45]);
      if (parts.has('cached')) assert.equal(got.usage.cached, 100);
      if (parts.has('reasoning') && dialect.name !== 'messages') assert.equal(got.usage.reasoning, 20);
    }
  },
  async error(dialect, family) {
    for (const [status, isStream] of [[400, false], [429, true]] as const) {
      const error = await failing(() => say(dialect, family, { ...plainReply, error: { status, message: 'matrix says no' } }, { isStream }));
      assert.equal(error.status, status, String(error));
      assert.match(error.message, /matrix says no/);
    }
    const broken = await failing(() => say(dialect, family, { ...plainReply, streamError: { afterText: 'Once upon', message: 'the matrix broke' } }, { isStream: true }));
    assert.notEqual(broken.code, 'ERR_ASSERTION', String(broken));
    assert.match(String(broken.message), /the matrix broke/);
  },
};

const thinks = (dialect: Dialect, family: Family): boolean => family.features.has('thinking') && (family.thinkingIn === undefined || family.thinkingIn.has(dialect.name));

/** Two tools called at once, after thinking; the results come back in the other order. */
async function converse(dialect: Dialect, family: Family, isStream: boolean): Promise<void> {
  const isThinking = thinks(dialect, family);
  const ask: Ask = {
    model: family.model, system: 'Use the tools.', steps: [{ user: 'Weather and time?' }], tools: [weather, clock], maxTokens: 8000, isStream, ...(isThinking ? { thinkingBudget: 2048 } : {}),
  };
  stage.play(family, [{ ...(isThinking ? { thinking } : {}), text: 'Looking.', toolCalls: calls, finish: 'tool_calls', usage }, { text: 'Sunny, noon.', finish: 'stop', usage }]);
  const first = await dialect.ask(gateway.url, headersFor(family), ask);
  assert.deepEqual(stage.faults, []);
  assert.deepEqual(namesAndArgs(first.toolCalls), namesAndArgs(calls));
  const results = first.toolCalls.map(({ id, name }) => ({ id, text: `result of ${name}` })).reverse();
  const last = await dialect.ask(gateway.url, headersFor(family), { ...ask, steps: [...ask.steps, { assistant: first.native }, { results }] });
  assert.deepEqual(stage.faults, []);
  assert.equal(last.text, 'Sunny, noon.');
  const seen = stage.seen[1];
  assert.ok(seen);
  assert.deepEqual(seen.turns.map(({ role }) => role), ['user', 'assistant', 'tool', 'tool']);
  const assistant = seen.turns[1];
  assert.deepEqual(namesAndArgs(assistant?.toolCalls), namesAndArgs(calls));
  assert.equal(assistant?.text, 'Looking.');
  for (const turn of seen.turns.slice(2)) assert.equal(turn.text, `result of ${turn.toolName}`);
  assert.deepEqual(seen.turns.slice(2).map(({ toolName }) => toolName).sort(), ['get_time', 'get_weather']);
  if (family.hasSignature) assert.equal(assistant?.thinking?.signature, thinking.signature);
}

const columns = [...features, 'conversation', 'conversation, streamed'] as const;
const table: string[] = [`| client | provider | ${columns.join(' | ')} |`, `|---|---|${columns.map(() => '---').join('|')}|`];
const reasons = new Map<string, number>();
const footnote = (reason: string): number => {
  if (!reasons.has(reason)) reasons.set(reason, reasons.size + 1);
  return reasons.get(reason) ?? 0;
};

after(() => {
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/matrix.md', `${table.join('\n')}\n\n${[...reasons].map(([reason, number]) => `(${number}) ${reason}`).join('\n')}\n`);
});

for (const dialect of dialects) {
  describe(`${dialect.name} over`, () => {
    for (const family of families) {
      it(family.name, async () => {
        const row: string[] = [];
        const failures: string[] = [];
        for (const column of columns) {
          const isFeature = column !== 'conversation' && column !== 'conversation, streamed';
          if (isFeature && (!family.features.has(column) || (column === 'thinking' && !thinks(dialect, family)))) {
            row.push(`n/a (${footnote(family.lacks?.[column] ?? 'the provider has no such feature')})`);
            continue;
          }
          try {
            await (isFeature ? cells[column](dialect, family) : converse(dialect, family, column !== 'conversation'));
            row.push('ok');
          } catch (error) {
            row.push('FAIL');
            const fault = stage.faults.length > 0 ? ` [provider: ${stage.faults.join('; ')}]` : '';
            failures.push(`${column}: ${String(error instanceof Error ? error.message : error).replace(/\s+/g, ' ').slice(0, 400)}${fault}`);
          }
        }
        table.push(`| ${dialect.name} | ${family.name} | ${row.join(' | ')} |`);
        assert.equal(failures.join('\n'), '');
      });
    }
  });
}
