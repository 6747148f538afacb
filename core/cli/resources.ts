// `gateway keys`, `providers`, `configs`, `prompts` and so on: the control plane of a running gateway from the command line. Options, their
// types and their help come from the definitions of the operations; nothing about a resource is written here but its columns.

import { readFileSync } from 'node:fs';
import type { paths } from '@gateway/plugin-sdk/api';
import type { Operation } from '../control-plane/define-resource.js';
import { didYouMean } from '../settings/nearest-name.js';
import type { Surroundings } from './app-contract.js';
import { callAny, isList, refusalOf, type ControlAnswer } from './control-client.js';
import { fieldHelp, fieldsOf, refused, type Option } from './resource-fields.js';
import { membersOf, plain, plainJson, tableOf } from './resource-table.js';

/** Path of a list without its prefix: `configs` of `/v1/configs`. */
type CollectionPath = { readonly [P in keyof paths]: P extends `/v1/${infer Name}` ? (Name extends `${string}{${string}` ? never : Name) : never }[keyof paths];

export interface ResourceCommand {
  readonly describe: string;
  /** Below `/v1/`. */
  readonly path: CollectionPath;
  readonly columns: readonly string[];
  /** Members of the path behind the resource on create, and what they are when nobody says. */
  readonly createPath?: { readonly option: string; readonly fallback: string; readonly values: Readonly<Record<string, string>> };
  /** Members of a new row when nobody says. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

export const resourceCommands: Readonly<Record<string, ResourceCommand>> = {
  keys: {
    describe: 'API keys of the gateway', path: 'api-keys', columns: ['id', 'name', 'type', 'workspace_id', 'status', 'key', 'expires_at'],
    createPath: { option: '--type', fallback: 'workspace-service', values: { 'workspace-service': 'workspace/service', 'workspace-user': 'workspace/user', 'organisation-service': 'organisation/service' } },
    defaults: { scopes: ['completions.write'] },
  },
  workspaces: { describe: 'workspaces', path: 'workspaces', columns: ['id', 'slug', 'name', 'description', 'created_at'] },
  integrations: { describe: 'stored credentials of model providers', path: 'integrations', columns: ['id', 'slug', 'name', 'ai_provider_id', 'status'] },
  providers: { describe: 'providers of a workspace, called as @slug', path: 'providers', columns: ['slug', 'name', 'integration_id', 'status', 'expires_at'] },
  configs: { describe: 'stored configs, called by their slug', path: 'configs', columns: ['slug', 'name', 'status', 'is_default', 'last_updated_at', 'id'] },
  prompts: { describe: 'stored prompts, called by their slug', path: 'prompts', columns: ['slug', 'name', 'model', 'status', 'last_updated_at', 'id'] },
  partials: { describe: 'parts that prompts share', path: 'prompts/partials', columns: ['slug', 'name', 'status', 'last_updated_at', 'id'] },
  labels: { describe: 'labels of versions of prompts', path: 'labels', columns: ['id', 'name', 'description', 'is_universal', 'status'] },
  collections: { describe: 'folders of prompts', path: 'collections', columns: ['slug', 'name', 'parent_collection_id', 'status', 'id'] },
  guardrails: { describe: 'stored guardrails, named by configs', path: 'guardrails', columns: ['slug', 'name', 'status', 'last_updated_at', 'id'] },
  'usage-limits': { describe: 'policies: budgets of the calls that meet their conditions', path: 'policies/usage-limits', columns: ['id', 'name', 'type', 'credit_limit', 'periodic_reset', 'status'] },
  'rate-limits': { describe: 'policies: rates of the calls that meet their conditions', path: 'policies/rate-limits', columns: ['id', 'name', 'type', 'unit', 'value', 'status'] },
  secrets: { describe: 'references to secrets that stand elsewhere', path: 'secret-references', columns: ['slug', 'name', 'manager_type', 'status', 'last_updated_at', 'id'] },
  users: { describe: 'people of the organisation', path: 'admin/users', columns: ['id', 'email', 'role', 'first_name', 'last_name', 'created_at'] },
  invites: { describe: 'people who may join', path: 'admin/users/invites', columns: ['id', 'email', 'role', 'status', 'expires_at'] },
};

const verbs = ['list', 'get', 'create', 'update', 'rotate', 'remove'] as const;
type Verb = (typeof verbs)[number];
const methodOf = { list: 'GET', get: 'GET', create: 'POST', update: 'PUT', rotate: 'POST', remove: 'DELETE' } as const;
const takesId = (verb: Verb): boolean => verb !== 'list' && verb !== 'create';
const describeVerb: Readonly<Record<Verb, string>> = {
  list: 'list them', get: 'show one', create: 'make one', update: 'change one', rotate: 'give one a new secret; the old one stays valid for a while', remove: 'remove one',
};

/** Resolves with the exit code. `words` is what stands behind the name of the command. */
export async function runResource(name: string, words: readonly string[], around: Surroundings): Promise<number> {
  const command = resourceCommands[name];
  if (command === undefined) throw refused(`there is no command ${name}`);
  const { resources } = await import('../control-plane/resources/index.js');
  const operations = resources.flatMap((resource) => Object.values(resource.operations));
  const known = verbs.filter((each) => operationOf(operations, command, each) !== undefined);
  const [first, ...rest] = words;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    around.out(help(name, command, operations, known));
    return first === undefined ? 1 : 0;
  }
  const verb = known.find((each) => each === first);
  if (verb === undefined) throw refused(`gateway ${name} does not know ${first}${didYouMean(first, known) || `; it knows ${known.join(', ')}`}`);
  const operation = operationOf(operations, command, verb);
  if (operation === undefined || rest.includes('--help') || rest.includes('-h')) {
    around.out(help(name, command, operations, [verb]));
    return 0;
  }
  const { options, positionals, isJson } = wordsOf(rest);
  const id = takesId(verb) ? positionals[0] : undefined;
  if (takesId(verb) && id === undefined) throw refused(`gateway ${name} ${verb} needs an id or slug`);
  // They would be taken for the way to another path.
  if (id === '' || id === '.' || id === '..') throw refused(`gateway ${name} ${verb} needs an id or slug, not ${id === '' ? 'an empty text' : id}`);
  const [extra] = positionals.slice(takesId(verb) ? 1 : 0);
  if (extra !== undefined) throw refused(`unexpected argument ${extra}`);
  const answer = await call(command, verb, operation, id, options, around);
  if (answer.status !== 200) {
    around.error(isJson ? plainJson(answer.body) : `gateway: ${plain(refusalOf(answer))}`);
    return 1;
  }
  around.out(isJson ? plainJson(answer.body) : shown(command, verb, answer.body));
  return 0;
}

async function call(command: ResourceCommand, verb: Verb, operation: Operation, id: string | undefined, options: readonly Option[], around: Surroundings): Promise<ControlAnswer> {
  const { createPath, defaults = {} } = command;
  let input: string | undefined;
  // Read once, whoever asks.
  const stdin = (): string => input ??= readFileSync(0, 'utf8');
  const names = [...operation.path.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => name);
  const params: Record<string, string> = {};
  let given = options;
  if (verb === 'create' && createPath !== undefined) {
    const type = options.find((option) => option.name === createPath.option)?.value ?? createPath.fallback;
    const place = createPath.values[type];
    if (place === undefined) throw refused(`${createPath.option} must be one of ${Object.keys(createPath.values).join(', ')}`);
    for (const [index, step] of place.split('/').entries()) params[names[index] ?? ''] = step;
    given = options.filter((option) => option.name !== createPath.option);
  }
  if (id !== undefined) params[names[0] ?? ''] = id;
  const isInQuery = operation.body === null && operation.query !== null;
  const fields = fieldsOf(given, isInQuery ? operation.query : operation.body, around.environment, stdin);
  const called = { method: operation.method, path: `/v1${operation.path}` };
  if (isInQuery || operation.method === 'GET') return callAny(around.environment, called, { params, query: fields }, verb === 'list' ? isList : undefined);
  return callAny(around.environment, called, { params, body: verb === 'create' ? { ...defaults, ...fields } : fields });
}

/** By method and path: what operations are called is the resource's affair. */
function operationOf(operations: readonly Operation[], { path, createPath }: ResourceCommand, verb: Verb): Operation | undefined {
  const behind = verb === 'rotate' ? '/\\{[\\w-]+\\}/rotate' : takesId(verb) ? '/\\{[\\w-]+\\}' : verb === 'create' && createPath !== undefined ? '/\\{[\\w-]+\\}/\\{[\\w-]+\\}' : '';
  const pattern = new RegExp(`^/${path}${behind}$`);
  return operations.find((operation) => operation.method === methodOf[verb] && [operation.path, ...operation.aliases].some((each) => pattern.test(each)));
}

interface Words {
  readonly options: readonly Option[];
  readonly positionals: readonly string[];
  readonly isJson: boolean;
}

function wordsOf(words: readonly string[]): Words {
  const options: Option[] = [];
  const positionals: string[] = [];
  let isJson = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word === '--json') {
      isJson = true;
    } else if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const name = equals === -1 ? word : word.slice(0, equals);
      const value = equals === -1 ? words[index += 1] : word.slice(equals + 1);
      if (value === undefined || (equals === -1 && value.startsWith('--'))) throw refused(`option ${name} needs a value`);
      if (options.some((option) => option.name === name)) throw refused(`option ${name} is given twice`);
      options.push({ name, value });
    } else if (word.startsWith('-') && word !== '-') {
      throw refused(`unknown option ${word}`);
    } else {
      positionals.push(word);
    }
  }
  return { options, positionals, isJson };
}

function shown({ columns }: ResourceCommand, verb: Verb, body: unknown): string {
  if (verb === 'list') {
    const { data, total }: { readonly data?: unknown; readonly total?: unknown } = Object(body);
    const rows: readonly unknown[] = Array.isArray(data) ? data : [];
    const count = typeof total === 'number' && total > rows.length ? `\n${rows.length} of ${total}; --current-page 1 has the next` : '';
    return rows.length === 0 ? 'none' : tableOf(rows, columns) + count;
  }
  const members = membersOf(body);
  if (members === '') return verb === 'remove' ? 'removed' : 'changed';
  const isSecretShown = (verb === 'create' || verb === 'rotate') && typeof Object(body).key === 'string';
  return isSecretShown ? `${members}\n\nThe key is shown this once: keep it.` : members;
}

function help(name: string, command: ResourceCommand, operations: readonly Operation[], shownVerbs: readonly Verb[]): string {
  const lines = [`gateway ${name}: ${command.describe}, of the gateway at GATEWAY_URL, with the key in GATEWAY_API_KEY`, ''];
  for (const verb of shownVerbs) {
    const operation = operationOf(operations, command, verb);
    lines.push(`gateway ${name} ${verb}${takesId(verb) ? ' <id or slug>' : ''} [options]   ${describeVerb[verb]}`);
    const fields = [...(verb === 'create' && command.createPath !== undefined ? [[`${command.createPath.option} <${Object.keys(command.createPath.values).join('|')}>`, command.createPath.fallback] as const] : []),
      ['--workspace-id <id or slug>', 'with an organisation key'] as const,
      ...fieldHelp(operation?.method === 'GET' ? operation.query : operation?.body ?? operation?.query)];
    for (const [option, meaning] of shownVerbs.length > 1 && verb !== 'create' ? [] : fields) lines.push(`    ${option}${meaning === '' ? '' : `   ${meaning}`}`);
  }
  lines.push('', '--json prints the reply as it is. Values: text, JSON where the option says so, file:<path>, env:<variable>, or - for standard input.');
  return lines.join('\n');
}
