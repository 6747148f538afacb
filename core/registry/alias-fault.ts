// What is wrong with the aliases of a provider's parameters. Runs when its package is loaded, so that whoever wrote it reads it, and not whoever stores credentials.

import { isObject, type ObjectSchema, type Schema } from '@gateway/plugin-sdk';

/** Names of the gateway's own, beside those of providers. */
const reserved: ReadonlySet<string> = new Set(['api_key', 'key', 'custom_host', 'custom_headers']);
const shape = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

export function aliasFault(aliases: unknown, params: ObjectSchema): string | undefined {
  if (aliases === undefined) return undefined;
  if (!isObject(aliases)) return 'aliases must be an object of lists: { region: [\'acme_region\'] }';
  const taken = new Map<string, string>();
  for (const [path, names] of Object.entries(aliases)) {
    const isNested = path.includes('.');
    if (path !== 'custom_host' && (path === 'api_key' || !hasParameter(params, path.split('.')))) return `aliases names ${path}, which params does not have`;
    if (!Array.isArray(names)) return `aliases.${path} must be a list of names`;
    for (const name of names as readonly unknown[]) {
      if (typeof name !== 'string' || !shape.test(name)) return `aliases.${path} holds ${JSON.stringify(name)}, which is not a name: letters, digits and underscores, 64 at the most`;
      if (isNested) continue;
      if (reserved.has(name) || name.startsWith('masked_')) return `aliases.${path} holds ${name}, which is a name of the gateway's own`;
      if (Object.hasOwn(params.properties, name)) return `aliases.${path} holds ${name}, which is a parameter itself`;
      const other = taken.get(name);
      if (other !== undefined) return `aliases gives ${name} to ${other} and to ${path}`;
      taken.set(name, path);
    }
  }
  return undefined;
}

/** A path below parameters, without indexes of lists. */
function hasParameter(schema: Schema, [name = '', ...rest]: readonly string[]): boolean {
  const object = schema.type === 'array' ? schema.items : schema;
  const found = object.type === 'object' && Object.hasOwn(object.properties, name) ? object.properties[name] : undefined;
  return found !== undefined && (rest.length === 0 || hasParameter(found, rest));
}
