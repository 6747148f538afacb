import { defineProvider, openaiPaths, type Outgoing, type Transport, type UpstreamCall, type UpstreamListener } from '@gateway/plugin-sdk';
import { failure, json, recut, refusal, type Answer } from './answer.js';
import { parseBody, type Body } from './body.js';
import { chat } from './chat.js';
import { embeddings, images, model, models, moderations, rerank, speech } from './endpoints.js';
import { readKnobs, type Asked, type Knobs } from './knobs.js';
import { Player } from './player.js';
import { completions } from './text.js';

/** Distinct keys of `fail_first` that are remembered; beyond them the oldest is forgotten. */
const keysMax = 10_000;

/** Paths that take a JSON body. */
const posts: ReadonlyMap<string, (body: Body, knobs: Knobs) => Answer> = new Map([
  [openaiPaths.chatCompletions, chat],
  [openaiPaths.completions, completions],
  [openaiPaths.embeddings, embeddings],
  [openaiPaths.moderations, moderations],
  [openaiPaths.rerank, rerank],
  [openaiPaths.imageGenerations, images],
  [openaiPaths.speech, speech],
]);
const uploads: ReadonlySet<string> = new Set([openaiPaths.transcriptions, openaiPaths.translations]);
const modelPrefix = `${openaiPaths.models}/`;

class MockTransport implements Transport {
  readonly #failures = new Map<string, number>();

  send(outgoing: Outgoing, listener: UpstreamListener): UpstreamCall {
    const body = uploads.has(outgoing.url.pathname) ? undefined : parseBody(outgoing.body);
    const asked = readKnobs(body?.model);
    const { knobs } = asked;
    const answer = this.#failureFor(asked) ?? answerTo(outgoing, body, knobs);
    const headers = ['content-type', answer.type, 'x-request-id', `mock-${Math.random().toString(36).slice(2, 10)}`];
    if (answer.status >= 400 && knobs.retry_after >= 0) headers.push('retry-after', String(knobs.retry_after));
    return new Player({
      status: answer.status,
      headers,
      pieces: knobs.cut > 0 ? recut(answer.pieces, knobs.cut) : answer.pieces,
      latencyMs: knobs.latency_ms,
      pieceMs: knobs.chunk_ms,
      breakAfter: knobs.break_after,
    }, listener);
  }

  #failureFor({ knobs, key, fault }: Asked): Answer | undefined {
    if (fault !== undefined) return refusal('model', fault);
    if (knobs.fail_first === 0) return knobs.status < 400 ? undefined : failure(knobs.status, `status ${knobs.status} was asked for`, 'mock_failure');
    const count = (this.#failures.get(key) ?? 0) + 1;
    if (count > knobs.fail_first) return undefined;
    const oldest = this.#failures.keys().next();
    if (count === 1 && this.#failures.size >= keysMax && oldest.done !== true) this.#failures.delete(oldest.value);
    this.#failures.set(key, count);
    return failure(knobs.status < 400 ? 503 : knobs.status, `failure ${count} of ${knobs.fail_first} that were asked for`, 'mock_failure');
  }
}

function answerTo(outgoing: Outgoing, body: Body | undefined, knobs: Knobs): Answer {
  const path = outgoing.url.pathname;
  if (outgoing.method === 'GET' && path === openaiPaths.models) return models();
  if (outgoing.method === 'GET' && path.startsWith(modelPrefix)) {
    const id = decoded(path.slice(modelPrefix.length));
    return id === undefined || id === '' ? notFound(outgoing) : model(id);
  }
  if (outgoing.method !== 'POST') return notFound(outgoing);
  if (uploads.has(path)) return json(200, { text: `${outgoing.body?.length ?? 0} bytes of audio` });
  const post = posts.get(path);
  if (post === undefined) return notFound(outgoing);
  return body === undefined ? failure(400, 'the request body is not a JSON object', 'invalid_body') : post(body, knobs);
}

const notFound = (outgoing: Outgoing): Answer => failure(404, `the mock has no ${outgoing.method} ${outgoing.url.pathname.slice(0, 200)}`, 'not_found');

/** Undefined when the escapes are not UTF-8. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // No model is called so.
    return undefined;
  }
}

export default defineProvider({
  title: 'Mock',
  describe: 'Answers without a network or an account: echoes, streams, calls tools, embeds, and fails on request.',
  baseUrl: '',
  auth: { type: 'none' },
  params: { type: 'object', properties: {} },
  endpoints: {
    chatCompletions: { path: openaiPaths.chatCompletions, streamUsage: 'stream_options' },
    completions: { path: openaiPaths.completions, streamUsage: 'stream_options' },
    embeddings: openaiPaths.embeddings,
    moderations: openaiPaths.moderations,
    rerank: openaiPaths.rerank,
    imageGenerations: openaiPaths.imageGenerations,
    speech: openaiPaths.speech,
    transcriptions: openaiPaths.transcriptions,
    translations: openaiPaths.translations,
    models: openaiPaths.models,
  },
  transport: () => new MockTransport(),
});
