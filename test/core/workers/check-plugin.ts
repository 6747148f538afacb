// A guardrail plugin for the tests of checks in the pool: it tells what it was given, and does what its parameters say.

import { threadId } from 'node:worker_threads';
import { defineGuardrail, ParameterError, type Host, type Verdict } from '@gateway/plugin-sdk';

let made = 0;
let closed = 0;

type Ask = 'find' | 'view' | 'bytes' | 'spin' | 'throw' | 'function' | 'count' | 'body' | keyof Host;

export default defineGuardrail({
  title: 'Test',
  describe: 'For tests.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json', changes: 'both' },
  params: {
    type: 'object',
    properties: {
      ask: { type: 'string', description: 'What to do.' },
      word: { type: 'string', description: 'What to look for.' },
      number: { type: 'integer', description: 'Makes another check.' },
    },
  },
  runs: 'pool',
  create: async (params, host) => {
    const { word = '', number = 0 } = params;
    const ask = (params.ask ?? 'find') as Ask;
    if (word === 'invalid') throw new ParameterError('word', 'must not be invalid');
    made += 1;
    return {
      evaluate: async (input): Promise<Verdict> => {
        switch (ask) {
          case 'find': {
            const edits = input.pieces().flatMap(({ text }, piece) => {
              const from = text.indexOf(word);
              return from === -1 ? [] : [{ piece, from, to: from + word.length, text: '***' }];
            });
            return edits.length === 0 ? { pass: true } : { pass: false, why: 'the word is there', data: { count: edits.length, stage: input.stage }, edits };
          }
          case 'view': {
            const { exchange } = input;
            const { request } = exchange;
            exchange.notes.set('a', 1);
            host.log.info('nothing');
            host.count('nothing');
            return {
              pass: host.now() > 0 && host.random() < 1,
              data: {
                text: input.text(), json: input.json(), status: input.status, aborted: input.signal.aborted, id: exchange.id, traceId: exchange.traceId,
                endpoint: exchange.endpoint, startedAtMs: exchange.startedAtMs, principal: exchange.principal, metadata: exchange.metadata, target: exchange.target,
                method: request.method, path: request.path, header: request.header('x-test') ?? null, model: request.field('model') ?? null,
                list: request.field('messages') ?? null, body: request.json(), notes: exchange.notes.size,
              },
            };
          }
          case 'bytes': input.exchange.request.bytes(); break;
          case 'body': return { pass: true, body: input.json() };
          case 'spin': for (;;);
          case 'throw': throw new RangeError('cannot judge');
          case 'function': return { pass: true, data: (() => 1) as never };
          case 'count': return { pass: true, data: { made, closed, number, threadId } };
          case 'fetch': await host.fetch({ url: 'http://localhost/', timeoutMs: 1 }); break;
          case 'store': await host.store('x'); break;
          case 'resolve': await host.resolve('x'); break;
          case 'secret': await host.secret('env:X'); break;
          case 'worker': host.worker(new URL('file:///x.js')); break;
          case 'every': host.every(1, () => undefined); break;
          default:
        }
        return { pass: true };
      },
      close: () => { closed += 1; },
    };
  },
});
