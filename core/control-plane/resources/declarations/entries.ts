// The documents of a call, as the entries that they hold: each checked by its schema, named, and placed. Nothing of them is looked up or made here.

import { isObject } from '@gateway/plugin-sdk';
import { fail, isGatewayError } from '../../../errors/gateway-error.js';
import { didYouMean } from '../../../settings/nearest-name.js';
import { checkInput } from '../../check-input.js';
import type { Declared, Members } from '../../define-declared.js';

/** Of one call. */
export const entriesMax = 5_000;

export interface Entry {
  readonly declared: Declared;
  readonly name: string;
  /** Slug or id as the file has it; undefined: it says nothing; null: the organisation's own. */
  readonly workspace: string | null | undefined;
  readonly members: Members;
  /** Where it stands: `documents.0.configs.1`. */
  readonly place: string;
  /** Another entry stands for it. */
  readonly isImplied: boolean;
}

/** Throws DECLARATION_INVALID for the first fault. */
export function entriesOf(documents: readonly unknown[], known: readonly Declared[]): Entry[] {
  const entries: Entry[] = [];
  for (const [index, document] of documents.entries()) entries.push(...entriesOfDocument(document, `documents.${index}`, known));
  const stated = new Set(entries.map((entry) => impliedKey(entry.declared.section, entry.workspace, entry.name)));
  for (const entry of [...entries]) {
    for (const implied of entry.declared.implied(entry.members, entry.workspace === null)) {
      const declared = known.find(({ section }) => section === implied.section);
      const name = declared === undefined ? '' : nameOf(declared, implied.entry, entry.place);
      const workspace = implied.workspace ?? entry.workspace;
      if (declared === undefined || stated.has(impliedKey(implied.section, workspace, name))) continue;
      stated.add(impliedKey(implied.section, workspace, name));
      entries.push({ declared, name, workspace, members: implied.entry, place: entry.place, isImplied: true });
    }
  }
  if (entries.length > entriesMax) throw invalid('documents', `${entries.length} objects are more than the ${entriesMax} that can be applied at once`);
  return entries;
}

const impliedKey = (section: string, workspace: string | null | undefined, name: string): string => JSON.stringify([section, workspace ?? '', name]);

function entriesOfDocument(document: unknown, place: string, known: readonly Declared[]): Entry[] {
  if (!isObject(document)) throw invalid(place, 'a file holds lists of objects by their names: providers, configs, ...');
  const { workspace_id: ofDocument, ...sections }: Members = { ...document };
  checkWorkspace(ofDocument, `${place}.workspace_id`);
  const entries: Entry[] = [];
  for (const [section, given] of Object.entries(sections)) {
    const at = `${place}.${section}`;
    const declared = known.find((each) => each.section === section);
    if (declared === undefined) throw invalid(at, `${section.slice(0, 64)} is not known here${didYouMean(section, known.map((each) => each.section)) || `; known are ${known.map((each) => each.section).join(', ')}`}`);
    // A list that somebody emptied, and left the name of.
    const list: readonly unknown[] = declared.identity === null ? [given] : given === null ? [] : Array.isArray(given) ? given : [undefined];
    for (const [index, each] of list.entries()) {
      const own = declared.identity === null ? at : `${at}.${index}`;
      if (!isObject(each)) throw invalid(Array.isArray(given) ? own : at, declared.identity === null ? `${section} must be an object` : Array.isArray(given) ? `an entry of ${section} must be an object` : `${section} must be a list`);
      entries.push(entryOf(declared, { ...each }, own, ofDocument));
    }
  }
  return entries;
}

function entryOf(declared: Declared, given: Members, place: string, ofDocument: unknown): Entry {
  const { level, identity, kind } = declared;
  const { workspace_id: own, ...members }: Members = given;
  checkWorkspace(own, `${place}.workspace_id`);
  if (level === 'organisation' && own !== undefined && own !== null) throw invalid(`${place}.workspace_id`, `a ${kind} belongs to the organisation; leave workspace_id out`);
  if (level === 'workspace' && own === null) throw invalid(`${place}.workspace_id`, `a ${kind} belongs to a workspace; give its slug`);
  const name = nameOf(declared, members, place);
  // An object with a slug may leave out its name.
  const isNamed = identity !== 'slug' || members.name !== undefined || !Object.hasOwn(Object(Object(declared.entry).properties), 'name');
  const wanted = own === undefined ? ofDocument : own;
  const workspace = level === 'organisation' || wanted === null ? null : typeof wanted === 'string' ? wanted : undefined;
  // Unknown members are told before missing ones: they are often the missing ones, misspelt.
  const knownMembers = Object.keys(Object(Object(declared.entry).properties));
  const unknown = Object.keys(members).find((each) => !knownMembers.includes(each));
  if (unknown !== undefined) {
    const known = [...knownMembers, ...(level === 'organisation' ? [] : ['workspace_id'])];
    throw invalid(`${place}.${unknown.slice(0, 64)}`, `${titleOf(declared, name)}: ${unknown.slice(0, 64)} is not known here${didYouMean(unknown, known) || `; known are ${known.join(', ')}`}`);
  }
  try {
    const checked = checkInput(declared.entry, structuredClone(isNamed ? members : { ...members, name }), 'body');
    return { declared, name, workspace, members: checked, place, isImplied: false };
  } catch (thrown) {
    throw placed(thrown, declared, name, place);
  }
}

function nameOf({ identity, kind }: Declared, members: Members, place: string): string {
  if (identity === null) return '';
  const name = members[identity];
  if (typeof name !== 'string' || name === '') throw invalid(`${place}.${identity}`, `${kind}: ${identity} is required`);
  return name;
}

function checkWorkspace(given: unknown, place: string): asserts given is string | null | undefined {
  if (given !== undefined && given !== null && (typeof given !== 'string' || given === '')) throw invalid(place, 'workspace_id must be the slug of a workspace');
}

export const invalid = (param: string, reason: string, cause?: unknown): Error => fail('DECLARATION_INVALID', { param, reason }, cause);

/** `config main`. */
export const titleOf = ({ kind }: Pick<Declared, 'kind'>, name: string): string => (name === '' ? `the ${kind}` : `${kind} ${name.slice(0, 255)}`);

/** The refusal of an operation, with the place of the entry in front. Errors that are not about the entry stay as they are. */
export function placed(thrown: unknown, declared: Pick<Declared, 'kind'>, name: string, place: string): unknown {
  if (!isGatewayError(thrown) || ![400, 404, 409].includes(thrown.status) || thrown.code === 'DECLARATION_INVALID') return thrown;
  const inside = (thrown.param ?? '').replace(/\[(\d+)\]/g, '.$1');
  return invalid(inside === '' || inside === 'body' ? place : `${place}.${inside}`, `${titleOf(declared, name)}: ${thrown.message}`, thrown);
}
