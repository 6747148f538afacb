// A provider with a wire format of its own. Chat completions are the pivot: `request` gets a chat body, `response` and the stage give chat
// back; clients that speak messages or responses are translated by the host.

import {
  chatCompletion, ChatStreamWriter, defineProvider, isObject, ProviderError, readMaxTokens, readTurns, textOf, type EventSink, type EventStage,
  type Json, type JsonObject, type ProviderCall, type ProviderFault, type SseEvent, type Turn,
} from '@gateway/plugin-sdk';

const unsupported = ['tools', 'tool_choice', 'functions', 'response_format', 'logprobs', 'stop'] as const;
const hints = ['user', 'seed', 'metadata', 'store'] as const;

function request(body: JsonObject, call: ProviderCall): Json {
  // Without these the answer would mean something else: 400. Without the hints it would not: the client reads of them in a header.
  for (const name of unsupported) if (body[name] !== undefined && body[name] !== null) call.refuse(name, 'is not supported by this provider');
  if (body.n !== undefined && body.n !== null && body.n !== 1) call.refuse('n', 'must be 1 for this provider');
  for (const name of hints) if (body[name] !== undefined) call.report(name);
  const limit = readMaxTokens(body);
  return {
    engine: call.model,
    turns: readTurns(body, call).map((turn) => ({ by: speakerOf(turn, call), words: wordsOf(turn, call) })),
    live: call.isStream,
    ...(limit === undefined ? {} : { limit }),
    ...(body.temperature === undefined || body.temperature === null ? {} : { mood: body.temperature }),
  };
}

const speakers = { system: 'owner', user: 'human', assistant: 'parrot' } as const;

const speakerOf = (turn: Turn, call: ProviderCall): string => (turn.role === 'tool' ? call.refuse(turn.place, 'this provider has no tools') : speakers[turn.role]);

const wordsOf = (turn: Turn, call: ProviderCall): string =>
  turn.parts.map((part) => (part.kind === 'text' ? part.text : call.refuse(part.place, 'this provider takes text only'))).join('');

const finishOf = (why: Json | undefined): 'stop' | 'length' => (why === 'limit' ? 'length' : 'stop');
const countOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

function usageOf(spent: Json | undefined): { readonly input: number; readonly output: number } {
  return isObject(spent) ? { input: countOf(spent.heard), output: countOf(spent.said) } : { input: 0, output: 0 };
}

function response(answer: Json, call: ProviderCall): JsonObject {
  if (!isObject(answer)) throw new ProviderError('the response is not an object');
  return chatCompletion(call, {
    ...(typeof answer.squawk === 'string' ? { id: answer.squawk } : {}),
    choices: [{ text: textOf(answer.words), finish: finishOf(answer.why) }],
    usage: usageOf(answer.spent),
  });
}

/** `word` events with a text, one `over` event at the end; `broken` when the provider gives up in the middle. */
class ParrotStage implements EventStage {
  readonly #writer: ChatStreamWriter;

  constructor(call: ProviderCall) {
    this.#writer = new ChatStreamWriter(call);
  }

  push({ event, data }: SseEvent, out: EventSink): void {
    const told: Json = JSON.parse(data);
    if (!isObject(told)) return;
    switch (event) {
      case 'word':
        this.#writer.text(out, textOf(told.words));
        break;
      case 'over':
        this.#writer.finish(finishOf(told.why));
        this.#writer.usage(usageOf(told.spent));
        break;
      case 'broken':
        out.fail(new ProviderError(textOf(told.fault), { status: 503 }));
        break;
      default:
    }
  }

  /** Fails the stream when no `over` came: the client must not take it for a whole answer. */
  end(out: EventSink): void {
    this.#writer.end(out);
  }
}

function error(body: Json): ProviderFault | undefined {
  if (!isObject(body) || !isObject(body.fault)) return undefined;
  const { text, kind } = body.fault;
  return typeof text === 'string' ? { message: text, ...(typeof kind === 'string' ? { code: kind } : {}) } : undefined;
}

export default defineProvider({
  title: 'Parrot',
  describe: 'Chat in a format of its own, plain and streamed.',
  baseUrl: 'https://api.parrot.example/v2',
  auth: { type: 'header', name: 'x-parrot-key' },
  endpoints: {
    chatCompletions: {
      path: '/repeat',
      params: { temperature: { min: 0, max: 1 } },
      request,
      response,
      stream: (call) => new ParrotStage(call),
    },
  },
  error,
});
