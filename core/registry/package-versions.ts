// Copies of the packages that are given by path, one for each version of their files. A version in service is never touched again: calls that
// are open on it finish on its code, what it imports late and runs in workers included, while the files it came from change.
//
// Weighed and left: a query string on the address of the entry (its own imports would stay the old ones), and a loader hook that hands the
// query on (Node runs hooks on a thread of their own, through which every later import of the process then goes, and what is imported late
// would still come from the changed files).

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';

/** Folders with more than this are used where they are, and not reloaded. */
const filesMax = 2_000;
const bytesMax = 64 * 1024 * 1024;
const depthMax = 16;
/** Copies kept of one package: of older versions only what is loaded already still works. */
const versionsMax = 8;

export interface PackageFiles {
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly bytes: Buffer }[];
}

/** Sources, logs and what tools keep beside them: changing them changes no behaviour. */
export const isIgnored = (name: string): boolean => name === 'node_modules' || name.startsWith('.') || /\.(?:ts|tsbuildinfo|map|log)$/.test(name);

/** Everything in the folder that may be part of the package; undefined when that is too much. */
export function readFiles(folder: string): PackageFiles | undefined {
  const files: { path: string; bytes: Buffer }[] = [];
  let size = 0;
  const visit = (below: string, depth: number): boolean => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1))) {
      if (isIgnored(entry.name)) continue;
      const path = join(below, entry.name);
      if (entry.isDirectory()) {
        if (depth === depthMax || !visit(path, depth + 1)) return false;
      } else if (entry.isFile()) {
        const bytes = readFileSync(join(folder, path));
        files.push({ path, bytes });
        size += bytes.length;
        if (files.length > filesMax || size > bytesMax) return false;
      }
    }
    return true;
  };
  if (!visit('', 0)) return undefined;
  const digest = createHash('sha256');
  for (const { path, bytes } of files) digest.update(`${path.length}:${path}${bytes.length}:`).update(bytes);
  return { digest: digest.digest('base64url'), files };
}

export class PackageVersions {
  #root: string | undefined = undefined;
  #count = 0;
  readonly #byFolder = new Map<string, string[]>();
  /** A process that is ended without a stop leaves nothing behind either. */
  readonly #onExit = (): void => this.close();

  /** A copy of these files of the package in `folder`, from which imports find the same packages as from there. */
  copy(folder: string, { files }: PackageFiles): string {
    const root = this.#root ??= this.#makeRoot();
    this.#count += 1;
    const version = join(root, String(this.#count));
    const copied = join(this.#linked(version, folder), basename(folder));
    mkdirSync(copied, { recursive: true });
    for (const { path, bytes } of files) {
      mkdirSync(dirname(join(copied, path)), { recursive: true });
      writeFileSync(join(copied, path), bytes);
    }
    if (existsSync(join(folder, 'node_modules'))) symlinkSync(join(folder, 'node_modules'), join(copied, 'node_modules'));
    const versions = this.#byFolder.get(folder) ?? [];
    this.#byFolder.set(folder, versions);
    versions.push(version);
    if (versions.length > versionsMax) rmSync(versions.shift() ?? version, { recursive: true, force: true });
    return copied;
  }

  /** A copy that never came into service; it must not push out the one that is. */
  drop(folder: string, copied: string): void {
    const versions = this.#byFolder.get(folder) ?? [];
    const at = versions.findIndex((version) => copied.startsWith(version + sep));
    for (const version of at === -1 ? [] : versions.splice(at, 1)) rmSync(version, { recursive: true, force: true });
  }

  /** Nothing may be imported from the copies any more. */
  close(): void {
    if (this.#root === undefined) return;
    rmSync(this.#root, { recursive: true, force: true });
    this.#root = undefined;
    this.#byFolder.clear();
    process.off('exit', this.#onExit);
  }

  #makeRoot(): string {
    process.on('exit', this.#onExit);
    return realpathSync(mkdtempSync(join(tmpdir(), 'gateway-plugins-')));
  }

  /** One folder for each one above the package that has installed packages, with a link to them: Node looks for packages upwards. */
  #linked(version: string, folder: string): string {
    const above: string[] = [];
    for (let at = dirname(folder); ; at = dirname(at)) {
      if (basename(at) !== 'node_modules' && existsSync(join(at, 'node_modules'))) above.unshift(at);
      if (dirname(at) === at) break;
    }
    let inner = version;
    mkdirSync(inner);
    for (const at of above) {
      inner = join(inner, basename(at) || 'root');
      mkdirSync(inner);
      symlinkSync(join(at, 'node_modules'), join(inner, 'node_modules'));
    }
    return inner;
  }
}
