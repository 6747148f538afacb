// Secrets inside of a config: found by the schemas of the plugins that they are for, and by their names. Of a plugin that is gone every text is taken for one. Replies show them masked; a
// masked one that comes back stands for the one that is stored, as long as it goes where it went: changing the address beside it takes the secret itself.

import { isObject, type ObjectSchema } from '@gateway/plugin-sdk';
import type { CheckConfig } from '../../../config/config.js';
import { cacheMembers, hookMembers, isConfigMember, providerMembers, strategyMembers } from '../../../config/schema.js';
import { fail } from '../../../errors/gateway-error.js';
import { placeBelow } from '../../../config/place.js';
import type { Registry } from '../../../registry/registry.js';
import { isMasked, isSecretName, maskSecret } from '../common/secret-text.js';

export interface SecretAt {
  readonly place: string;
  readonly name: string;
  readonly text: string;
  /** Where it is sent, as far as the config says. */
  readonly destination: string;
}

type Members = Readonly<Record<string, unknown>>;
type Replace = (secret: SecretAt) => unknown;

/** What stands around a value. */
interface Around {
  readonly destination: string;
  /** Whatever no schema knows is taken for a secret. */
  readonly isStrict: boolean;
  readonly isSecret: boolean;
}

const hookLists: ReadonlySet<string> = new Set(['before_request_hooks', 'after_request_hooks']);
const guardrailLists: ReadonlySet<string> = new Set(['input_guardrails', 'output_guardrails', 'input_mutators', 'output_mutators']);
/** Members of a config that decide the address to which credentials are sent. */
const isAddress = (name: string): boolean => ['provider', 'virtual_key', 'custom_host'].includes(name) || (Object.hasOwn(providerMembers, name) && !isSecretName(name));
/** Handed down to every target. */
const inheritedNames: ReadonlySet<string> = new Set(['override_params', 'default_params']);

/** The config with every secret in it replaced. The config is valid. */
export function replaceSecrets(config: Members, registry: Registry, replace: Replace): Promise<Members> {
  return new Walk(registry, replace, JSON.stringify(addresses(config))).config(config, 'config', '');
}

/** As replies show it. */
export const maskedConfig = (config: Members, registry: Registry): Promise<Members> => replaceSecrets(config, registry, ({ text }) => maskSecret(text));

export const secretsOf = (config: Members, registry: Registry): Promise<readonly SecretAt[]> => collected((replace) => replaceSecrets(config, registry, replace));

/** The checks of a stored guardrail, which stand outside of a config. */
export const maskedChecks = (checks: readonly CheckConfig[], registry: Registry): Promise<readonly CheckConfig[]> => replaceInChecks(checks, registry, ({ text }) => maskSecret(text));

export async function checkSecrets(checks: readonly CheckConfig[], registry: Registry): Promise<readonly SecretAt[]> {
  return collected((replace) => replaceInChecks(checks, registry, replace));
}

/** As unmaskedConfig. */
export async function unmaskedChecks(checks: readonly CheckConfig[], stored: readonly CheckConfig[] | null, registry: Registry): Promise<readonly CheckConfig[]> {
  return replaceInChecks(checks, registry, unmasking(stored === null ? [] : await checkSecrets(stored, registry)));
}

/** With other values in the places of secrets. */
export const replacedChecks = (checks: readonly CheckConfig[], registry: Registry, replace: Replace): Promise<readonly unknown[]> => new Walk(registry, replace, '').checks(checks, 'checks');
const replaceInChecks = async (checks: readonly CheckConfig[], registry: Registry, replace: Replace): Promise<readonly CheckConfig[]> => await replacedChecks(checks, registry, replace) as readonly CheckConfig[];

async function collected(walk: (replace: Replace) => Promise<unknown>): Promise<readonly SecretAt[]> {
  const found: SecretAt[] = [];
  await walk((secret) => {
    found.push(secret);
    return secret.text;
  });
  return found;
}

/** The config with the stored secrets in the places of those that are masked; `stored` null: there are none. Throws CONFIG_INVALID. */
export async function unmaskedConfig(config: Members, stored: Members | null, registry: Registry): Promise<Members> {
  return replaceSecrets(config, registry, unmasking(stored === null ? [] : await secretsOf(stored, registry)));
}

function unmasking(stored: readonly SecretAt[]): Replace {
  const byPlace = new Map<string, SecretAt>();
  /** Undefined: several differ. */
  const byLook = new Map<string, string | undefined>();
  const lookOf = (name: string, mask: string, destination: string): string => JSON.stringify([name, mask, destination]);
  for (const secret of stored) {
    byPlace.set(secret.place, secret);
    const look = lookOf(secret.name, maskSecret(secret.text), secret.destination);
    byLook.set(look, byLook.has(look) && byLook.get(look) !== secret.text ? undefined : secret.text);
  }
  return ({ place, name, text, destination }) => {
    if (!isMasked(text)) return text;
    const same = byPlace.get(place);
    if (same !== undefined && maskSecret(same.text) === text && same.destination === destination) return same.text;
    const moved = byLook.get(lookOf(name, text, destination));
    if (moved !== undefined) return moved;
    throw fail('CONFIG_INVALID', { path: place, param: place, reason: 'is masked, and no stored secret was here with the same address beside it; give the secret itself' });
  };
}

class Walk {
  constructor(readonly registry: Registry, readonly replace: Replace, readonly everywhere: string) {}

  async config(config: Members, place: string, above: string): Promise<Members> {
    // An empty one counts as none.
    const host = typeof config.custom_host === 'string' && config.custom_host !== '' ? config.custom_host : above;
    // Members beyond the format are parameters of the provider, which says what is secret among them.
    const schema = await this.#schema('provider', config.provider);
    const own = Object.entries(config).filter(([name]) => !isConfigMember(name)).map(([name, value]) => [name, shownOf(this.registry).#value(name, value, '', memberOf(schema, name), strictly)]);
    const destination = JSON.stringify([host, Object.entries(config).filter(([name, value]) => isAddress(name) && value !== undefined), own]);
    const copy: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(config)) {
      const below = placeBelow(place, name);
      if (name === 'targets' && Array.isArray(value)) copy[name] = await each(value, below, (target, at) => this.config(Object(target), at, host));
      else if (hookLists.has(name) && Array.isArray(value)) copy[name] = await each(value, below, (hook, at) => this.#hook(Object(hook), at));
      else if (guardrailLists.has(name) && Array.isArray(value)) copy[name] = await each<unknown>(value, below, (entry, at) => (typeof entry === 'string' ? Promise.resolve(entry) : this.#guardrail(Object(entry), at)));
      else if (name === 'cache') copy[name] = await this.#parameters(Object(value), below, await this.#schema('cache', Object(value).mode), cacheMembers);
      else if (name === 'strategy') copy[name] = await this.#parameters(Object(value), below, await this.#schema('strategy', Object(value).mode), strategyMembers);
      else if (isConfigMember(name)) copy[name] = this.#value(name, value, below, undefined, { ...byNames, destination: inheritedNames.has(name) ? this.everywhere : destination });
      else copy[name] = this.#value(name, value, below, memberOf(schema, name), { ...strictly, destination });
    }
    return copy;
  }

  async #hook(hook: Members, place: string): Promise<Members> {
    const { checks, ...members } = hook;
    const copy: Record<string, unknown> = { ...await this.#parameters(members, place, await this.#schema('hook', hook.type ?? 'guardrail'), hookMembers) };
    if (Array.isArray(checks)) copy.checks = await this.checks(checks, placeBelow(place, 'checks'));
    return copy;
  }

  checks(checks: readonly unknown[], place: string): Promise<readonly unknown[]> {
    return each(checks, place, async (check, at) => {
      const { id, parameters }: Members = Object(check);
      return { ...Object(check), parameters: await this.#parameters(Object(parameters), placeBelow(at, 'parameters'), await this.#schema('guardrail', id)) };
    });
  }

  async #guardrail(entry: Members, place: string): Promise<Members> {
    const copy: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(entry)) {
      const isCheck = isObject(value) && name !== 'on_fail' && name !== 'on_success';
      if (!isCheck) {
        copy[name] = value;
        continue;
      }
      const { id }: { readonly id?: unknown } = value;
      const named = typeof id === 'string' && id !== '' ? id : name;
      copy[name] = await this.#parameters({ ...value }, placeBelow(place, name), await this.#schema('guardrail', named.includes('.') ? named : `default.${named}`), idAlone);
    }
    return copy;
  }

  /** Undefined when nobody can say: the plugin is gone, or does not load. */
  async #schema(kind: 'provider' | 'guardrail' | 'hook' | 'cache' | 'strategy', id: unknown): Promise<ObjectSchema | undefined> {
    if (typeof id !== 'string') return undefined;
    const plugin = await this.registry.find(kind, id).catch(() => undefined);
    return plugin?.params;
  }

  /** `format`: members that the format of configs knows. */
  async #parameters(members: Members, place: string, schema: ObjectSchema | undefined, format: Members = {}): Promise<Members> {
    const destination = JSON.stringify([...addressesIn(members, '')]);
    const copy: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(members)) {
      copy[name] = this.#value(name, value, placeBelow(place, name), memberOf(schema, name), { destination, isStrict: false, isSecret: schema === undefined && !Object.hasOwn(format, name) });
    }
    return copy;
  }

  #value(name: string, value: unknown, place: string, schema: unknown, around: Around): unknown {
    const { destination, isStrict } = around;
    const isSecret = around.isSecret || (isStrict && schema === undefined) || Object(schema).secret === true || isSecretName(name) || isHeaders(name, value);
    const inside = { destination, isStrict, isSecret };
    if (Array.isArray(value)) return value.map((item, index) => this.#value(name, item, placeBelow(place, index), Object(schema).items, inside));
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([inner, each]) => [inner, this.#value(inner, each, placeBelow(place, inner), memberOf(schema, inner), inside)]));
    if (!isSecret || value === '' || typeof value !== 'string') return value;
    return this.replace({ place, name, text: value, destination });
  }
}

const byNames: Around = { destination: '', isStrict: false, isSecret: false };
const strictly: Around = { ...byNames, isStrict: true };
const idAlone: Members = { id: true };

/** What is left of a config when its secrets are taken out. */
const shownOf = (registry: Registry): Walk => new Walk(registry, () => null, '');

/** Undefined: the schema of an object says nothing of this member. */
function memberOf(schema: unknown, name: string): unknown {
  const { properties, additionalProperties: further }: { readonly properties?: unknown; readonly additionalProperties?: unknown } = Object(schema);
  if (Object.hasOwn(Object(properties), name)) return Object(properties)[name];
  return isObject(further) ? further : undefined;
}

async function each<T>(list: readonly unknown[], place: string, work: (item: unknown, place: string) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (const [index, item] of list.entries()) done.push(await work(item, placeBelow(place, index)));
  return done;
}

/** Headers: any of them may be a secret. */
const isHeaders = (name: string, value: unknown): boolean => isObject(value) && /headers$/i.test(name);

/** Parameters of a plugin that look like an address, or have the name of one, at any depth. */
function* addressesIn(value: unknown, place: string): Generator<readonly [string, unknown]> {
  if (typeof value === 'string') {
    if (/^[a-z][a-z0-9+.-]*:/i.test(value) || /(?:url|uri|host|endpoint|address|domain|origin|region)[^.]*$/i.test(place)) yield [place, value];
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) if (!isSecretName(name) && !isHeaders(name, each)) yield* addressesIn(each, `${place}.${name}`);
  }
}

function addresses(config: Members): readonly unknown[] {
  const own = Object.entries(config).filter(([name]) => isAddress(name));
  return [own, Array.isArray(config.targets) ? config.targets.map((target) => addresses(Object(target))) : []];
}
