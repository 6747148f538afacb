// Finds and reads the settings file. Runs once at start. YAML; JSON is read as the subset of YAML that it is.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isObject } from '@gateway/plugin-sdk';
import { LineCounter, parseDocument } from 'yaml';
import { fail, reasonOf } from '../errors/gateway-error.js';
import type { NoteFault } from './faults.js';
import { nearestName } from './nearest-name.js';
import { environmentName, fileNames, fileVariable, isSettingKey, settingKeys, type SettingKey } from './schema.js';

const fileBytesMax = 1024 * 1024;
/** Against files whose few bytes expand without end. */
const aliasesMax = 100;

export interface SettingsFile {
  /** As it is called in messages. */
  readonly name: string;
  /** Where it is: paths of plugins start here. */
  readonly folder: string;
  readonly values: ReadonlyMap<SettingKey, unknown>;
  readonly text: string;
  /** `resources` was no list, but what would stand in a file of its own. */
  readonly hasOwnResources: boolean;
}

/** Undefined when no file is named and none of the usual ones exists in `cwd`. Throws when it cannot be read as a whole. */
export function readSettingsFile(environment: NodeJS.ProcessEnv, cwd: string, note: NoteFault): SettingsFile | undefined {
  const named = environment[fileVariable]?.trim();
  if (named !== undefined && named !== '') {
    const path = resolve(cwd, named);
    return parse(named, dirname(path), read(path, `${fileVariable} names ${named}, which`), note);
  }
  const found = fileNames.filter((name) => existsSync(resolve(cwd, name)));
  const [name] = found;
  if (name === undefined) return undefined;
  if (found.length > 1) throw fault(`${found.join(' and ')} are both present; keep one, or name one with ${fileVariable}`);
  return parse(name, cwd, read(resolve(cwd, name), name), note);
}

const fault = (reason: string, cause?: unknown): Error => fail('SETTINGS_INVALID', { reason }, cause);

function read(path: string, subject: string): string {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (thrown) {
    throw fault(`${subject} cannot be read (${reasonOf(thrown)})`, thrown);
  }
  if (content.byteLength > fileBytesMax) throw fault(`${subject} is larger than ${fileBytesMax} bytes, too large for a settings file`);
  return content.toString('utf8');
}

function parse(name: string, folder: string, text: string, note: NoteFault): SettingsFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined) {
    const { line, col } = lineCounter.linePos(first.pos[0]);
    throw fault(`${name} is not valid at line ${line}, column ${col}: ${firstSmall(first.message)}`);
  }
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: aliasesMax });
  } catch (thrown) {
    throw fault(`${name} is not valid: ${firstSmall(reasonOf(thrown))}`, thrown);
  }
  const values = new Map<SettingKey, unknown>();
  if (content === null || content === undefined) return { name, folder, values, text, hasOwnResources: false };
  if (typeof content !== 'object' || Array.isArray(content)) throw fault(`${name} must hold settings as key: value pairs`);
  for (const [key, value] of Object.entries(content)) {
    if (isSettingKey(key)) {
      values.set(key, value);
      continue;
    }
    const { advice, meant } = suggestion(key);
    note(`unknown key ${key} in ${name}${advice}`, meant);
  }
  const resources = values.get('resources');
  const hasOwnResources = isObject(resources);
  if (hasOwnResources) values.set('resources', [resources]);
  // One file needs no list.
  if (typeof resources === 'string') values.set('resources', [resources]);
  return { name, folder, values, text, hasOwnResources };
}

function suggestion(key: string): { readonly advice: string; readonly meant: readonly SettingKey[] } {
  const asVariable = settingKeys.find((known) => environmentName(known) === key.toUpperCase());
  if (asVariable !== undefined) return { advice: `; in the file it is called ${asVariable}`, meant: [asVariable] };
  const asSnakeCase = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const nearest = nearestName(asSnakeCase, settingKeys);
  return nearest === undefined ? { advice: '; gateway --help lists the known ones', meant: [] } : { advice: `; did you mean ${nearest}?`, meant: [nearest].filter(isSettingKey) };
}

const firstSmall = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);
