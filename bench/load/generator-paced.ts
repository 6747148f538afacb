// The generator's requests at a fixed rate, whatever becomes of the answers (an open loop): who has to wait for a connection has his waiting
// counted. A request's time begins when the wheel takes it off the schedule; how late the wheel itself was is told beside it.
import { connect, type Socket } from 'node:net';
import type { Figures } from './figures.js';
import { requestBytes, type GeneratorTask } from './generator-task.js';
import { Histogram } from './histogram.js';
import { ResponseReader } from './response-reader.js';
import { Schedule } from './schedule.js';

const readBuffer = Buffer.allocUnsafe(256 * 1024);
const tickMs = 1;
/** Requests that wait for a connection; a subject so far behind is not measured further. */
const waitingMax = 100_000;

class Line {
  readonly socket: Socket;
  isBusy = true;
  dueAtMs = 0;
  hasBody = false;

  constructor(port: number, readonly run: PacedRun) {
    const reader = new ResponseReader({ onBody: () => run.onBody(this), onEnd: () => run.onEnd(this, reader.status) });
    this.socket = connect({
      port, host: '127.0.0.1', noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (length) => {
          reader.feed(readBuffer, length);
          return true;
        },
      },
    });
    this.socket.on('connect', () => run.onFree(this));
    // 'close' follows and counts the failure.
    this.socket.on('error', () => this.socket.destroy());
    this.socket.on('close', () => run.onClosed(this, reader.close()));
  }
}

class PacedRun {
  readonly #request: Buffer;
  readonly #schedule: Schedule;
  readonly #latencyUs = new Histogram();
  readonly #firstByteUs = new Histogram();
  readonly #lateUs = new Histogram();
  readonly #lines = new Set<Line>();
  readonly #free: Line[] = [];
  /** Times at which those fell due that wait for a connection; read from `#waitingFrom` on. */
  #waiting: number[] = [];
  #waitingFrom = 0;
  #open = 0;
  #sent = 0;
  #completed = 0;
  #failed = 0;
  #badStatus = 0;
  #waited = 0;
  #isOver = false;
  #startedAtMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(readonly task: GeneratorTask, readonly done: (figures: Figures) => void) {
    this.#request = requestBytes(task);
    this.#schedule = new Schedule(task.requestsPerSecond, (task.warmupMs + task.durationMs) / 1000);
    for (let index = 0; index < task.connections; index += 1) this.#lines.add(new Line(task.port, this));
    setTimeout(() => this.#finish(), task.deadlineMs);
  }

  onFree(line: Line): void {
    line.isBusy = false;
    this.#open += 1;
    this.#free.push(line);
    if (this.#open === this.task.connections && this.#startedAtMs === 0) {
      this.#startedAtMs = performance.now();
      this.#timer = setTimeout(this.#tick, tickMs);
    }
  }

  onBody(line: Line): void {
    if (line.hasBody) return;
    line.hasBody = true;
    if (this.#isRecorded(line)) this.#firstByteUs.record((performance.now() - line.dueAtMs) * 1000);
  }

  onEnd(line: Line, status: number): void {
    const nowMs = performance.now();
    line.isBusy = false;
    this.#completed += 1;
    if (status !== 200) this.#badStatus += 1;
    if (this.#isRecorded(line)) this.#latencyUs.record((nowMs - line.dueAtMs) * 1000);
    if (this.#waitingFrom < this.#waiting.length) {
      const dueAtMs = this.#waiting[this.#waitingFrom] ?? nowMs;
      this.#waitingFrom += 1;
      this.#send(line, dueAtMs);
    } else {
      this.#free.push(line);
    }
    if (this.#schedule.isOver && this.#completed + this.#failed >= this.#schedule.taken) this.#finish();
  }

  onClosed(line: Line, wasWhole: boolean): void {
    this.#lines.delete(line);
    if (this.#isOver) return;
    if (line.isBusy && !wasWhole) this.#failed += 1;
    const at = this.#free.indexOf(line);
    if (at >= 0) this.#free.splice(at, 1);
    if (this.#failed > 100) this.#finish();
    else this.#lines.add(new Line(this.task.port, this));
  }

  #isRecorded(line: Line): boolean {
    return line.dueAtMs >= this.#startedAtMs + this.task.warmupMs;
  }

  readonly #tick = (): void => {
    if (this.#isOver) return;
    const nowMs = performance.now();
    const due = this.#schedule.takeDue(nowMs - this.#startedAtMs);
    if (due > 0) this.#lateUs.record(Math.max(0, nowMs - this.#startedAtMs - this.#schedule.dueAtMs(this.#schedule.taken - due)) * 1000);
    for (let index = 0; index < due; index += 1) {
      const line = this.#free.pop();
      if (line === undefined) {
        this.#waited += 1;
        this.#waiting.push(nowMs);
      } else {
        this.#send(line, nowMs);
      }
    }
    if (this.#waitingFrom > waitingMax / 2) {
      this.#waiting = this.#waiting.slice(this.#waitingFrom);
      this.#waitingFrom = 0;
    }
    if (this.#waiting.length - this.#waitingFrom > waitingMax) this.#finish();
    else if (!this.#schedule.isOver) this.#timer = setTimeout(this.#tick, tickMs);
  };

  #send(line: Line, dueAtMs: number): void {
    line.isBusy = true;
    line.hasBody = false;
    line.dueAtMs = dueAtMs;
    this.#sent += 1;
    line.socket.write(this.#request);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const line of this.#lines) line.socket.destroy();
    this.done({
      requests: this.#completed,
      failed: this.#failed,
      badStatus: this.#badStatus,
      unfinished: this.#schedule.taken - this.#completed - this.#failed,
      waited: this.#waited,
      lateP99Us: this.#lateUs.percentile(0.99),
      p50Us: this.#latencyUs.percentile(0.5),
      p99Us: this.#latencyUs.percentile(0.99),
      p999Us: this.#latencyUs.percentile(0.999),
      maxUs: this.#latencyUs.maxUs,
      firstByteP50Us: this.#firstByteUs.percentile(0.5),
      firstByteP99Us: this.#firstByteUs.percentile(0.99),
    });
  }
}

export function runPaced(task: GeneratorTask): Promise<Figures> {
  return new Promise((resolve) => {
    new PacedRun(task, resolve);
  });
}
