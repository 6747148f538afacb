// A listener that remembers what it was told, and tells when.

import type { UpstreamListener } from '@gateway/plugin-sdk';

/** What is waited for here comes within milliseconds, unless the machine is busy; a test that would hang says so instead. */
const patienceMs = 60_000;

/** Resolves when `test` holds; it is looked at whenever somebody calls what is in `waiting`. */
export function happened(waiting: Set<() => void>, test: () => boolean): Promise<void> {
  const late = new Error(`did not happen within ${patienceMs} ms: ${String(test)}`);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(check);
      reject(late);
    }, patienceMs);
    const check = (): void => {
      if (!test()) return;
      waiting.delete(check);
      clearTimeout(timer);
      resolve();
    };
    waiting.add(check);
    check();
  });
}

export class Heard implements UpstreamListener {
  status = 0;
  headers: readonly string[] = [];
  readonly chunks: Uint8Array[] = [];
  /** `head`, `chunk`, `end` and error codes, in order. */
  readonly story: string[] = [];
  error: Error | null = null;
  /** For tests that act inside the callbacks. */
  whenHead: (() => void) | null = null;
  whenChunk: (() => void) | null = null;
  readonly #waiting = new Set<() => void>();

  get text(): string {
    return Buffer.concat(this.chunks).toString('latin1');
  }

  get bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  get isOver(): boolean {
    const last = this.story.at(-1);
    return last !== undefined && last !== 'head' && last !== 'chunk';
  }

  onHead(status: number, headers: readonly string[]): void {
    this.status = status;
    this.headers = headers;
    this.#tell('head');
    this.whenHead?.();
  }

  onChunk(chunk: Uint8Array): void {
    // A copy: chunks are only lent.
    this.chunks.push(Buffer.from(chunk));
    if (this.story.at(-1) !== 'chunk') this.story.push('chunk');
    this.#wake();
    this.whenChunk?.();
  }

  onEnd(): void {
    this.#tell('end');
  }

  onError(error: Error): void {
    this.error = error;
    this.#tell('code' in error ? String(error.code) : error.name);
  }

  /** Resolves when `test` holds. */
  until(test: () => boolean): Promise<void> {
    return happened(this.#waiting, test);
  }

  over(): Promise<void> {
    return this.until(() => this.isOver);
  }

  #tell(what: string): void {
    this.story.push(what);
    this.#wake();
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }
}
