// Two views of an object, and what differs between them, member by member. Secrets are compared, and shown nowhere.

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@gateway/plugin-sdk';
import { hashKey } from '../../../auth/key.js';
import { DeclaredSecret, type Members } from '../../define-declared.js';

export interface MemberChange {
  readonly member: string;
  /** JSON; null: there was none. */
  readonly before: string | null;
  readonly after: string | null;
}

const shownCharsMax = 200;

/** The members that differ; those that only one has among them. */
export const differing = (before: Members, after: Members): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isDeepStrictEqual(before[name], after[name]));

export function memberChanges(before: Members | null, after: Members | null): MemberChange[] {
  const [from, to] = [before ?? {}, after ?? {}];
  return differing(from, to).filter((name) => !(isNone(from[name]) && isNone(to[name]))).map((member) => ({ member, before: shown(from[member]), after: shown(to[member]) }));
}

const isNone = (value: unknown): boolean => value === undefined || value === null;

function shown(value: unknown): string | null {
  if (isNone(value)) return null;
  const text = JSON.stringify(value);
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}

/** Whether a value of a file equals the stored one. */
export function isStored(wanted: unknown, stored: unknown): boolean {
  if (stored instanceof DeclaredSecret) return typeof wanted === 'string' && hashKey(wanted) === stored.digest;
  if (Array.isArray(wanted)) return Array.isArray(stored) && wanted.length === stored.length && wanted.every((each, index) => isStored(each, stored[index]));
  if (isObject(wanted)) {
    if (!isObject(stored)) return false;
    const [left, right]: readonly [Members, Members] = [{ ...wanted }, { ...stored }];
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((name) => isStored(left[name] ?? null, right[name] ?? null));
  }
  if ((wanted ?? null) === (stored ?? null)) return true;
  return typeof wanted === 'string' && typeof stored === 'string' && timeShape.test(wanted) && timeShape.test(stored) && Date.parse(wanted) === Date.parse(stored);
}

const timeShape = /^\d{4}-\d{2}-\d{2}T\d{2}:/;
