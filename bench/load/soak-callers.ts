// The honest callers of the soak, a process of its own, so that what attackers cost their own process does not count as the gateway's. An open loop: calls begin at
// their times however long others take, and latency counts from the intended time. Reads commands on standard input, one JSON object a line
// ({"phase":"quiet","seconds":60}), and prints the figures of each phase as one line of JSON when all its calls have ended.

import { Agent, request as httpRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { Histogram } from './histogram.js';

export interface CallersTask {
  readonly port: number;
  readonly providerPort: number;
  readonly key: string;
  readonly callsPerSecond: number;
}

export interface PhaseFigures {
  readonly phase: string;
  readonly sent: number;
  /** Whole, status 200, and with the words that were asked. */
  readonly right: number;
  /** No end within the deadline. */
  readonly endless: number;
  readonly faults: readonly string[];
  readonly plainP50Us: number;
  readonly plainP99Us: number;
  readonly firstByteP99Us: number;
  readonly streamP99Us: number;
  readonly byKindP99Us: Readonly<Record<string, number>>;
}

interface Kind {
  readonly name: string;
  readonly weight: number;
  readonly path: string;
  readonly config: (providerPort: number) => Record<string, unknown>;
  /** `words` has to come back. */
  readonly body: (words: string) => Record<string, unknown>;
  readonly isStream: boolean;
  /** So many different questions there are; 0: each is new. */
  readonly questions: number;
}

const callDeadlineMs = 30_000;
const faultsMax = 20;

const openai = (port: number): Record<string, unknown> => ({ provider: 'openai', api_key: 'sk-soak', custom_host: `http://127.0.0.1:${port}/v1` });
const deepseek = (port: number): Record<string, unknown> => ({ provider: 'deepseek', api_key: 'sk-soak', custom_host: `http://127.0.0.1:${port}/v1` });
const anthropic = (port: number): Record<string, unknown> => ({ provider: 'anthropic', api_key: 'sk-soak', custom_host: `http://127.0.0.1:${port}/v1` });
const chat = (words: string): Record<string, unknown> => ({ model: 'echo', messages: [{ role: 'user', content: words }] });
const messages = (words: string): Record<string, unknown> => ({ ...chat(words), max_tokens: 100 });
const responses = (words: string): Record<string, unknown> => ({ model: 'echo', input: words });
const streamed = (make: (words: string) => Record<string, unknown>) => (words: string): Record<string, unknown> => ({ ...make(words), stream: true });
const checks = {
  input_guardrails: [{ regexMatch: { rule: 'forbidden-\\w+', not: true }, wordCount: { maxWords: 2000 }, deny: true }],
  output_guardrails: [{ pii: { redact: true } }],
};

const kinds: readonly Kind[] = [
  { name: 'chat', weight: 4, path: '/v1/chat/completions', config: openai, body: chat, isStream: false, questions: 0 },
  { name: 'chat stream', weight: 3, path: '/v1/chat/completions', config: openai, body: streamed(chat), isStream: true, questions: 0 },
  { name: 'messages', weight: 1, path: '/v1/messages', config: anthropic, body: messages, isStream: false, questions: 0 },
  { name: 'messages translated', weight: 2, path: '/v1/messages', config: openai, body: messages, isStream: false, questions: 0 },
  { name: 'messages stream', weight: 1, path: '/v1/messages', config: openai, body: streamed(messages), isStream: true, questions: 0 },
  { name: 'responses', weight: 2, path: '/v1/responses', config: deepseek, body: responses, isStream: false, questions: 0 },
  { name: 'responses stream', weight: 1, path: '/v1/responses', config: deepseek, body: streamed(responses), isStream: true, questions: 0 },
  { name: 'simple cache', weight: 3, path: '/v1/chat/completions', config: (port) => ({ ...openai(port), cache: { mode: 'simple', max_age: 600 } }), body: chat, isStream: false, questions: 50 },
  { name: 'cache stream', weight: 1, path: '/v1/chat/completions', config: (port) => ({ ...openai(port), cache: { mode: 'simple', max_age: 600 } }), body: streamed(chat), isStream: true, questions: 50 },
  { name: 'guardrails', weight: 3, path: '/v1/chat/completions', config: (port) => ({ ...openai(port), ...checks }), body: chat, isStream: false, questions: 0 },
  { name: 'guardrails stream', weight: 1, path: '/v1/chat/completions', config: (port) => ({ ...openai(port), ...checks }), body: streamed(chat), isStream: true, questions: 0 },
];
const deck = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
const questionText = (kind: Kind, number: number): string => `soak-${kind.name.replace(/ /g, '-')}-${kind.questions === 0 ? number : number % kind.questions}-end`;

class Phase {
  readonly #plain = new Histogram();
  readonly #firstByte = new Histogram();
  readonly #stream = new Histogram();
  readonly #byKind = new Map<string, Histogram>();
  readonly #faults: string[] = [];
  #sent = 0;
  #right = 0;
  #endless = 0;
  #open = 0;

  constructor(readonly name: string, readonly task: CallersTask, readonly agent: Agent) {}

  run(seconds: number): Promise<PhaseFigures> {
    const startedAtMs = performance.now();
    const total = Math.round(seconds * this.task.callsPerSecond);
    const periodMs = 1000 / this.task.callsPerSecond;
    return new Promise((resolve) => {
      const tick = (): void => {
        const dueCount = Math.min(total, Math.floor((performance.now() - startedAtMs) / periodMs));
        while (this.#sent < dueCount) this.#call(this.#sent, startedAtMs + this.#sent * periodMs);
        if (this.#sent < total || this.#open > 0) setTimeout(tick, 2);
        else resolve(this.#figures());
      };
      tick();
    });
  }

  #call(number: number, intendedAtMs: number): void {
    const kind = deck[number % deck.length] as Kind;
    const { port, providerPort, key } = this.task;
    const words = questionText(kind, number);
    this.#sent += 1;
    this.#open += 1;
    let isOver = false;
    const end = (fault: string | null): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      this.#open -= 1;
      if (fault !== null) {
        if (this.#faults.length < faultsMax) this.#faults.push(`${kind.name} ${number}: ${fault}`);
        return;
      }
      this.#right += 1;
      const tookUs = (performance.now() - intendedAtMs) * 1000;
      (kind.isStream ? this.#stream : this.#plain).record(tookUs);
      let own = this.#byKind.get(kind.name);
      if (own === undefined) this.#byKind.set(kind.name, own = new Histogram());
      own.record(tookUs);
    };
    const deadline = setTimeout(() => {
      this.#endless += 1;
      end('no end within the deadline');
      call.destroy();
    }, callDeadlineMs);
    const body = Buffer.from(JSON.stringify(kind.body(words)));
    const call = httpRequest({
      host: '127.0.0.1', port, path: kind.path, method: 'POST', agent: this.agent,
      headers: {
        'content-type': 'application/json', 'content-length': body.length, 'x-gateway-api-key': key,
        'x-gateway-config': JSON.stringify(kind.config(providerPort)), 'x-gateway-trace-id': `soak-${this.name}-${number}`,
      },
    }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        if (chunks.length === 0 && kind.isStream) this.#firstByte.record((performance.now() - intendedAtMs) * 1000);
        chunks.push(chunk);
      });
      response.on('error', (error) => end(error.message));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (response.statusCode !== 200) end(`status ${response.statusCode}: ${text.slice(0, 300)}`);
        else if (!text.includes(words)) end(`an answer without its words: ${text.slice(0, 300)}`);
        else if (kind.isStream && !/\[DONE\]|message_stop|response\.completed/.test(text)) end('a stream without its last event');
        else end(null);
      });
    });
    call.on('error', (error) => end(error.message));
    call.end(body);
  }

  #figures(): PhaseFigures {
    return {
      phase: this.name, sent: this.#sent, right: this.#right, endless: this.#endless, faults: this.#faults,
      plainP50Us: this.#plain.percentile(0.5), plainP99Us: this.#plain.percentile(0.99),
      firstByteP99Us: this.#firstByte.percentile(0.99), streamP99Us: this.#stream.percentile(0.99),
      byKindP99Us: Object.fromEntries([...this.#byKind].map(([name, histogram]) => [name, Math.round(histogram.percentile(0.99))])),
    };
  }
}

if (process.argv[2] !== undefined) {
  // Only the soak writes this text, with this very type.
  const task = JSON.parse(process.argv[2]) as CallersTask;
  const agent = new Agent({ keepAlive: true, maxSockets: 512, scheduling: 'fifo' });
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { phase, seconds } = JSON.parse(line) as { phase: string; seconds: number };
    void new Phase(phase, task, agent).run(seconds).then((figures) => process.stdout.write(`${JSON.stringify(figures)}\n`));
  });
  lines.on('close', () => process.exit(0));
}
