// Finds and reads the settings file. Runs once at start. YAML; JSON is read as the subset of YAML that it is.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { fail, reasonOf } from '../errors/gateway-error.js';
import { didYouMean } from './nearest-name.js';
import { environmentName, fileNames, fileVariable, isSettingKey, settingKeys, type SettingKey } from './schema.js';

const fileBytesMax = 1024 * 1024;
/** Against files whose few bytes expand without end. */
const aliasesMax = 100;

export interface SettingsFile {
  /** As it is called in messages. */
  readonly name: string;
  readonly values: ReadonlyMap<SettingKey, unknown>;
}

/** Undefined when no file is named and none of the usual ones exists in `cwd`. */
export function readSettingsFile(environment: NodeJS.ProcessEnv, cwd: string): SettingsFile | undefined {
  const named = environment[fileVariable]?.trim();
  if (named !== undefined && named !== '') {
    return parse(named, read(resolve(cwd, named), `${fileVariable} names ${named}, which`));
  }
  const found = fileNames.filter((name) => existsSync(resolve(cwd, name)));
  const [name] = found;
  if (name === undefined) return undefined;
  if (found.length > 1) throw fault(`${found.join(' and ')} are both present; keep one, or name one with ${fileVariable}`);
  return parse(name, read(resolve(cwd, name), name));
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

function parse(name: string, text: string): SettingsFile {
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
  if (content === null || content === undefined) return { name, values };
  if (typeof content !== 'object' || Array.isArray(content)) throw fault(`${name} must hold settings as key: value pairs`);
  for (const [key, value] of Object.entries(content)) {
    if (!isSettingKey(key)) throw fault(`unknown key ${key} in ${name}${suggestion(key)}`);
    values.set(key, value);
  }
  return { name, values };
}

function suggestion(key: string): string {
  const asVariable = settingKeys.find((known) => environmentName(known) === key.toUpperCase());
  if (asVariable !== undefined) return `; in the file it is called ${asVariable}`;
  const asSnakeCase = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return didYouMean(asSnakeCase, settingKeys) || '; gateway --help lists the known ones';
}

const firstSmall = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);
