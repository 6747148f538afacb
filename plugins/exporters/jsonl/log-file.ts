// A file that only grows, shared by the threads and processes that append to it, and set aside when it is full. Each line goes out in one
// append, so lines of several writers never mix; who finds the file replaced opens the new one.

import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bytes given to one append: Node splits larger ones, and then another writer's line could come in between. */
const appendBytesMax = 256 * 1024;
/** A rotation that died gives the lock back after this long. */
const lockMs = 10_000;
const fileMode = 0o600;
const folderMode = 0o700;
const newline = 0x0a;

export interface LogFileOptions {
  readonly path: string;
  readonly bytesMax: number;
  /** Full files kept beside the current one: `<path>.1` is the newest. */
  readonly filesMax: number;
  readonly now: () => number;
}

/** Codes of a disk, a quota or a limit that is used up: there may be room again later. */
const noRoom: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

export class LogFileFault extends Error {
  readonly isNoRoom: boolean;

  constructor(path: string, cause: unknown) {
    super(`the log file ${path} cannot be written (${cause instanceof Error ? cause.message : String(cause)}); give another path`, { cause });
    this.isNoRoom = noRoom.includes(codeOf(cause));
  }
}

export class LogFile {
  #file: FileHandle | undefined = undefined;

  constructor(readonly options: LogFileOptions) {}

  /** Rejects with one sentence when the file cannot be written. */
  async open(): Promise<void> {
    try {
      await this.#current();
    } catch (thrown) {
      throw new LogFileFault(this.options.path, thrown);
    }
  }

  /** Appends whole lines. Rejects when the disk refuses them; some of them may be written then. */
  async append(lines: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const pieces = cut(lines);
    let bytes = 0;
    for (const piece of pieces) bytes += piece.length;
    const file = await this.#ready(bytes);
    if (await isCutOff(file)) await file.appendFile('\n');
    for (const piece of pieces) {
      signal.throwIfAborted();
      await file.appendFile(piece);
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  /** The current file, open, with room for `bytes` more where that is possible at all. */
  async #ready(bytes: number): Promise<FileHandle> {
    let file = await this.#current();
    const { size } = await file.stat();
    if (size > 0 && size + bytes > this.options.bytesMax && await this.#rotate()) file = await this.#current();
    return file;
  }

  async #current(): Promise<FileHandle> {
    const { path } = this.options;
    const there = await stat(path).catch(onlyMissing);
    if (this.#file !== undefined && there !== undefined && (await this.#file.stat()).ino === there.ino) return this.#file;
    await this.close();
    if (there === undefined) await mkdir(dirname(path), { recursive: true, mode: folderMode });
    const file = await open(path, 'a+', fileMode);
    this.#file = file;
    return file;
  }

  /** False: another writer rotates just now. */
  async #rotate(): Promise<boolean> {
    const { path, filesMax, now } = this.options;
    const lockPath = `${path}.lock`;
    const lock = await open(lockPath, 'wx', fileMode).catch((thrown: unknown) => {
      if (codeOf(thrown) === 'EEXIST') return undefined;
      throw thrown;
    });
    if (lock === undefined) {
      const held = await stat(lockPath).catch(onlyMissing);
      if (held !== undefined && now() - held.mtimeMs > lockMs) await rm(lockPath, { force: true });
      return false;
    }
    try {
      // Another writer may have rotated between our look and our lock.
      const there = await stat(path).catch(onlyMissing);
      if (there === undefined || there.ino !== (await this.#file?.stat())?.ino) return true;
      await rm(`${path}.${filesMax}`, { force: true });
      for (let index = filesMax - 1; index >= 1; index -= 1) await rename(`${path}.${index}`, `${path}.${index + 1}`).catch(onlyMissing);
      if (filesMax === 0) await rm(path, { force: true });
      else await rename(path, `${path}.1`);
      return true;
    } finally {
      await lock.close();
      await rm(lockPath, { force: true });
    }
  }
}

/** The last line of a writer that was killed, or had no room for all of it, is cut off: ours must not be glued to it. */
async function isCutOff(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  return size > 0 && (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer[0] !== newline;
}

/** Lines joined into pieces of at most `appendBytesMax`, where one line is not longer than that. */
function cut(lines: readonly string[]): Buffer[] {
  const pieces: Buffer[] = [];
  let text = '';
  for (const line of lines) {
    // A UTF-16 unit takes at most 3 bytes.
    if (text !== '' && (text.length + line.length + 1) * 3 > appendBytesMax) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    text += `${line}\n`;
  }
  if (text !== '') pieces.push(Buffer.from(text));
  return pieces;
}

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined);

/** For a file that may be missing; every other failure stays one. */
function onlyMissing(thrown: unknown): undefined {
  if (codeOf(thrown) !== 'ENOENT') throw thrown;
}
