// `gateway apply FILE...` and `gateway export`: what a running gateway stores, from files and as files.

import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { DeclaredFile, ReadDocuments } from '../declare/read-documents.js';
import { fail, reasonOf } from '../errors/gateway-error.js';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';
import { controlClient, refusalOf, type ControlAnswer } from './control-client.js';
import { plain, plainJson } from './resource-table.js';

/** Bytes of a file; the gateway takes a MiB. */
const fileBytesMax = 1024 * 1024;
const sourceCharsMax = 100;

interface Change {
  readonly action: 'create' | 'update' | 'remove';
  readonly section: string;
  readonly name: string;
  readonly workspace: string | null;
  readonly is_drift: boolean;
  readonly members: readonly { readonly member: string; readonly before: string | null; readonly after: string | null }[];
}

interface ApplyAnswer {
  readonly changes: readonly Change[];
  readonly unchanged: number;
  readonly keys: readonly { readonly name: string; readonly workspace: string | null; readonly key: string }[];
  readonly left: readonly { readonly section: string; readonly name: string; readonly workspace: string | null }[];
}

export async function apply(around: Surroundings, { positionals, flags, options }: CommandWords): Promise<number> {
  if (positionals.length === 0) {
    around.error('gateway: apply needs the path of a file, or several: gateway apply <file>...');
    return 1;
  }
  const call = controlClient(around.environment);
  const { readDocuments } = await import('../declare/read-documents.js');
  const read = readDocuments(positionals.map((path) => fileAt(path, around.cwd)), around.environment);
  const isDryRun = flags.has('--dry-run');
  const workspace = options.get('--workspace');
  const answer = await call('POST', '/v1/declarations/apply', {
    documents: read.documents, source: options.get('--source') ?? sourceOf(positionals), dry_run: isDryRun, prune: flags.has('--prune'), ...(workspace === undefined ? {} : { workspace_id: workspace }),
  });
  if (answer.status !== 200) {
    around.error(flags.has('--json') ? plainJson(answer.body) : `gateway: ${plain(faultOf(answer, read))}`);
    return 1;
  }
  if (flags.has('--json')) around.out(plainJson(answer.body));
  else for (const line of shown(Object(answer.body), isDryRun)) around.out(plain(line));
  return 0;
}

export async function exportAll(around: Surroundings, { flags, options }: CommandWords): Promise<number> {
  const workspace = options.get('--workspace');
  const answer = await controlClient(around.environment)('GET', `/v1/declarations/export${workspace === undefined ? '' : `?workspace_id=${encodeURIComponent(workspace)}`}`);
  if (answer.status !== 200) {
    around.error(`gateway: ${plain(refusalOf(answer))}`);
    return 1;
  }
  if (flags.has('--json')) {
    around.out(plainJson(answer.body));
    return 0;
  }
  const { stringify } = await import('yaml');
  const { documents, variables }: { readonly documents: readonly unknown[]; readonly variables: readonly { readonly name: string; readonly of: string }[] } = Object(answer.body);
  const head = variables.length === 0 ? '' : ['# Variables of the environment that stand for secrets:', ...variables.map(({ name, of }) => `#   ${name}: ${of.replace(/\s/g, ' ')}`), ''].join('\n');
  around.out(head + documents.map((document) => stringify(document, { lineWidth: 0 })).join('---\n').trimEnd());
  return 0;
}

function fileAt(path: string, cwd: string): DeclaredFile {
  const name = path === '-' ? 'standard input' : path;
  let content: Buffer;
  try {
    content = readFileSync(path === '-' ? 0 : resolve(cwd, path));
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `${name} cannot be read (${reasonOf(thrown)})` }, thrown);
  }
  if (content.byteLength > fileBytesMax) throw fail('SETTINGS_INVALID', { reason: `${name} is larger than ${fileBytesMax} bytes; apply it in parts` });
  return { name, text: content.toString('utf8') };
}

/** The files together are one source, wherever they lie. */
const sourceOf = (paths: readonly string[]): string => [...new Set(paths.map((path) => basename(path)))].sort().join('+').replace(/[^\w.@:/+-]/g, '_').slice(0, sourceCharsMax);

function faultOf(answer: ControlAnswer, read: ReadDocuments): string {
  const { param }: { readonly param?: unknown } = Object(Object(answer.body).error);
  const place = typeof param === 'string' ? read.placeOf(param) : undefined;
  return `${place === undefined ? '' : `${place}: `}${refusalOf(answer)}`;
}

const signs = { create: '+', update: '~', remove: '-' } as const;

function* shown({ changes, unchanged, keys, left }: ApplyAnswer, isDryRun: boolean): Generator<string> {
  const titleOf = ({ section, name, workspace }: { readonly section: string; readonly name: string; readonly workspace: string | null }): string => `${section}${name === '' ? '' : ` ${name}`}${workspace === null ? '' : ` in ${workspace}`}`;
  for (const change of changes) {
    yield `${signs[change.action]} ${titleOf(change)}${change.is_drift ? ' (somebody else changed it since it was applied)' : ''}`;
    if (change.action === 'update') for (const { member, before, after } of change.members) yield `    ${member}: ${before ?? 'none'} -> ${after ?? 'none'}`;
  }
  for (const each of left) yield `  ${titleOf(each)} is in the files no more and stays; --prune removes it`;
  for (const { name, workspace, key } of keys) yield `  the key of ${name}${workspace === null ? '' : ` in ${workspace}`}, shown this once (keep it): ${key}`;
  const counted = (['create', 'update', 'remove'] as const).map((action) => [action, changes.filter((each) => each.action === action).length] as const).filter(([, count]) => count > 0);
  if (counted.length === 0) yield `nothing changes; ${unchanged} ${unchanged === 1 ? 'object is' : 'objects are'} as the files say`;
  else yield `${isDryRun ? 'would' : 'done:'} ${counted.map(([action, count]) => `${action} ${count}`).join(', ')}; ${unchanged} unchanged`;
}
