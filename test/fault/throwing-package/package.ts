// A third-party package with a plugin of each kind that a call meets, whose every callback misbehaves when the call's metadata say so:
// `{"fault": "cache.lookup:throw"}`. Otherwise they do what they should.

import type { PackageParts } from '../../core/registry/plugin-package.js';

/** Everything of a plugin that the gateway calls while a call runs, by what a config needs to meet it. */
export const places = {
  cache: ['cache.lookup', 'cache.store', 'cache.remove'],
  strategy: ['strategy.next'],
  check: ['check.evaluate', 'check.stream', 'check.push', 'check.verdict', 'check.signal', 'check.signalLater'],
  hook: ['hook.decide'],
  shaped: ['provider.endpoint', 'provider.headers', 'provider.request', 'provider.response', 'provider.stream', 'provider.push', 'provider.end', 'provider.decoder', 'provider.decode', 'provider.decodeEnd'],
  refused: ['provider.error'],
  signed: ['provider.sign'],
  wired: ['transport.send', 'transport.cancel', 'transport.pause', 'transport.late', 'transport.twice'],
} as const;

export type Setting = keyof typeof places;

/** How a callback misbehaves. */
export const ways = ['throw', 'throwText', 'reject', 'rejectLater', 'null', 'nothing', 'object', 'text', 'thenable', 'unwritable'] as const;

const misbehave = `export function misbehave(exchange, place, otherwise) {
  const [at, way] = String(exchange.metadata.fault ?? '').split(':');
  if (at !== place) return otherwise();
  switch (way) {
    case 'throw': throw new Error('thrown at ' + place);
    case 'throwText': throw 'thrown at ' + place;
    case 'reject': return Promise.reject(new Error('rejected at ' + place));
    case 'rejectLater': return new Promise((_, reject) => setImmediate(() => reject(new Error('rejected later at ' + place))));
    case 'null': return null;
    case 'object': return {};
    case 'text': return 'nonsense';
    case 'thenable': return { then(_, reject) { reject(new Error('rejected at ' + place)); } };
    case 'unwritable': return { pass: false, deny: false, data: 1n, release: 0, status: 200, contentType: 'a\\nb', match: 'exact', body: new Uint8Array(1) };
    default: return undefined;
  }
}
`;

const head = `import * as sdk from '@gateway/plugin-sdk';
import { misbehave } from '../misbehave.js';
const described = { title: 'Throwing', describe: 'Throws when it is told to.', params: { type: 'object', properties: {} } };
`;

const cache = `${head}
export default sdk.defineCache({
  ...described, compares: 'exact',
  create: () => {
    const kept = new Map();
    return {
      lookup: (question) => misbehave(question.exchange, 'cache.lookup', () => {
        const entry = kept.get(question.key);
        return entry === undefined ? undefined : { ...entry, match: 'exact' };
      }),
      store: (question, entry) => misbehave(question.exchange, 'cache.store', () => { kept.set(question.key, entry); }),
      remove: (question) => misbehave(question.exchange, 'cache.remove', () => { kept.delete(question.key); }),
    };
  },
});
`;

const strategy = `${head}
export default sdk.defineStrategy({
  ...described,
  create: () => ({ next: (exchange, targets, outcomes) => misbehave(exchange, 'strategy.next', () => (outcomes.length === 0 ? 0 : -1)) }),
});
`;

const check = `${head}
export default sdk.defineGuardrail({
  ...described, stages: ['input', 'output'], needs: { request: 'json', response: 'events' }, lookBackMax: 16,
  create: () => ({
    evaluate: (input) => {
      const fault = String(input.exchange.metadata.fault ?? '');
      if (fault.startsWith('check.signal:')) {
        input.exchange.signal.addEventListener('abort', () => misbehave(input.exchange, 'check.signal', () => undefined));
        input.exchange.signal.onabort = () => misbehave(input.exchange, 'check.signal', () => undefined);
        input.signal.addEventListener('abort', () => misbehave(input.exchange, 'check.signal', () => undefined));
      }
      if (fault.startsWith('check.signalLater:')) {
        input.signal.addEventListener('abort', { handleEvent: () => misbehave(input.exchange, 'check.signalLater', () => undefined) });
        return new Promise(() => undefined);
      }
      return misbehave(input.exchange, 'check.evaluate', () => ({ pass: true }));
    },
    stream: (exchange) => misbehave(exchange, 'check.stream', () => ({
      push: (window) => misbehave(exchange, 'check.push', () => ({ release: window.text.length })),
      verdict: () => misbehave(exchange, 'check.verdict', () => ({ pass: true })),
    })),
  }),
});
`;

const hook = `${head}
export default sdk.defineHook({
  ...described, stages: ['before', 'after'],
  create: () => ({ order: 'together', decide: (results, stage, exchange) => misbehave(exchange, 'hook.decide', () => ({ pass: true, deny: false })) }),
});
`;

const exporter = `${head}
let turn = 0;
export default sdk.defineExporter({
  ...described, batch: { countMax: 3, waitMsMax: 1 },
  create: () => ({ export: (batch, signal) => {
    const ways = ${JSON.stringify(ways)};
    const way = ways[turn % ways.length];
    turn += 1;
    signal.addEventListener('abort', () => { throw new Error('a listener of an export'); });
    return misbehave({ metadata: { fault: 'exporter.export:' + way } }, 'exporter.export', () => undefined);
  } }),
});
`;

/** `auth`, and what the endpoint has beside its path. */
const provider = (auth: string, spec: string, more = ''): string => `${head}
export default sdk.defineProvider({
  ...described, params: { type: 'object', properties: { api_key: { type: 'string', secret: true, description: 'Key.' } } },
  baseUrl: 'https://provider.example/v1', auth: ${auth},
  endpoints: { chatCompletions: ${spec} },
  ${more}
});
`;

const shaped = provider("{ type: 'bearer' }", `(call) => misbehave(call.exchange, 'provider.endpoint', () => ({
    path: '/chat/completions',
    headers: (given) => misbehave(given.exchange, 'provider.headers', () => ({ 'x-shape': '1' })),
    request: (body, given) => misbehave(given.exchange, 'provider.request', () => body),
    response: (body, given) => misbehave(given.exchange, 'provider.response', () => body),
    stream: (given) => misbehave(given.exchange, 'provider.stream', () => ({
      push: (event, out) => misbehave(given.exchange, 'provider.push', () => { if (event.data !== '[DONE]') out.write(event); }),
      end: () => misbehave(given.exchange, 'provider.end', () => undefined),
    })),
    ...(String(call.exchange.metadata.fault ?? '').startsWith('provider.decode') ? { framing: {
      contentType: 'text/event-stream',
      decoder: () => misbehave(call.exchange, 'provider.decoder', () => ({
        push: (chunk, emit) => misbehave(call.exchange, 'provider.decode', () => undefined),
        end: (emit) => misbehave(call.exchange, 'provider.decodeEnd', () => undefined),
      })),
    } } : {}),
  }))`);

/** The provider's error reader is not told the call: the body says how to misbehave. */
const refused = provider("{ type: 'bearer' }", "'/chat/completions'",
  "error: (body) => misbehave({ metadata: { fault: body.error.message } }, 'provider.error', () => undefined),");

/** Nor is what signs: the key says it. */
const signed = provider("{ type: 'signed' }", "'/chat/completions'",
  "sign: (outgoing, keys) => misbehave({ metadata: { fault: keys.apiKey } }, 'provider.sign', () => undefined),");

const wired = provider("{ type: 'bearer' }", "'/chat/completions'", `
  transport: () => ({ send: (outgoing, listener) => {
    const [, key] = outgoing.headers[outgoing.headers.indexOf('authorization') + 1].split(' ');
    const exchange = { metadata: { fault: key } };
    const answer = new TextEncoder().encode(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }] }));
    const tell = () => {
      if (key.startsWith('transport.cancel') || key.startsWith('transport.pause')) return;
      listener.onHead(200, ['content-type', 'application/json']);
      listener.onChunk(answer);
      listener.onEnd();
      if (key.startsWith('transport.twice')) { listener.onHead(200, []); listener.onChunk(answer); listener.onEnd(); listener.onError(new Error('after all')); }
      if (key.startsWith('transport.late')) setImmediate(() => { listener.onChunk(answer); listener.onError('text'); });
    };
    setImmediate(tell);
    return misbehave(exchange, 'transport.send', () => ({
      pause: () => misbehave(exchange, 'transport.pause', () => undefined),
      resume: () => misbehave(exchange, 'transport.pause', () => undefined),
      cancel: () => misbehave(exchange, 'transport.cancel', () => undefined),
    }));
  } }),`);

export const throwingPackage: PackageParts = {
  name: 'throwing-plugins',
  gateway: {
    namespace: 'throwing',
    contract: { cache: 1, strategy: 1, guardrail: 1, hook: 1, exporter: 1, provider: 1 },
    plugins: { cache: ['kept'], strategy: ['first'], guardrail: ['check'], hook: ['type'], exporter: ['log'], provider: ['shaped', 'refused', 'signed', 'wired'] },
  },
  files: {
    'misbehave.js': misbehave,
    'cache/kept.js': cache, 'strategy/first.js': strategy, 'guardrail/check.js': check, 'hook/type.js': hook, 'exporter/log.js': exporter,
    'provider/shaped.js': shaped, 'provider/refused.js': refused, 'provider/signed.js': signed, 'provider/wired.js': wired,
  },
};
