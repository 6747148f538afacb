// What a check finds must not depend on whether the answer streams: texts that providers write in other ways than most, plain and in events.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameOf } from '../../../core/registry/ids.js';
import { apiKey, startTestGateway } from '../../support/gateway.js';
import { sendJson, startUpstream } from '../../support/upstream.js';
import { readStream, requestOf, routes } from './routes.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();

/** Plays an answer of a provider of chat completions to a chat client, with one denying guardrail, and says whether it was let through. */
async function isLetThrough(folder: string, params: object, message: object, deltas: readonly object[] | null): Promise<boolean> {
  const [chat] = routes;
  assert.ok(chat !== undefined);
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  upstream.answer = (_, response) => {
    if (deltas === null) {
      sendJson(response, 200, { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }] });
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${[{ role: 'assistant', content: '' }, ...deltas].map((delta) => chunk(delta)).join('')}${chunk({}, 'stop')}data: [DONE]\n\n`);
  };
  const response = await fetch(gateway.url + chat.path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': apiKey,
      'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, output_guardrails: [{ [`default.${nameOf(folder)}`]: params, deny: true }] }),
    },
    body: JSON.stringify(requestOf(chat, 'Say something.', deltas !== null, {})),
  });
  const answer = await response.text();
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    assert.ok(response.status === 200 || response.status === 446, answer);
    assert.equal(JSON.parse(answer).hook_results.after_request_hooks[0].deny, response.status === 446);
    return response.status === 200;
  }
  const read = readStream(chat, answer);
  assert.deepEqual([read.hasError, read.hookResults?.after_request_hooks[0].deny], [!read.isWhole, !read.isWhole], answer.slice(-600));
  return read.isWhole;
}

describe('an answer is judged alike, plain and streamed', () => {
  const searches: readonly (readonly [folder: string, params: object, word: string, place: number])[] = [
    ['contains', { words: ['needle'], operator: 'none' }, 'needle', 1], ['regex-match', { rule: 'ne[e]dle', not: true }, 'needle', 1],
    ['pii', {}, 'jane@contoso.com', 4], ['secrets', {}, `sk_live_${'9aZ8bY7cX6dW5eV4fU3gT2hS'}`, 2],
  ];
  for (const [folder, params, word, place] of searches) {
    it(`by ${nameOf(folder)}, in arguments of tools that are written with escapes`, async () => {
      const args = `{"note":"see ${word.slice(0, place)}\\u00${word.charCodeAt(place).toString(16)}${word.slice(place + 1)} there"}`;
      assert.ok(JSON.parse(args).note.includes(word));
      const call = (text: string): object => ({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'save', arguments: text } }] });
      const deltas = [call(''), ...(args.match(/[^]{1,3}/g) ?? []).map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] }))];
      assert.equal(await isLetThrough(folder, params, { content: null, ...call(args) }, null), false, 'plain');
      assert.equal(await isLetThrough(folder, params, {}, deltas), false, 'streamed');
    });

    for (const name of ['reasoning_content', 'reasoning', 'reasoning_details']) {
      it(`by ${nameOf(folder)}, in ${name}`, async () => {
        const member = (text: string): object => ({ [name]: name === 'reasoning_details' ? [{ type: 'reasoning.text', text, index: 0, format: 'unknown' }] : text });
        const text = `I know of ${word} in it.`;
        const deltas = [...(text.match(/[^]{1,3}/g) ?? []).map(member), { content: 'Nothing.' }];
        assert.equal(await isLetThrough(folder, params, {}, deltas), false, 'streamed');
        assert.equal(await isLetThrough(folder, params, { content: 'Nothing.', ...member(text) }, null), false, 'plain');
      });
    }
  }
});
