import { defineSecrets, SecretError, type SecretSource } from '@gateway/plugin-sdk';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { basename, isAbsolute, normalize, sep } from 'node:path';

const bytesMax = 65_536;
/** Not files at all, whatever a rule says. */
const systemFolders: readonly string[] = ['/proc', '/sys', '/dev'];
/** The file that opens all stored secrets. */
const masterKeyFile = /^master\.key/;

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

class FileSource implements SecretSource {
  constructor(readonly folders: readonly string[]) {}

  pathFault(path: string): string | undefined {
    if (!isAbsolute(path) || path.includes('\0') || normalize(path) !== path) return 'must be an absolute path without . and ..';
    return this.#mayRead(path, this.folders) ? undefined : 'is not in a directory that the operator allows: the setting secret_sources needs file=/directory for it';
  }

  async read(path: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const fault = this.pathFault(path);
    if (fault !== undefined) throw new SecretError(`its path ${fault}`);
    try {
      // Links are followed, as long as they stay inside: mounted secrets are links to what changes behind them.
      const place = await realpath(path);
      const folders = await Promise.all(this.folders.map((folder) => realpath(folder).catch(() => '')));
      if (!this.#mayRead(place, folders.filter((folder) => folder !== ''))) throw new SecretError('its path leads out of the directories that the operator allows');
      return await this.#content(place);
    } catch (thrown) {
      if (thrown instanceof SecretError) throw thrown;
      throw new SecretError(`its file cannot be read (${thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'no reason is known'})`);
    }
  }

  #mayRead(path: string, folders: readonly string[]): boolean {
    return folders.some((folder) => isBelow(path, folder)) && !systemFolders.some((folder) => isBelow(path, folder)) && !masterKeyFile.test(basename(path));
  }

  async #content(path: string): Promise<string> {
    // A pipe would never come to its end, and a link put there meanwhile is not followed.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new SecretError('its path is not that of a file');
      const bytes = Buffer.alloc(bytesMax + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length <= bytesMax; length += read) ({ bytesRead: read } = await file.read(bytes, length, bytes.length - length, length));
      if (length > bytesMax) throw new SecretError(`its file is larger than ${bytesMax} bytes`);
      // Editors end the last line.
      return bytes.toString('utf8', 0, length).replace(/\r?\n$/, '');
    } finally {
      await file.close();
    }
  }
}

export default defineSecrets({
  title: 'Files',
  describe: 'Reads files of the machine in directories that the operator allows, such as mounted secrets.',
  params: { type: 'object', properties: {} },
  create: (_params, _host, allowed) => new FileSource(allowed.filter((folder) => isAbsolute(folder)).map((folder) => normalize(folder))),
});
