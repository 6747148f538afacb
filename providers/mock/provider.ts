import { defineProvider, openaiPaths, type Outgoing, type Transport, type UpstreamCall, type UpstreamListener } from '@gateway/plugin-sdk';
import { answerTo, completion, completionEvents, textCompletion, textCompletionEvents, textOf, type Body } from './chat.js';
import { embeddings, images, model, models, moderations, rerank, wave } from './endpoints.js';
import { readKnobs, type Knobs } from './knobs.js';
import { Player } from './player.js';

/** Distinct keys of `fail_first` that are remembered. */
const keysMax = 10_000;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly pieces: Iterator<Uint8Array>;
}

const json = (status: number, value: unknown): Answer => ({ status, type: 'application/json', pieces: [Buffer.from(JSON.stringify(value))].values() });
const failure = (status: number, message: string, code: string): Answer =>
  json(status, { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code } });

function* sse(events: Iterable<string>): Generator<Uint8Array> {
  for (const event of events) yield Buffer.from(`data: ${event}\n\n`);
}

/** The same bytes in pieces of `size`. */
function* recut(pieces: Iterator<Uint8Array>, size: number): Generator<Uint8Array> {
  for (let step = pieces.next(); step.done !== true; step = pieces.next()) {
    for (let at = 0; at < step.value.length; at += size) yield step.value.subarray(at, at + size);
  }
}

class MockTransport implements Transport {
  readonly #failed = new Map<string, number>();

  send(outgoing: Outgoing, listener: UpstreamListener): UpstreamCall {
    const body = parse(outgoing);
    const { knobs, key, fault } = readKnobs(body.model);
    const answer = fault === undefined ? this.#answer(outgoing, body, knobs, key) : failure(400, fault, 'invalid_knob');
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

  #answer(outgoing: Outgoing, body: Body, knobs: Knobs, key: string): Answer {
    if (knobs.fail_first > 0) {
      const failed = this.#failed.get(key) ?? 0;
      if (failed < knobs.fail_first) {
        if (this.#failed.size >= keysMax) this.#failed.clear();
        this.#failed.set(key, failed + 1);
        return failure(knobs.status === 200 ? 503 : knobs.status, `failure ${failed + 1} of ${knobs.fail_first} that were asked for`, 'mock_failure');
      }
    } else if (knobs.status >= 400) {
      return failure(knobs.status, `status ${knobs.status} was asked for`, 'mock_failure');
    }
    const path = outgoing.url.pathname;
    if (outgoing.method === 'GET' && path === openaiPaths.models) return json(200, models());
    if (outgoing.method === 'GET' && path.startsWith(`${openaiPaths.models}/`)) return json(200, model(decodeURIComponent(path.slice(openaiPaths.models.length + 1))));
    if (outgoing.method !== 'POST') return notFound(outgoing);
    switch (path) {
      case openaiPaths.chatCompletions: {
        const said = answerTo(body, knobs);
        return body.stream === true
          ? { status: 200, type: 'text/event-stream; charset=utf-8', pieces: sse(completionEvents(body, said, knobs)) }
          : json(200, completion(body, said));
      }
      case openaiPaths.completions: {
        const said = answerTo({ ...body, messages: [{ role: 'user', content: textOf(Array.isArray(body.prompt) ? String(body.prompt[0]) : body.prompt) }] }, knobs);
        return body.stream === true
          ? { status: 200, type: 'text/event-stream; charset=utf-8', pieces: sse(textCompletionEvents(body, said, knobs)) }
          : json(200, textCompletion(body, said));
      }
      case openaiPaths.embeddings: return json(200, embeddings(body));
      case openaiPaths.moderations: return json(200, moderations(body));
      case openaiPaths.rerank: return json(200, rerank(body));
      case openaiPaths.imageGenerations: return json(200, images(body));
      case openaiPaths.speech: return { status: 200, type: 'audio/wav', pieces: [wave()].values() };
      case openaiPaths.transcriptions:
      case openaiPaths.translations: return json(200, { text: `${outgoing.body?.length ?? 0} bytes of audio` });
      default: return notFound(outgoing);
    }
  }
}

const notFound = (outgoing: Outgoing): Answer => failure(404, `the mock has no ${outgoing.method} ${outgoing.url.pathname}`, 'not_found');

function parse(outgoing: Outgoing): Body {
  if (outgoing.body === undefined) return {};
  try {
    const value: unknown = JSON.parse(Buffer.from(outgoing.body).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Body : {};
  } catch {
    // An upload: the mock looks at its length alone.
    return {};
  }
}

export default defineProvider({
  title: 'Mock',
  describe: 'Answers without a network or an account: echoes, streams, calls tools, embeds, and fails on request.',
  baseUrl: '',
  auth: { type: 'none' },
  params: { type: 'object', properties: {} },
  endpoints: {
    chatCompletions: openaiPaths.chatCompletions,
    completions: openaiPaths.completions,
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
