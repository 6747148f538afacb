// The key that encrypts stored credentials: from the settings, else from a file only its owner can read, generated at the first start.
// Runs once at start, in the main thread. Never logs the key and never widens the file's permissions.

import { randomBytes } from 'node:crypto';
import { closeSync, constants, copyFileSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fail, reasonOf } from '../errors/gateway-error.js';

const keyBytes = 32;
const fileName = 'master.key';
const groupAndOthers = 0o077;

/** 32 bytes. The data directory must exist. */
export function loadMasterKey(settings: { readonly dataDir: string; readonly masterKey: string | undefined }): Buffer {
  if (settings.masterKey !== undefined) {
    const key = decode(settings.masterKey);
    if (key === undefined) throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_MASTER_KEY must be 32 bytes as 64 hex digits or as base64' });
    return key;
  }
  const path = join(settings.dataDir, fileName);
  return readKeyFile(path) ?? makeKeyFile(path);
}

/** As loadMasterKey(), without making a key: throws what would stop a start; undefined when a start would make one. */
export function checkMasterKey(settings: { readonly dataDir: string; readonly masterKey: string | undefined }): Buffer | undefined {
  return settings.masterKey === undefined ? readKeyFile(join(settings.dataDir, fileName)) : loadMasterKey(settings);
}

/** A new key that was not put in its place yet, so that a change that is broken off goes on with it. */
const nextFileName = 'master.key.next';

/** The key that a change of the master key left behind when it was broken off. */
export const readNextMasterKey = (dataDir: string): Buffer | undefined => readKeyFile(join(dataDir, nextFileName));

/** From a file of the operator's own, or as text. */
export function readNewMasterKey({ newKeyFile, newKey }: { readonly newKeyFile: string | undefined; readonly newKey: string | undefined }): Buffer | undefined {
  if (newKeyFile !== undefined) {
    const key = readKeyFile(newKeyFile);
    if (key === undefined) throw fail('SETTINGS_INVALID', { reason: `there is no file ${newKeyFile} with a new master key` });
    return key;
  }
  if (newKey === undefined) return undefined;
  const key = decode(newKey.trim());
  if (key === undefined) throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_NEW_MASTER_KEY must be 32 bytes as 64 hex digits or as base64' });
  return key;
}

/** Beside the key of now; without a key, one is made. */
export function writeNextMasterKey(dataDir: string, key?: Uint8Array): Buffer {
  const path = join(dataDir, nextFileName);
  rmSync(path, { force: true });
  return makeKeyFile(path, key);
}

/** The next key takes the place of the one of now, which is kept under another name: `oldKeyFile`. */
export function publishNextMasterKey(dataDir: string, oldKeyId: string): { readonly keyFile: string; readonly oldKeyFile: string | undefined } {
  const keyFile = join(dataDir, fileName);
  const oldKeyFile = `${keyFile}.${oldKeyId}`;
  try {
    const old = readKeyFile(keyFile);
    if (old !== undefined) {
      rmSync(oldKeyFile, { force: true });
      makeKeyFile(oldKeyFile, old);
    }
    renameSync(join(dataDir, nextFileName), keyFile);
    const folder = openSync(dataDir, 'r');
    fsyncSync(folder);
    closeSync(folder);
    return { keyFile, oldKeyFile: old === undefined ? undefined : oldKeyFile };
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `the new master key cannot be put into ${keyFile} (${reasonOf(thrown)}); run gateway rekey again when it can` }, thrown);
  }
}

function decode(text: string): Buffer | undefined {
  const key = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  return key.byteLength === keyBytes ? key : undefined;
}

/** Undefined when there is no such file. */
function readKeyFile(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw fail('SETTINGS_INVALID', { reason: `the master key file ${path} cannot be read (${reasonOf(thrown)})` }, thrown);
  }
  try {
    const { mode } = fstatSync(file);
    // Windows has no such bits; its files inherit the directory's access list.
    if (process.platform !== 'win32' && (mode & groupAndOthers) !== 0) {
      throw fail('SETTINGS_INVALID', { reason: `the master key file ${path} is open to other users (mode ${(mode & 0o777).toString(8)}); run chmod 600 ${path}` });
    }
    const key = decode(readFileSync(file, 'utf8').trim());
    if (key === undefined) {
      throw fail('SETTINGS_INVALID', { reason: `the master key file ${path} does not hold 32 bytes as hex or base64; restore it from a backup, for credentials stored under it cannot be read without it` });
    }
    return key;
  } finally {
    closeSync(file);
  }
}

/** Written whole under another name first, so that no crash and no second process ever sees half a key. */
function makeKeyFile(path: string, bytes: Uint8Array = randomBytes(keyBytes)): Buffer {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeSync(file, `${Buffer.from(bytes).toString('hex')}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    publish(draft, path);
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `the master key file ${path} cannot be made (${reasonOf(thrown)}); make the data directory writable or set GATEWAY_MASTER_KEY` }, thrown);
  } finally {
    rmSync(draft, { force: true });
  }
  // Read back: when another process was first, its key is the one that counts.
  const key = readKeyFile(path);
  if (key === undefined) throw fail('SETTINGS_INVALID', { reason: `the master key file ${path} vanished while it was being made` });
  return key;
}

function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'EEXIST') return;
    // File systems without hard links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw thrown;
    copyFileSync(draft, path, constants.COPYFILE_EXCL);
  }
}

const codeOf = (thrown: unknown): string => (thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '');
