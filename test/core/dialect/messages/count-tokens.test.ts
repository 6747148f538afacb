import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@gateway/plugin-sdk';
import { estimateTokens } from '../../../../core/dialect/messages/count-tokens.js';

const count = (content: unknown, more: object = {}): number => estimateTokens({ model: 'm', messages: [{ role: 'user', content }], ...more } as unknown as JsonObject);
const bare = count('');

describe('token estimate', () => {
  // Bounds around what public tokenizers give for such texts.
  const texts: [string, string, number, number][] = [
    ['English', 'The quick brown fox jumps over the lazy dog, and nobody in the neighbourhood was particularly surprised by it.', 20, 30],
    ['German', 'Die Donaudampfschifffahrtsgesellschaft hat gestern ihren Fahrplan für das kommende Jahr veröffentlicht.', 18, 36],
    ['Chinese', '今天天气很好，我们一起去公园散步吧。', 14, 22],
    ['Japanese', 'こんにちは、今日はいい天気ですね。', 11, 20],
    ['Russian', 'Сегодня хорошая погода, и мы пойдём гулять в парк.', 12, 25],
    ['numbers', '3141592653589793', 5, 10],
    ['JSON', '{"name":"value","list":[1,2,3],"flag":true}', 15, 30],
    ['code', 'for (let index = 0; index < list.length; index += 1) {\n    total += list[index];\n}', 22, 42],
    ['emoji', '😀😀😀', 3, 9],
  ];
  for (const [name, text, low, high] of texts) {
    it(name, () => {
      const tokens = count(text) - bare;
      assert.ok(tokens >= low && tokens <= high, `${tokens} is not within ${low} and ${high}`);
    });
  }

  it('counts every block, system, tools', () => {
    const grows = (content: unknown, more?: object): number => count(content, more) - bare;
    assert.ok(grows([{ type: 'image', source: {} }]) > 1000);
    assert.ok(grows([{ type: 'document', source: { type: 'base64', data: 'A'.repeat(300_000) } }]) > 5000);
    assert.ok(grows([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'some words here' }] }]) >= 3);
    assert.ok(grows('', { system: 'be short' }) >= 2);
    assert.ok(grows('', { tools: [{ name: 'f', description: 'does things', input_schema: { type: 'object' } }] }) >= 10);
    assert.ok(grows([{ type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'found words' }] }]) > 4);
  });

  it('counts thinking of the running turn only', () => {
    const think = { role: 'assistant', content: [{ type: 'thinking', thinking: 'many words of thinking in here' }, { type: 'tool_use', id: 'a', name: 'f', input: {} }] };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] };
    const first = { role: 'user', content: 'a' };
    const running = estimateTokens({ messages: [first, think, result] } as unknown as JsonObject);
    const past = estimateTokens({ messages: [first, think, result, first] } as unknown as JsonObject);
    assert.ok(past < running + 5);
  });

  it('is a whole number, the same each time, and takes malformed bodies', () => {
    assert.equal(estimateTokens({}), estimateTokens({}));
    for (const body of [{}, { messages: 'x' }, { messages: [1, { content: 5 }] }, { tools: [1], system: 4 }]) assert.ok(Number.isInteger(estimateTokens(body as unknown as JsonObject)));
  });
});
