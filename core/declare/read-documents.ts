// Reads the files of `gateway apply` and of the setting `resources`: from YAML to documents, with the values of variables filled in, and
// from a member back to its line. Runs in the command line and once at the start.

import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit, type Document, type Node, type Pair } from 'yaml';
import { fail, reasonOf } from '../errors/gateway-error.js';

/** Limits YAML aliases, since a small file can expand without end. */
const aliasesMax = 100;
const fileCharsMax = 1024 * 1024;

export interface DeclaredFile {
  /** Name in messages. */
  readonly name: string;
  readonly text: string;
  /** Path of the document in the file; absent: the whole file. */
  readonly at?: readonly (string | number)[];
}

export interface ReadDocuments {
  readonly documents: readonly unknown[];
  /** `documents.0.configs.1.config` -> `gateway.yaml:12:5`; undefined: the member is in none of the files. */
  placeOf(param: string): string | undefined;
}

interface Parsed {
  readonly file: DeclaredFile;
  readonly document: Document;
  readonly lines: LineCounter;
}

/** Throws SETTINGS_INVALID when a file is not valid, or variables are not set; the message names all of these. */
export function readDocuments(files: readonly DeclaredFile[], environment: NodeJS.ProcessEnv): ReadDocuments {
  const parsed = files.flatMap(parse);
  const missing = new Map<string, string>();
  for (const each of parsed) {
    const root = rootOf(each);
    if (root !== undefined) fillIn(each, root, environment, missing);
  }
  if (missing.size > 0) {
    const names = [...missing].map(([name, place]) => `${name} (${place})`).join(', ');
    throw invalid(`${missing.size === 1 ? 'a variable of the environment is not set' : `${missing.size} variables of the environment are not set`}: ${names}`);
  }
  const places = parsed.filter(isFilled);
  const documents = places.map(valueOf);
  return { documents, placeOf: placesOf(places) };
}

/** From a member to its line, for callers that have the files but not the documents. */
export const placeFinder = (files: readonly DeclaredFile[]): ReadDocuments['placeOf'] => placesOf(files.flatMap(parse).filter(isFilled));

/** False for a file of comments alone, and for the empty document after the last separator. */
function isFilled(parsed: Parsed): boolean {
  const value = valueOf(parsed);
  return value !== null && value !== undefined;
}

const placesOf = (places: readonly Parsed[]) => (param: string): string | undefined => {
  const [, number = '', rest = ''] = /^documents\.(\d+)(?:\.(.*))?$/s.exec(param) ?? [];
  const each = places[Number(number)];
  if (number === '' || each === undefined) return undefined;
  return placeIn(each, positionOf(each, [...each.file.at ?? [], ...rest.split('.').filter((step) => step !== '')]));
};

const invalid = (reason: string, cause?: unknown): Error => fail('SETTINGS_INVALID', { reason }, cause);

function parse(file: DeclaredFile): Parsed[] {
  if (file.text.length > fileCharsMax) throw invalid(`${file.name} has more than ${fileCharsMax} characters, too many for a file to apply; apply it in parts`);
  const lines = new LineCounter();
  const documents: readonly Document[] = [...parseAllDocuments(file.text, { lineCounter: lines, prettyErrors: false })];
  for (const { errors, warnings } of documents) {
    const [first] = [...errors, ...warnings];
    if (first === undefined) continue;
    const { line, col } = lines.linePos(first.pos[0]);
    const hint = file.text.includes('${env:') && /flow|unexpected|missing|implicit/i.test(first.message) ? ' (inside of { } and [ ], ${env:NAME} has to stand in quotes)' : '';
    throw invalid(`${file.name}:${line}:${col}: ${first.message.charAt(0).toLowerCase()}${first.message.slice(1)}${hint}`);
  }
  return documents.map((document) => ({ file, document, lines }));
}

function rootOf({ file, document }: Parsed): Node | undefined {
  const root: unknown = file.at === undefined ? document.contents : document.getIn(file.at, true);
  return isNode(root) ? root : undefined;
}

function valueOf({ file, document }: Parsed): unknown {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: aliasesMax });
    // An alias within what it stands for has no end.
    JSON.stringify(value);
  } catch (thrown) {
    throw invalid(`${file.name}: ${thrown instanceof TypeError ? 'an alias stands within what it is an alias of' : reasonOf(thrown)}`, thrown);
  }
  for (const step of file.at ?? []) value = Object(value)[step];
  return value;
}

/** `${env:NAME}`, also within a longer text; `$${env:NAME}` stands for itself. */
const reference = /\$?\$\{env:([^}\n]{0,200})(\}?)/g;
const variableName = /^[A-Za-z_]\w*$/;

/** Fills variables into the texts of the file. The values themselves are not searched for variables. */
function fillIn(parsed: Parsed, root: Node, environment: NodeJS.ProcessEnv, missing: Map<string, string>): void {
  visit(root, {
    Scalar: (key, node) => {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${env:')) return;
      const place = (): string => placeIn(parsed, node.range?.[0] ?? 0);
      node.value = node.value.replace(reference, (text: string, name: string, end: string) => {
        if (text.startsWith('$$')) return text.slice(1);
        if (end === '' || !variableName.test(name)) throw invalid(`${place()}: a variable of the environment is written \${env:NAME}; write $\${env: for the text itself`);
        // What every object inherits is no variable.
        const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
        // An empty variable counts as missing: most likely it was forgotten.
        if (value !== undefined && value !== '') return value;
        if (!missing.has(name)) missing.set(name, place());
        return '';
      });
    },
  });
}

function placeIn({ file, lines }: Parsed, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${file.name}:${line}:${col}`;
}

/** Place of the member, or of the innermost existing one on the way to it. */
function positionOf({ document }: Parsed, steps: readonly (string | number)[]): number {
  let node: unknown = document.contents;
  let offset = isNode(node) ? node.range?.[0] ?? 0 : 0;
  for (let at = 0; at < steps.length; at += 1) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) {
      node = node.items[Number(steps[at])];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
      else return offset;
    } else if (isMap(node)) {
      // Names of members may have dots in them.
      const found = pairOf(node.items, steps, at);
      if (found === undefined) return offset;
      const { pair, next } = found;
      at = next - 1;
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else {
      return offset;
    }
  }
  return offset;
}

function pairOf(pairs: readonly Pair[], steps: readonly (string | number)[], from: number): { readonly pair: Pair; readonly next: number } | undefined {
  for (let next = from + 1; next <= steps.length; next += 1) {
    const name = steps.slice(from, next).join('.');
    const pair = pairs.find(({ key }) => isScalar(key) && String(key.value) === name);
    if (pair !== undefined) return { pair, next };
  }
  return undefined;
}
