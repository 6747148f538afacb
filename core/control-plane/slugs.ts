// Slugs: names of rows in paths, headers and models. Made from the name of the row and random digits, so that two rows of one name differ, or
// chosen by the client.

import { randomBytes } from 'node:crypto';
import { Type } from '../storage/type.js';

/** What people call it. */
export const nameField = () => Type.String({ minLength: 1, maxLength: 255 });
/** A slug of the client's own choice. */
export const slugField = () => Type.String({ pattern: '^[a-zA-Z0-9_-]+$', minLength: 1, maxLength: 255 });

/** `<prefix>-<name>-<6 hex digits>`; the name in kebab case, cut; without the parts that are empty. */
export function slugFrom(name: string, { prefix = '', nameCharsMax = 40 }: { readonly prefix?: string; readonly nameCharsMax?: number } = {}): string {
  const kebab = name.normalize('NFKD').replace(/\p{Mark}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, nameCharsMax).replace(/^-+|-+$/g, '');
  return [prefix, kebab, randomBytes(3).toString('hex')].filter((part) => part !== '').join('-');
}
