// What the fake provider answers, told by the value of `model` in the request body, because that is
// the one thing every proxy under test passes through untouched: `bench-size2000-delay5`,
// `bench-events400-rate100`, `bench-status503`. A recipe is made once for each distinct model value.

export type AnswerKind = 'chat' | 'embeddings' | 'models';

export interface Recipe {
  readonly status: number;
  readonly delayMs: number;
  /** 0 means a plain answer, anything else a stream of that many content events. */
  readonly events: number;
  /** 0 means as fast as the reader takes them. */
  readonly eventsPerSecond: number;
  /** Stream is cut without an end after this many events; 0 means never. */
  readonly cutAfterEvents: number;
  /** The whole plain answer, head and body, or the head and role event of a stream. */
  readonly opening: string | Buffer;
}

const stringAnswerBytesMax = 16_384;
const answerBytesMax = 64 * 1024 * 1024;

const streamHead =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n' +
  // nginx reads this header as "do not buffer this answer"; everyone else ignores it.
  'X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n';

const chunkPrefix =
  'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"bench","choices":[{"index":0,"delta":';

const eventBefore = `${chunkPrefix}{"content":"@`;
const eventAfter = '"},"finish_reason":null}]}\n\n';
const sequenceDigits = 8;
const timeDigits = 16;
const eventBytes = eventBefore.length + sequenceDigits + 1 + timeDigits + eventAfter.length;
const framedBefore = `${eventBytes.toString(16)}\r\n${eventBefore}`;
const framedAfter = `${eventAfter}\r\n`;

function frame(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** One content event, chunk framing included. All events have one length, so the framing is constant. */
export function contentEvent(sequence: number, sentAtUs: string): string {
  return framedBefore + String(sequence).padStart(sequenceDigits, '0') + '@' + sentAtUs + framedAfter;
}

/** The clock of the events: microseconds of the machine's monotonic clock, which all processes share. */
export function eventTime(): string {
  return (process.hrtime.bigint() / 1000n).toString().padStart(timeDigits, '0');
}

export function streamEnding(events: number): string {
  const stop = `${chunkPrefix}{},"finish_reason":"stop"}],"usage":{"prompt_tokens":16,"completion_tokens":${events},"total_tokens":${16 + events}}}\n\n`;
  return `${frame(stop)}${frame('data: [DONE]\n\n')}0\r\n\r\n`;
}

function plainAnswer(status: number, body: string): string | Buffer {
  const reason = status < 400 ? 'OK' : 'Error';
  const answer = `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  return answer.length > stringAnswerBytesMax ? Buffer.from(answer, 'latin1') : answer;
}

/** `model`: as it was asked for; another one would be a note about the price in each record. `isJson`: the answer is a JSON object of that size, for checks that look for one. */
function chatBody(sizeBytes: number, model: string, isJson: boolean): string {
  const make = (content: string): string =>
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created: 1_700_000_000,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 16, completion_tokens: 32, total_tokens: 48 },
    });
  if (isJson) return make(JSON.stringify({ title: 'gateways', year: 2024, tags: ['proxy', 'model'], text: 'word '.repeat(Math.ceil(sizeBytes / 5)).slice(0, Math.max(1, sizeBytes - make('').length - 90)) }));
  return make('word '.repeat(Math.ceil(sizeBytes / 5)).slice(0, Math.max(1, sizeBytes - make('').length)));
}

function embeddingsBody(dimensions: number): string {
  const embedding = Array.from({ length: dimensions }, (_, index) => Number(Math.sin(index + 1).toFixed(6)));
  return JSON.stringify({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding }],
    model: 'bench',
    usage: { prompt_tokens: 16, total_tokens: 16 },
  });
}

function errorBody(status: number): string {
  return JSON.stringify({ error: { message: `the bench asked for status ${status}`, type: 'bench_error', param: null, code: null } });
}

const modelsBody = JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model', created: 1_700_000_000, owned_by: 'bench' }] });

export function makeRecipe(kind: AnswerKind, model: string): Recipe {
  const knobs = new Map<string, number>();
  for (const match of model.matchAll(/-([a-z]+)(\d{1,9})/g)) knobs.set(match[1] ?? '', Number(match[2]));
  const knob = (name: string, otherwise: number): number => knobs.get(name) ?? otherwise;
  const status = knob('status', 200);
  const events = kind === 'chat' && status === 200 ? knob('events', 0) : 0;
  const size = Math.min(knob('size', 700), answerBytesMax);
  let opening: string | Buffer;
  if (status !== 200) opening = plainAnswer(status, errorBody(status));
  else if (events > 0) opening = streamHead + frame(`${chunkPrefix}{"role":"assistant","content":""},"finish_reason":null}]}\n\n`);
  else if (kind === 'chat') opening = plainAnswer(200, chatBody(size, model || 'bench', knob('json', 0) === 1));
  else if (kind === 'embeddings') opening = plainAnswer(200, embeddingsBody(Math.min(knob('dimensions', 256), 8192)));
  else opening = plainAnswer(200, modelsBody);
  return {
    status,
    delayMs: knob('delay', 0),
    events,
    eventsPerSecond: knob('rate', 0),
    cutAfterEvents: knob('cut', 0),
    opening,
  };
}
