// The tools a scenario measures with: the generator, wrk, CPU and memory of the subject around them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child, sleep } from './children.js';
import { parseFigures, type Figures } from './figures.js';
import { fillerMark, type GeneratorTask } from './generator-task.js';
import { governedKey } from './governed-call.js';
import { countInstructions, type Instructions } from './hardware-counters.js';
import { findProgram } from './machine.js';
import { probed } from './probe.js';
import { residentMib } from './process-figures.js';
import { gatewayKey, subjectCpuUs, subjectPids, type Subject, type Surroundings } from './subjects.js';

const path = '/v1/chat/completions';

/** What is asked for: the model says what the provider answers, `config` what the gateway does with it. */
export interface Load {
  readonly model: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly isStream?: true;
  /** By a key with stored rows, where the subject has a control plane: `config` is stored, and limits and policies bind the call. */
  readonly isGoverned?: true;
}

type TaskPart = Partial<GeneratorTask> & Pick<GeneratorTask, 'mode' | 'connections' | 'deadlineMs'>;

const plainLoad: Load = { model: 'bench', config: {} };
const marginMs = 15_000;
const rampStepMs = 10;
const warmupSeconds = 0.5;
const pacedConnections = 64;
const startsConnections = 16;
/** Busy streams run this much longer than what starts beside them. */
const startsMarginMs = 300;

export class Measure {
  readonly around: Surroundings;
  readonly #config: Readonly<Record<string, unknown>>;
  readonly #wrk = findProgram('wrk');
  #capacity = Infinity;

  constructor(around: Surroundings) {
    this.around = around;
    this.#config = {
      provider: 'openai',
      api_key: 'sk-bench',
      custom_host: `http://127.0.0.1:${around.upstreamPort}/v1`,
      retry: { attempts: 2 },
    };
  }

  /** `config`: members of the gateway's config beside the usual ones; other subjects do not look at it. */
  #headers(config: Readonly<Record<string, unknown>> = {}): Record<string, string> {
    return {
      'content-type': 'application/json',
      'x-gateway-api-key': gatewayKey,
      'x-gateway-config': JSON.stringify({ ...this.#config, ...config }),
    };
  }

  /** `load` as `subject` is asked for it. */
  async #headersOf(subject: Subject, load: Load): Promise<Record<string, string>> {
    if (load.isGoverned !== true || !subject.isGateway) return this.#headers(load.config);
    return { 'content-type': 'application/json', 'x-gateway-api-key': await governedKey(subject, this.around.upstreamPort, load.config) };
  }

  get rateTool(): string {
    return this.#wrk === null ? 'own generator' : 'wrk';
  }

  /** One plain request, to fail early and clearly when a subject does not answer as it must. */
  async probe(subject: Subject, timeoutMs = 10_000): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${subject.port}${path}`, {
      method: 'POST',
      headers: this.#headers(),
      body: chatBody('bench', false).replace(fillerMark, ''),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    if (response.status !== 200 || !text.includes('"chat.completion"')) {
      throw new Error(`${subject.name} answers the bench's request with status ${response.status}: ${text.slice(0, 500)}`);
    }
  }

  /** Requests per second over `connections`, and what each cost the subject's processes in CPU time. */
  async rate(subject: Subject, connections: number, seconds: number, load: Load = plainLoad): Promise<Figures> {
    const wrk = this.#wrk;
    // What a load needs to be there is no part of it.
    await this.#headersOf(subject, load);
    const { result: { figures, probe }, instructions } = await countInstructions(subjectPids(subject), () => probed(subject, async (): Promise<Figures> => {
      const cpuBeforeUs = subjectCpuUs(subject);
      const made = wrk === null ? await this.loop(subject, connections, seconds, false, load) : await this.#runWrk(wrk, subject, connections, seconds, load);
      return { ...made, cpuUs: (subjectCpuUs(subject) - cpuBeforeUs) / (made['requests'] ?? NaN) };
    }));
    const requests = figures['requests'] ?? NaN;
    const allocatedBytes = (probe['allocatedBytes'] ?? NaN) / requests;
    const externalBytes = (probe['externalBytes'] ?? NaN) / requests;
    return { ...figures, allocatedBytes, externalBytes, capacity: 1e6 / (figures['cpuUs'] ?? NaN), ...inThousands(instructions, requests) };
  }

  /** Without warm-up every request counts, which the CPU time of a whole run is divided by. */
  async loop(subject: Subject, connections: number, seconds: number, hasWarmup: boolean, load: Load = plainLoad): Promise<Figures> {
    return this.#generate(subject, {
      mode: 'loop',
      connections,
      headers: await this.#headersOf(subject, load),
      body: chatBody(load.model, false),
      warmupMs: hasWarmup ? warmupSeconds * 1000 : 0,
      durationMs: seconds * 1000,
      deadlineMs: seconds * 1000 + marginMs,
    });
  }

  /** Exactly `requests` of them over `connections`, however long they take. */
  async count(subject: Subject, connections: number, requests: number, load: Load, fillerBytes: number, timeoutMs: number): Promise<Figures> {
    const figures = await this.#generate(subject, {
      mode: 'loop',
      connections,
      headers: await this.#headersOf(subject, load),
      body: chatBody(load.model, load.isStream === true),
      fillerBytes,
      requestsMax: requests,
      durationMs: timeoutMs,
      deadlineMs: timeoutMs,
    });
    if (figures['requests'] !== requests) throw new Error(`${subject.name} answered ${figures['requests']} of ${requests} requests within ${timeoutMs} ms`);
    return figures;
  }

  /** One short stream after another over one connection: what the first token costs, with many samples. */
  async firstToken(subject: Subject, seconds: number): Promise<Figures> {
    const figures = await this.#generate(subject, {
      mode: 'loop',
      connections: 1,
      body: chatBody('bench-events3-rate0', true),
      warmupMs: warmupSeconds * 1000,
      durationMs: seconds * 1000,
      deadlineMs: seconds * 1000 + marginMs,
    });
    return {
      firstTokenP50Us: figures['firstByteP50Us'] ?? NaN,
      firstTokenP99Us: figures['firstByteP99Us'] ?? NaN,
      badStatus: figures['badStatus'] ?? NaN,
      failed: figures['failed'] ?? NaN,
    };
  }

  /** The rate that the slowest of all subjects carries; what a scenario offers them has to be the same for all. */
  noteCapacity(figures: Figures): void {
    this.#capacity = Math.min(this.#capacity, figures['requestsPerSecond'] ?? Infinity);
  }

  get capacity(): number {
    return Number.isFinite(this.#capacity) ? this.#capacity : NaN;
  }

  /** Requests at a fixed rate, timed from when they fell due, and what the subject's loop did meanwhile. */
  async paced(subject: Subject, requestsPerSecond: number, seconds: number): Promise<Figures> {
    const { figures, probe } = await probed(subject, () => this.#generatePaced(subject, requestsPerSecond, seconds, pacedConnections, chatBody('bench', false)));
    return { ...figures, ...probe };
  }

  /** Short streams that start at a fixed rate, while `busy` of them run. */
  async startsUnder(subject: Subject, busy: number, eventsPerSecond: number, startsPerSecond: number, seconds: number): Promise<Figures> {
    const perRampStep = 20;
    const rampMs = Math.ceil(busy / perRampStep) * rampStepMs;
    const [streams, starts] = await Promise.all([
      this.streams(subject, busy, eventsPerSecond, seconds + rampMs / 1000 + 2 * startsMarginMs / 1000 + warmupSeconds, perRampStep),
      sleep(rampMs + startsMarginMs).then(() => this.#generatePaced(subject, startsPerSecond, seconds, startsConnections, chatBody('bench-events3-rate0', true))),
    ]);
    return { ...streams, firstByteP50Us: starts['firstByteP50Us'] ?? NaN, firstByteP99Us: starts['firstByteP99Us'] ?? NaN, badStatus: (streams['badStatus'] ?? 0) + (starts['badStatus'] ?? 0), failed: starts['failed'] ?? NaN };
  }

  #generatePaced(subject: Subject, requestsPerSecond: number, seconds: number, connections: number, body: string): Promise<Figures> {
    return this.#generate(subject, {
      mode: 'paced',
      connections,
      requestsPerSecond,
      body,
      warmupMs: warmupSeconds * 1000,
      durationMs: seconds * 1000,
      deadlineMs: seconds * 1000 + marginMs,
    });
  }

  async burst(subject: Subject, connections: number, fillerBytes: number, delayMs: number): Promise<Figures> {
    return this.#generate(subject, {
      mode: 'burst',
      connections,
      fillerBytes,
      body: chatBody(`bench-delay${delayMs}`, false),
      connectionsPerRampStep: 50,
      deadlineMs: delayMs + 30_000,
    });
  }

  async streams(subject: Subject, streams: number, eventsPerSecond: number, seconds: number, perRampStep: number, config: Load['config'] = {}): Promise<Figures> {
    const events = Math.ceil(eventsPerSecond * seconds);
    const rampMs = Math.ceil(streams / perRampStep) * rampStepMs;
    const { result: figures, instructions } = await countInstructions(subjectPids(subject), () => this.#timed(subject, {
      mode: 'streams',
      connections: streams,
      headers: this.#headers(config),
      body: chatBody(`bench-events${events}-rate${eventsPerSecond}`, true),
      connectionsPerRampStep: perRampStep,
      eventsExpected: events,
      // A subject that carries a third of the rate is still measured; a slower one is cut off and shows unfinished streams.
      deadlineMs: rampMs + Math.ceil(seconds * 3000) + marginMs,
      steadyFromMs: rampMs + 200,
      steadyUntilMs: seconds * 1000 - 50,
    }));
    const received = figures['events'] ?? NaN;
    return { ...figures, cpuPerEventUs: (figures['spentUs'] ?? NaN) / received, ...inThousands(instructions, received) };
  }

  async #timed(subject: Subject, task: TaskPart): Promise<Figures> {
    const cpuBeforeUs = subjectCpuUs(subject);
    const figures = await this.#generate(subject, task);
    return { ...figures, spentUs: subjectCpuUs(subject) - cpuBeforeUs };
  }

  /** Runs `work` and returns the highest resident memory of the subject seen meanwhile. */
  async peakMib(subject: Subject, work: () => Promise<Figures>): Promise<{ readonly figures: Figures; readonly peakMib: number }> {
    const pids = subjectPids(subject);
    let peakMib = residentMib(pids);
    const timer = setInterval(() => (peakMib = Math.max(peakMib, residentMib(pids))), 25);
    try {
      return { figures: await work(), peakMib: Math.max(peakMib, residentMib(pids)) };
    } finally {
      clearInterval(timer);
    }
  }

  async settledMib(subject: Subject, afterMs: number): Promise<number> {
    await sleep(afterMs);
    return residentMib(subjectPids(subject));
  }

  async #generate(subject: Subject, task: TaskPart): Promise<Figures> {
    const whole: GeneratorTask = {
      port: subject.port,
      path,
      headers: this.#headers(),
      body: chatBody('bench', false),
      fillerBytes: 0,
      warmupMs: 0,
      durationMs: 0,
      requestsMax: 0,
      requestsPerSecond: 0,
      connectionsPerRampStep: 64,
      rampStepMs,
      eventsExpected: 0,
      steadyFromMs: 0,
      steadyUntilMs: 0,
      ...task,
    };
    const child = new Child(process.execPath, [join(import.meta.dirname, 'generator.js'), JSON.stringify(whole)], { core: 'generator' });
    return parseFigures(await child.finish(whole.deadlineMs + marginMs));
  }

  async #runWrk(program: string, subject: Subject, connections: number, seconds: number, load: Load): Promise<Figures> {
    const script = join(this.around.temporaryDirectory, 'request.lua');
    const headers = Object.entries(await this.#headersOf(subject, load)).map(([name, value]) => `wrk.headers["${name}"] = [==[${value}]==]`);
    writeFileSync(script, ['wrk.method = "POST"', `wrk.body = [==[${chatBody(load.model, false).replace(fillerMark, '')}]==]`, ...headers].join('\n'));
    const wholeSeconds = Math.max(1, Math.round(seconds));
    const child = new Child(
      program,
      ['-t1', `-c${connections}`, `-d${wholeSeconds}s`, '--latency', '-s', script, `http://127.0.0.1:${subject.port}${path}`],
      { core: 'generator' },
    );
    return readWrk(await child.finish(wholeSeconds * 1000 + marginMs));
  }
}

const inThousands = ({ user, kernel }: Instructions, count: number): Figures => ({ instructions: (user + kernel) / count / 1000, userInstructions: user / count / 1000 });

export function chatBody(model: string, isStream: boolean): string {
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: `Say something about gateways, in about a hundred words, plainly and without a list. ${fillerMark}` },
  ];
  return JSON.stringify({ model, messages, temperature: 0.7, max_tokens: 256, ...(isStream ? { stream: true } : {}) });
}

const unitUs: Readonly<Record<string, number>> = { us: 1, ms: 1000, s: 1_000_000, m: 60_000_000 };

function readWrk(text: string): Figures {
  const number = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? NaN);
  const percentile = (name: string): number => {
    const match = new RegExp(`^\\s*${name}%\\s+([\\d.]+)(us|ms|s|m)\\s*$`, 'm').exec(text);
    return match === null ? NaN : Number(match[1]) * (unitUs[match[2] ?? ''] ?? NaN);
  };
  const requests = number(/(\d+) requests in/);
  if (Number.isNaN(requests)) throw new Error(`wrk said something unexpected: ${text.slice(0, 500)}`);
  const socketErrors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text);
  return {
    requests,
    requestsPerSecond: number(/Requests\/sec:\s+([\d.]+)/),
    failed: socketErrors === null ? 0 : socketErrors.slice(1).reduce((sum, count) => sum + Number(count), 0),
    badStatus: Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0),
    p50Us: percentile('50'),
    p99Us: percentile('99'),
  };
}
