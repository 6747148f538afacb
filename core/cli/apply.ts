// The commands `gateway apply FILE...` and `gateway export`: change the stored objects of a running gateway to match files, and write them as files.

import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { paths } from '@gateway/plugin-sdk/api';
import type { DeclaredFile, ReadDocuments } from '../declare/read-documents.js';
import { fail, reasonOf } from '../errors/gateway-error.js';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';
import { gatewayClient, refusalOf } from './control-client.js';
import { escaped, plain, plainJson } from './resource-table.js';

/** Bytes of a file; the gateway takes a MiB. */
const fileBytesMax = 1024 * 1024;
const sourceCharsMax = 100;

type ApplyAnswer = paths['/v1/declarations/apply']['post']['responses'][200]['content']['application/json'];

export async function apply(around: Surroundings, { positionals, flags, options }: CommandWords): Promise<number> {
  if (positionals.length === 0) {
    around.error('gateway: apply needs the path of a file, or several: gateway apply <file>...');
    return 1;
  }
  const client = await gatewayClient(around.environment, ({ changes, keys, left }) => [changes, keys, left].every(Array.isArray));
  const { readDocuments } = await import('../declare/read-documents.js');
  const read = readDocuments(positionals.map((path) => fileAt(path, around.cwd)), around.environment);
  const isDryRun = flags.has('--dry-run');
  const workspace = options.get('--workspace');
  const { data, error, response } = await client.POST('/v1/declarations/apply', {
    body: { documents: read.documents.map((document) => Object(document)), source: options.get('--source') ?? sourceOf(positionals), dry_run: isDryRun, prune: flags.has('--prune'), ...(workspace === undefined ? {} : { workspace_id: workspace }) },
  });
  if (data === undefined) {
    around.error(flags.has('--json') ? plainJson(error) : `gateway: ${plain(faultOf(response.status, error, read))}`);
    return 1;
  }
  if (flags.has('--json')) around.out(plainJson(data));
  else for (const line of shown(data, isDryRun)) around.out(plain(line));
  return 0;
}

export async function exportAll(around: Surroundings, { flags, options }: CommandWords): Promise<number> {
  const workspace = options.get('--workspace');
  const { data, error, response } = await (await gatewayClient(around.environment, ({ documents, variables }) => [documents, variables].every(Array.isArray))).GET('/v1/declarations/export', { params: { query: workspace === undefined ? {} : { workspace_id: workspace } } });
  if (data === undefined) {
    around.error(`gateway: ${plain(refusalOf({ status: response.status, body: error }))}`);
    return 1;
  }
  if (flags.has('--json')) {
    around.out(plainJson(data));
    return 0;
  }
  const yaml = await import('yaml');
  const { documents, variables } = data;
  const textOf = (document: unknown): string => {
    const made = new yaml.Document(document);
    // In double quotes every character may stand as an escape.
    yaml.visit(made, { Scalar: (_, node) => { if (typeof node.value === 'string' && escaped(node.value) !== node.value) node.type = yaml.Scalar.QUOTE_DOUBLE; } });
    return escaped(made.toString({ lineWidth: 0 }));
  };
  const head = variables.length === 0 ? '' : ['# Variables of the environment that stand for secrets:', ...variables.map(({ name, of }) => `#   ${name}: ${plain(of)}`), ''].join('\n');
  around.out(head + documents.map(textOf).join('---\n').trimEnd());
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

/** Default name of the source: made of the names of the files, without their folders. */
const sourceOf = (paths: readonly string[]): string => [...new Set(paths.map((path) => basename(path)))].sort().join('+').replace(/[^\w.@:/+-]/g, '_').slice(0, sourceCharsMax);

function faultOf(status: number, body: unknown, read: ReadDocuments): string {
  const { param }: { readonly param?: unknown } = Object(Object(body).error);
  const place = typeof param === 'string' ? read.placeOf(param) : undefined;
  return `${place === undefined ? '' : `${place}: `}${refusalOf({ status, body })}`;
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
