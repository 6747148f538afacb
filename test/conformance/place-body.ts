// Bodies that have a text at one place, from the notation of string-places.json: `a[]{type=x}.b.*` is the member `b` of the items of `a`, which
// have the type x, and in it a member of any name.

import type { Json } from '@gateway/plugin-sdk';

/** What stands for `*`. */
export const anyName = 'own_name';

/** The value at `place`, with `text` where the place ends. */
export function bodyAt(place: string, text: Json): Json {
  if (place === '') return text;
  if (place.startsWith('[]')) return [bodyAt(place.slice(2), text)];
  if (place.startsWith('{')) {
    const end = place.indexOf('}');
    const marks = Object.fromEntries(place.slice(1, end).split(',').map((mark) => mark.split('=')));
    const inner = bodyAt(place.slice(end + 1), text);
    return { ...marks, ...inner as object };
  }
  const [, name = '', rest = ''] = /^\.?([^.[{]+)(.*)$/s.exec(place) ?? [];
  if (name === '') throw new Error(`${place} is not a place`);
  return { [name === '*' ? anyName : name]: bodyAt(rest, text) };
}
