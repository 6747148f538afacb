import { ParameterError } from '@gateway/plugin-sdk';

/** A list of names, or names in one text with commas between them; undefined stays so. */
export function readNames(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list: unknown = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(list)) throw new ParameterError(path, 'must be a list of names, or one text with commas between the names');
  const names: string[] = [];
  for (const [index, entry] of list.entries()) {
    if (typeof entry !== 'string') throw new ParameterError(`${path}[${index}]`, 'must be a text');
    const name = entry.trim();
    if (name !== '' && !names.includes(name)) names.push(name);
  }
  return names;
}

/** Throws when a name is both allowed and blocked. */
export function refuseOverlap(allowed: readonly string[] | undefined, blocked: readonly string[] | undefined, path: string, allowedName: string): void {
  const both = blocked?.find((name) => allowed?.includes(name) === true);
  if (both !== undefined) throw new ParameterError(path, `${both} is in ${allowedName} as well; keep it in one of the two`);
}
