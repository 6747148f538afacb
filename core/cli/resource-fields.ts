// Options of the command line -> members of a query or body, by the schema of the operation: `--workspace-id x`, `--defaults.provider @openai`,
// `--scopes completions.write,logs.write`. A value may be `file:<path>`, `env:<name>` or `-` for standard input, so that no secret has to stand in a
// command line, where every user of the machine can read it.

import { readFileSync } from 'node:fs';
import { fail, reasonOf, type GatewayError } from '../errors/gateway-error.js';
import { didYouMean } from '../settings/nearest-name.js';

export interface Option {
  readonly name: string;
  readonly value: string;
}

interface FieldSchema {
  readonly type?: unknown;
  readonly items?: { readonly type?: unknown };
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

/** Members that hold a secret alone: they may not be written out. */
const secretField = /(?:^|[._])(?:key|secret|secret_id|token|password|authorization)$/i;
/** These say where one is: the slug of a provider, and the member of what a secret reference leads to. */
const placeFields: ReadonlySet<string> = new Set(['virtual_key', 'secret_key']);

const ownMember = <T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined => (members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined);

const optionOf = (field: string): string => `--${field.replaceAll('_', '-')}`;
const fieldOf = (option: string): string => option.replace(/^--/, '').replaceAll('-', '_');

const propertiesOf = (schema: unknown): Readonly<Record<string, FieldSchema>> => Object(Object(schema).properties);

/** Options that an operation takes and what each looks like, for help. */
export function fieldHelp(schema: unknown): readonly (readonly [string, string])[] {
  return Object.entries(propertiesOf(schema)).map(([name, field]) => [`${optionOf(name)} <${shapeOf(field)}>`, field.description ?? ''] as const);
}

function shapeOf(field: FieldSchema): string {
  if (field.enum !== undefined) return field.enum.filter((each) => each !== null).join('|');
  const type = typesOf(field)[0];
  return type === 'array' ? (field.items?.type === 'string' ? 'a,b,...' : 'JSON') : type === 'object' || type === undefined ? 'JSON' : type;
}

const typesOf = ({ type }: FieldSchema): readonly string[] => (Array.isArray(type) ? type.map(String) : type === undefined ? [] : [String(type)]);

/** Throws SETTINGS_INVALID for an option that the operation does not take. */
export function fieldsOf(options: readonly Option[], schema: unknown, environment: NodeJS.ProcessEnv, stdin: () => string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const properties = propertiesOf(schema);
  for (const { name, value } of options) {
    const steps = fieldOf(name).split('.');
    const [first = '', ...below] = steps;
    const known = ownMember(properties, first);
    if (known === undefined && first !== 'workspace_id') {
      const names = [...Object.keys(properties), 'workspace_id'].map(optionOf);
      throw refused(`unknown option ${name}${didYouMean(optionOf(first), names) || `; known are ${names.join(', ')}`}`);
    }
    if (below.length > 0 && below.some((step) => step === '' || step === '__proto__')) throw refused(`option ${name} names no member`);
    const place = below.reduce<FieldSchema>((schemaAt, step) => ownMember(schemaAt.properties, step) ?? {}, known ?? { type: 'string' });
    let holder = fields;
    for (const step of steps.slice(0, -1)) {
      const next: unknown = holder[step];
      const inner: Record<string, unknown> = typeof next === 'object' && next !== null ? { ...next } : {};
      holder[step] = inner;
      holder = inner;
    }
    holder[steps.at(-1) ?? first] = valueOf(name, value, place, environment, stdin);
  }
  return fields;
}

function valueOf(name: string, given: string, field: FieldSchema, environment: NodeJS.ProcessEnv, stdin: () => string): unknown {
  const isIndirect = given === '-' || /^(?:file|env):/.test(given);
  if (!isIndirect && given !== 'null' && secretField.test(fieldOf(name)) && !placeFields.has(fieldOf(name))) {
    throw refused(`${name} holds a secret: give it as env:<name of a variable>, file:<path> or - for standard input, not in the command line, where others can read it`);
  }
  const text = isIndirect ? textAt(name, given, environment, stdin) : given;
  const types = typesOf(field);
  if (text === 'null' && types.includes('null')) return null;
  if (types.includes('string')) return text;
  if (types.includes('array') && field.items?.type === 'string' && !text.trimStart().startsWith('[')) return text === '' ? [] : text.split(',').map((each) => each.trim());
  try {
    return JSON.parse(text);
  } catch {
    if (types.length === 0) return text;
    throw refused(`${name} must be ${types.map((type) => kinds[type] ?? type).join(' or ')}`);
  }
}

const kinds: Readonly<Record<string, string>> = { object: 'a JSON object', array: 'a JSON list', integer: 'a whole number', number: 'a number', boolean: 'true or false', null: 'null' };

/** Without the line's end that editors and `echo` put there. */
function textAt(name: string, given: string, environment: NodeJS.ProcessEnv, stdin: () => string): string {
  if (given === '-') return stdin().replace(/\r?\n$/, '');
  const at = given.slice(given.indexOf(':') + 1);
  if (given.startsWith('env:')) {
    const value = environment[at];
    if (value === undefined) throw refused(`${name}: there is no variable ${at} in the environment`);
    return value;
  }
  try {
    return readFileSync(at, 'utf8').replace(/\r?\n$/, '');
  } catch (thrown) {
    throw refused(`${name}: the file ${at} cannot be read (${reasonOf(thrown)})`);
  }
}

export const refused = (reason: string): GatewayError => fail('SETTINGS_INVALID', { reason });
