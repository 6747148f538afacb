// Config -> frozen Plan. Runs when a config is seen for the first time: all that can be decided before a call is decided here, and a
// config that could never work is refused with the place named.

import {
  ParameterError, type Closable, type Host, type ObjectSchema, type Strategy, type StrategyPlugin,
} from '@gateway/plugin-sdk';
import { inspect } from 'node:util';
import type { BodyEdit } from '../body/splice.js';
import { parseDropPath, type DropPath } from '../body/splice.js';
import type { Config } from '../config/config.js';
import { inherit, noInheritance, type Inherited } from '../config/parameters.js';
import { placeBelow } from '../config/place.js';
import { isConfigMember, isGatewayMember } from '../config/schema.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import type { Registry } from '../registry/registry.js';
import { holdsSecret } from '../registry/secret-schema.js';
import type { StoredConfig, StoredIntegration, StoredProvider } from '../snapshot/stored-provider.js';
import type { WorkspaceGuardrails } from '../snapshot/workspace-guardrails.js';
import { Secret } from '../storage/sealer.js';
import type { BreakerPolicy, Breakers } from '../upstream/breaker.js';
import type { Trust, UpstreamClient } from '../upstream/client.js';
import { didYouMean } from '../settings/nearest-name.js';
import { parseCustomHost } from '../upstream/custom-host.js';
import { cachePlan, type CacheServices } from './compile-cache.js';
import { HookCompiler, type HookServices } from './compile-hooks.js';
import { loadProvider } from './load-provider.js';
import { mappedCredentials, type Credentials, type SecretFault, type SecretReader } from './mapped-credentials.js';
import { parameterPath } from './parameter-path.js';
import type { PlanSources } from './plan-sources.js';
import { StoredTarget, type StoredModelTarget } from './stored-target.js';
import { PlanWeight } from './plan-weight.js';
import type { Base, Group, TargetPlan, LoadedProvider, Plan, PlanNode, RetryPolicy } from './plan.js';

export interface CompileServices extends HookServices, CacheServices {
  readonly upstream: UpstreamClient;
  readonly breakers: Breakers;
  readonly userAgent: string;
  /** Where the values of secret references come from; without, each has one that is made up, so that a plan can be looked at. */
  readonly secrets?: SecretReader;
  /** A key of this gateway is or stands in the text: it must not travel upstream. */
  holdsKey(text: string): boolean;
}

/** Where the config came from and what the request's own headers add to it. */
export interface CompileContext {
  readonly workspaceId: string;
  /** `x-gateway-provider`, for targets without a provider of their own. */
  readonly provider: string | undefined;
  /** `x-gateway-custom-host`: wins over every `custom_host` of the config. */
  readonly customHost: string | undefined;
  /** Identifies the config for breakers: same text, same workspace, same breaker. */
  readonly digest: string;
  /** Finds stored providers, and remembers which; without, there are none. */
  readonly sources?: PlanSources;
  /** The stored config that is compiled. */
  readonly config?: StoredConfig;
  /** Of the workspace, for all of its calls; without or null, there are none. */
  readonly guardrails?: WorkspaceGuardrails | null;
}

const defaultRetryCodes: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 529]);
const noRetry: RetryPolicy = Object.freeze({ attempts: 0, onStatusCodes: defaultRetryCodes, usesRetryAfter: false });

/** Addresses that a target remembers. */
const basesMax = 64;

export async function compilePlan(config: Config, context: CompileContext, services: CompileServices): Promise<Plan> {
  const compiler = new Compiler(context, services);
  let root: PlanNode;
  try {
    root = await compiler.node(config, 'config', noInheritance);
  } catch (thrown) {
    // No plan will ever hold what was made before the fault.
    closeAll(compiler.instances);
    if (thrown instanceof ProviderUnnamed) return awaitingPlan(thrown.param, context.sources?.list ?? null);
    throw thrown;
  }
  return {
    root,
    targetCount: compiler.targetCount,
    canRepeat: compiler.canRepeat,
    needsBytes: compiler.needsBytes,
    judgesRequest: compiler.judgesRequest,
    instances: compiler.instances,
    weightBytes: compiler.weight.bytes,
    sources: context.sources?.list ?? null,
    config: context.config ?? null,
    guardrails: context.guardrails ?? null,
    awaitsModel: null,
    epoch: 0,
    open: 0,
    isRetired: false,
  };
}

/** No place says which provider is meant; the model of the body still may. */
class ProviderUnnamed extends Error {
  constructor(readonly param: string) {
    super('no provider is named');
  }
}

/** `param`: the place in the config that names no provider; null without a config. */
export const awaitingPlan = (param: string | null, sources: Plan['sources']): Plan => ({
  root: nowhere, targetCount: 0, canRepeat: false, needsBytes: true, judgesRequest: false, instances: [], weightBytes: 0, sources, config: null, guardrails: null,
  awaitsModel: { param }, epoch: 0, open: 0, isRetired: false,
});

const nowhere: Group = Object.freeze({ kind: 'group', path: 'config', mode: '', strategy: { next: () => -1 }, children: [], targets: [], hasBreaker: false });

/** A plugin that cannot close must not take the call down that happened to be the plan's last. */
export function closeAll(instances: readonly Closable[]): void {
  const warn = (thrown: unknown): void => process.emitWarning(`a plugin could not be closed: ${reasonOf(thrown)}`);
  for (const instance of instances) {
    try {
      const closing = instance.close?.();
      if (closing instanceof Promise) closing.catch(warn);
    } catch (thrown) {
      warn(thrown);
    }
  }
}

class Compiler {
  targetCount = 0;
  canRepeat = false;
  needsBytes = false;
  judgesRequest = false;
  readonly weight = new PlanWeight();
  readonly #strategies: Strategy[] = [];
  readonly #hooks: HookCompiler;
  /** Targets that inherit the same parameters share what is made of them. */
  readonly #edits = new Map<object, Edits>();
  readonly #combined = new Map<object | undefined, Map<object | undefined, AllEdits>>();
  readonly #dropPaths = new Map<object, readonly DropPath[]>();

  constructor(readonly context: CompileContext, readonly services: CompileServices) {
    this.#hooks = new HookCompiler(services, this.weight, context.sources ?? null, context.guardrails ?? null);
  }

  get instances(): readonly Closable[] {
    return [...this.#strategies, ...this.#hooks.instances];
  }

  async node(config: Config, path: string, parent: Inherited): Promise<PlanNode> {
    const inherited = inherit(parent, config);
    this.#hooks.visit(config, path);
    if (config.prompt_id !== undefined) throw fail('CONFIG_INVALID', { path: `${path}.prompt_id`, param: `${path}.prompt_id`, reason: 'prompts are called by their own path, POST /v1/prompts/{id}/completions; leave prompt_id out' });
    return config.targets === undefined ? this.target(config, path, inherited) : this.group(config, config.targets, path, inherited);
  }

  async group(config: Config, targets: readonly Config[], path: string, inherited: Inherited): Promise<Group> {
    const { mode, ...rest } = config.strategy ?? { mode: '' };
    const place = `${path}.strategy`;
    const plugin = await this.services.registry.find('strategy', mode);
    if (plugin === undefined) throw fail('CONFIG_INVALID', { path: `${place}.mode`, param: `${place}.mode`, reason: `no strategy ${mode} is installed${didYouMean(mode, this.services.registry.list('strategy')) || `; use ${this.services.registry.list('strategy').join(' or ')}`}` });
    const children: PlanNode[] = [];
    for (const [index, target] of targets.entries()) children.push(await this.node(target, `${path}.targets[${index}]`, inherited));
    const infos = targets.map((target) => Object.freeze({ name: target.name ?? '', weight: target.weight ?? 1, healthy: true }));
    const params = strategyParams(plugin, rest, place, this.services.registry);
    const strategy = await createStrategy(plugin, mode, params, this.services.registry.host(`strategy/${mode}`), infos, place);
    this.#strategies.push(strategy);
    this.weight.add(strategy, place);
    await this.weight.pause();
    const needs = plugin.needsFor?.(params) ?? plugin.needs;
    if (needs?.request !== undefined && needs.request !== 'head') this.needsBytes = true;
    if (children.length > 1) this.canRepeat = true;
    return Object.freeze({ kind: 'group', path, mode, strategy, children, targets: infos, hasBreaker: children.some(hasBreaker) });
  }

  async target(config: Config, path: string, inherited: Inherited): Promise<TargetPlan> {
    const { context, services } = this;
    const named = this.#providerNamed(config, inherited, path);
    const stored = named.startsWith('@') ? this.#stored(named.slice(1), path) : null;
    const provider = await loadProvider(services.registry, stored === null ? named : stored.integration.pluginId);
    const given = credentialsOf(config, provider);
    if (!namesAll(config)) requireParameters(config, given, provider, path, services.registry);
    const open = stored === null ? null : await this.#opened(stored, provider);
    const told = open === null ? given : { ...given, ...open.configurations };
    const credentials = withDefaults(told, provider, services.registry);
    const kept = open === null ? keptOf(config, given, credentials, provider, context) : withDefaults(open.configurations, provider, services.registry);
    if (context.config !== undefined && (config.api_key !== undefined || (stored === null && kept !== null)) && !this.#namesProvider(config, inherited)) {
      throw fail('CONFIG_INVALID', { path, param: path, reason: 'holds a key and leaves the provider to the call; a stored key goes to the provider that is stored with it: name it beside the key' });
    }
    const givenHost = context.customHost || inherited.custom_host || undefined;
    // Whoever may use a stored key may not have it sent where they like.
    if (stored !== null && givenHost !== undefined) throw fail('CUSTOM_HOST_INVALID', { reason: `@${stored.provider.slug} has its address from its integration; leave it out, or set custom_host there`, param: context.customHost ? 'x-gateway-custom-host' : `${path}.custom_host` });
    if (kept !== null && context.customHost) throw fail('CUSTOM_HOST_INVALID', { reason: 'the stored config holds a key, which goes where the config says; leave x-gateway-custom-host out, or set custom_host there', param: 'x-gateway-custom-host' });
    const customHost = stored === null ? givenHost : stored.integration.customHost ?? undefined;
    const apiKey = open?.key ?? (config.api_key === undefined ? null : new Secret(config.api_key));
    this.#refuseOwnKeys(apiKey, credentials, customHost, path);
    const baseOf = this.#bases(provider, customHost, path, apiKey);
    const base = kept === null ? baseIfKnown(baseOf, credentials, provider) : baseOf(null, kept);
    if (kept !== null && baseOf(null, credentials) !== base) throw addressChanged(path);
    const storedTarget = stored === null ? null : this.#storedTarget(stored, path, open?.fault ?? null);
    if (storedTarget?.readsModel === true) this.needsBytes = true;
    if (storedTarget?.isSelective === true) this.judgesRequest = true;
    const retry = retryPolicy(inherited);
    if (retry.attempts > 0) this.canRepeat = true;
    this.weight.addBytes(targetBytes, path);
    await this.weight.pause();
    const { edits, fieldEdits, fills } = this.#allEdits(inherited, path);
    const dropPaths = this.#dropPathsOf(inherited.drop_params, path);
    // Parameter rules of endpoints touch JSON bodies only, which unified routes collect anyway.
    // An in-process provider takes its body whole.
    const { auth } = provider.plugin;
    // A path may need the model, which is a field of the body.
    if ([...provider.endpoints.values()].some((entry) => typeof entry === 'function' || entry.path.includes('{model}'))) this.needsBytes = true;
    if (edits.length + dropPaths.length > 0 || provider.transport !== null || (auth.type === 'signed' && auth.covers === 'body')) this.needsBytes = true;
    const breaker = breakerPolicy(inherited);
    const hooks = await this.#hooks.lists(inherited);
    const cache = inherited.cache === undefined ? null : await cachePlan(inherited.cache, `${path}.cache`, services);
    this.targetCount += 1;
    if (hooks.before !== null) this.judgesRequest = true;
    const target: TargetPlan = {
      kind: 'target',
      path,
      provider,
      base,
      baseOf,
      credentials,
      defaulted: defaultedOf(credentials, told),
      kept,
      apiKey,
      stored: storedTarget,
      needsApiKey: customHost === undefined && !(auth.type === 'bearer' && auth.isOptional === true),
      headers: headersOf(provider, credentials, services.userAgent),
      retry,
      requestTimeoutMs: inherited.request_timeout ?? 0,
      forwardHeaders: (inherited.forward_headers ?? []).map((name) => name.trim().toLowerCase()),
      edits,
      fieldEdits,
      fills,
      dropPaths,
      breakerSlot: breaker === null ? -1 : services.breakers.slot(`${context.workspaceId} ${context.digest} ${path}`, provider.id),
      breaker,
      isStrict: inherited.strict_reference_compliance ?? true,
      unsupportedParams: inherited.unsupported_params ?? null,
      before: hooks.before,
      after: hooks.after,
      afterDigest: hooks.afterDigest,
      cache,
    };
    // Whoever prints a plan does not mean the secrets in it.
    for (const name of ['toJSON', inspect.custom] as const) Object.defineProperty(target, name, { value: () => `[target ${path}]` });
    return Object.freeze(target);
  }

  /** The provider of a target: its own, that of the model which it sets, that of the call. Throws ProviderUnnamed. */
  #providerNamed(config: Config, { override_params: overrides, default_params: defaults }: Inherited, path: string): string {
    const own = config.virtual_key === undefined ? config.provider : `@${config.virtual_key.replace(/^@/, '')}`;
    const named = own || this.#slugOf(overrides?.model) || this.context.provider || this.#slugOf(defaults?.model);
    if (named) return named;
    throw new ProviderUnnamed(path);
  }

  /** The config itself says which provider it means. */
  #namesProvider(config: Config, { override_params: overrides }: Inherited): boolean {
    return Boolean(config.provider) || config.virtual_key !== undefined || this.#slugOf(overrides?.model) !== undefined;
  }

  /** `@slug` of `@slug/model`, when there is such a provider: models of others begin with @ as well. */
  #slugOf(model: unknown): string | undefined {
    const slug = slugOfModel(model);
    return slug === undefined || this.context.sources?.provider(slug) === undefined ? undefined : `@${slug}`;
  }

  #stored(slug: string, path: string): Stored {
    const { sources } = this.context;
    const provider = sources?.provider(slug);
    if (sources === undefined || provider === undefined) throw fail('PROVIDER_SLUG_UNKNOWN', { slug: slug.slice(0, 128), param: this.context.provider === `@${slug}` ? 'provider' : path });
    const integration = sources.integration(provider.integrationId);
    if (integration === undefined) throw fail('PROVIDER_INACTIVE', { slug, state: 'without an integration: it was removed, or its secrets cannot be opened', param: 'provider' });
    return { provider, integration };
  }

  /** With the values of secret references in their places. */
  async #opened({ provider, integration }: Stored, { plugin }: LoadedProvider): Promise<Credentials> {
    const { sources } = this.context;
    if (integration.mappings.length === 0 || sources === undefined) return { key: integration.open.key, configurations: integration.open.configurations, fault: null };
    return mappedCredentials(integration, plugin, provider.workspaceId, sources, this.services);
  }

  #storedTarget({ provider, integration }: Stored, path: string, fault: SecretFault | null): StoredTarget {
    const { open } = integration;
    const headers = flatHeaders(open.headers);
    const models = new Map<string, StoredModelTarget>();
    for (const { slug, customHost } of integration.models.values()) {
      const own = open.modelHeaders[slug];
      if (customHost === null && own === undefined) continue;
      this.weight.addBytes(targetBytes, path);
      models.set(slug, {
        base: customHost === null ? null : this.#base(parseCustomHost(customHost), 'request'),
        headers: own === undefined ? null : flatHeaders({ ...open.headers, ...own }),
      });
    }
    return new StoredTarget(provider, integration, headers, models, fault);
  }

  #base(url: URL, trust: Trust): Base {
    return Object.freeze({ origin: this.services.upstream.origin(url, trust), originUrl: url.origin, path: url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '') });
  }

  /** Put there by mistake, most likely: whoever runs the provider could call the gateway with it. */
  #refuseOwnKeys(apiKey: Secret | null, credentials: Readonly<Record<string, unknown>>, customHost: string | undefined, path: string): void {
    for (const [name, value] of [['api_key', apiKey?.reveal()], ...Object.entries(credentials), ['custom_host', customHost]]) {
      const text = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
      if (!this.services.holdsKey(text)) continue;
      throw fail('CONFIG_INVALID', { path: `${path}.${name}`, param: `${path}.${name}`, reason: 'is a key of this gateway; give the one of the provider' });
    }
  }

  #allEdits({ default_params: defaults, override_params: overrides }: Inherited, path: string): AllEdits {
    let known = this.#combined.get(defaults);
    if (known === undefined) this.#combined.set(defaults, known = new Map());
    let all = known.get(overrides);
    if (all === undefined) {
      const parts = [this.#editsOf('default', defaults, path), this.#editsOf('set', overrides, path)];
      all = { edits: parts.flatMap(({ body }) => body), fieldEdits: parts.flatMap(({ fields }) => fields), fills: new Map(parts.flatMap((part) => part.fills)) };
      this.weight.addBytes(all.edits.length * editBytes, path);
      known.set(overrides, all);
    }
    return all;
  }

  #editsOf(kind: 'set' | 'default', params: Readonly<Record<string, unknown>> | undefined, path: string): Edits {
    if (params === undefined) return noEdits;
    let edits = this.#edits.get(params);
    if (edits === undefined) {
      const place = `${path}.${kind === 'set' ? 'override_params' : 'default_params'}`;
      const entries = Object.entries(params);
      this.weight.addBytes(entries.length * editBytes, place);
      edits = { body: [], fields: [], fills: entries.map(([name, value]) => [name, name === 'model' ? this.#withoutSlug(value) : value]) };
      for (const [name, given] of entries) {
        const value = name === 'model' ? this.#withoutSlug(given) : given;
        const text = JSON.stringify(value);
        this.weight.addBytes(text.length * editCopies, place);
        edits.body.push({ kind, name, value: encoder.encode(text) });
        edits.fields.push({ kind, name, value: typeof value === 'string' ? value : text });
      }
      this.#edits.set(params, edits);
    }
    return edits;
  }

  /** The provider's own name of a model that a config sets as `@slug/model`. */
  #withoutSlug(model: unknown): unknown {
    return this.#slugOf(model) === undefined ? model : String(model).slice(String(model).indexOf('/') + 1);
  }

  #dropPathsOf(texts: readonly string[], path: string): readonly DropPath[] {
    let paths = this.#dropPaths.get(texts);
    if (paths === undefined) {
      const place = `${path}.drop_params`;
      if (texts.length > dropPathsMax) throw fail('CONFIG_INVALID', { path: place, param: place, reason: `has more than ${dropPathsMax} paths, those inherited included` });
      paths = texts.map((text, index) => {
        const parsed = parseDropPath(text);
        if (parsed === undefined) throw fail('CONFIG_INVALID', { path: `${place}[${index}]`, param: `${place}[${index}]`, reason: 'must be a dotted path such as tools[*].function.strict' });
        return parsed;
      });
      this.weight.addBytes(paths.reduce((sum, steps) => sum + steps.length * dropStepBytes, 0), place);
      this.#dropPaths.set(texts, paths);
    }
    return paths;
  }

  #bases(provider: LoadedProvider, customHost: string | undefined, path: string, apiKey: Secret | null): TargetPlan['baseOf'] {
    const known = new Map<string, Base>();
    const make = (url: URL, trust: Trust): Base => {
      const base = known.get(url.href) ?? this.#base(url, trust);
      // Credentials in headers make addresses; a plan must not keep all of them.
      if (known.size < basesMax) known.set(url.href, base);
      return base;
    };
    if (customHost !== undefined) {
      const base = make(parseCustomHost(customHost), 'request');
      return () => base;
    }
    if (provider.transport !== null) {
      const base = make(new URL('http://in-process.invalid'), 'operator');
      return () => base;
    }
    return (template, credentials) => {
      const text = baseText(provider, template, credentials, apiKey);
      if (!URL.canParse(text)) throw fail('CONFIG_INVALID', { path, param: path, reason: `the address of ${provider.id} that its credentials make is not a URL` });
      // A host name that a credential completes was written by the request, too.
      return make(new URL(text), text === (template ?? provider.plugin.baseUrl) ? 'operator' : 'request');
    };
  }
}

interface Stored {
  readonly provider: StoredProvider;
  readonly integration: StoredIntegration;
}

/** The config's parameters, as the kinds of body want them. */
interface Edits {
  readonly body: BodyEdit[];
  readonly fields: TargetPlan['fieldEdits'][number][];
  readonly fills: readonly (readonly [string, unknown])[];
}

/** Defaults first, as they are applied. */
type AllEdits = Pick<TargetPlan, 'edits' | 'fieldEdits' | 'fills'>;

const noEdits: Edits = { body: [], fields: [], fills: [] };
const encoder = new TextEncoder();
/** Held by a target, about, beside what it shares with others. */
const targetBytes = 2_048;
/** Held by one parameter beside its value, which is kept in so many forms. */
const editBytes = 512;
const editCopies = 4;
const dropStepBytes = 128;
/** Every member of a body is held against all paths. */
const dropPathsMax = 100;

/** The slug of `@slug/model`; undefined for other models. */
export function slugOfModel(model: unknown): string | undefined {
  if (typeof model !== 'string' || model.charCodeAt(0) !== 0x40 /* @ */) return undefined;
  const end = model.indexOf('/');
  return end > 1 && end < model.length - 1 ? model.slice(1, end) : undefined;
}

/** What the gateway or the HTTP client writes itself is left out. */
function flatHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  const list: string[] = [];
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    if (!ownHeaders.has(name) && !name.startsWith('x-gateway-')) list.push(name, value);
  }
  return Object.freeze(list);
}

const ownHeaders: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'content-type', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'expect', 'keep-alive']);

const hasBreaker = (node: PlanNode): boolean => (node.kind === 'target' ? node.breaker !== null : node.hasBreaker);

/** Members that the specification shows for every mode: they may stand in a strategy that has no use for them. */
const sharedStrategyMembers: ReadonlySet<string> = new Set(['conditions', 'default', 'on_status_codes', 'sticky']);

function strategyParams(plugin: StrategyPlugin, given: object, place: string, registry: Registry): Record<string, unknown> {
  const schema: ObjectSchema = plugin.params;
  const params: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(schema.properties, name) || !sharedStrategyMembers.has(name)) params[name] = value;
  }
  const fault = registry.checkParams(plugin, params);
  if (fault !== undefined) throw fail('CONFIG_INVALID', { path: join(place, fault.path), param: join(place, fault.path), reason: fault.reason });
  return params;
}

async function createStrategy(
  plugin: StrategyPlugin, mode: string, params: Record<string, unknown>, host: Host, targets: Group['targets'], place: string,
): Promise<Strategy> {
  try {
    return await plugin.create(params, host, targets);
  } catch (thrown) {
    if (isGatewayError(thrown)) throw thrown;
    const named = parameterPath(thrown);
    if (named !== undefined) {
      const path = join(place, named);
      throw fail('CONFIG_INVALID', { path, param: path, reason: reasonOf(thrown) });
    }
    throw fail('PLUGIN_FAILED', { plugin: `strategy/${mode}`, reason: reasonOf(thrown) }, thrown);
  }
}

const join = (place: string, path: string): string => (path === '' ? place : path.startsWith('[') ? place + path : `${place}.${path}`);

const namesAll = (config: Config): boolean => Object.keys(config).every(isConfigMember);

/** What the format of configs leaves to the provider. Throws CONFIG_INVALID. */
function requireParameters(config: Config, given: Readonly<Record<string, unknown>>, provider: LoadedProvider, place: string, registry: Registry): void {
  const unknown = Object.keys(config).find((name) => !isConfigMember(name) && !provider.credentialNames.includes(name));
  if (unknown !== undefined) {
    const path = placeBelow(place, unknown);
    throw fail('CONFIG_INVALID', { path, param: path, reason: `unknown property${didYouMean(unknown, provider.credentialNames) || `; of its own ${provider.id} has ${provider.credentialNames.join(', ') || 'none'}`}` });
  }
  const fault = provider.partial === null ? undefined : registry.checkParams(provider.partial, structuredClone(given));
  if (fault !== undefined) throw fail('CONFIG_INVALID', { path: join(place, fault.path), param: join(place, fault.path), reason: fault.reason });
}

/** A copy with the defaults of the provider's schema. What does not fit its schema stays as it is, as long as the provider takes it. */
function withDefaults(given: Readonly<Record<string, unknown>>, { partial }: LoadedProvider, registry: Registry): Readonly<Record<string, unknown>> {
  if (partial === null) return Object.freeze(given);
  const filled = structuredClone(given);
  return Object.freeze(registry.checkParams(partial, filled) === undefined ? filled : given);
}

const noNames: ReadonlySet<string> = new Set();

function defaultedOf(credentials: Readonly<Record<string, unknown>>, given: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const names = credentials === given ? [] : Object.keys(credentials).filter((name) => given[name] === undefined);
  return names.length === 0 ? noNames : new Set(names);
}

function credentialsOf(config: Config, provider: LoadedProvider): Readonly<Record<string, unknown>> {
  const credentials: Record<string, unknown> = {};
  const given = new Map<string, unknown>(Object.entries(config));
  for (const name of provider.credentialNames) {
    const value = given.get(name);
    // A parameter of a third party may be called as something that the gateway reads itself.
    if (value !== undefined && !isGatewayMember(name)) credentials[name] = value;
  }
  return Object.freeze(credentials);
}

/** What a target of a stored config says of its provider, when there is a secret among it; whoever may use that may not have it sent where they like. */
function keptOf(config: Config, given: Readonly<Record<string, unknown>>, credentials: Readonly<Record<string, unknown>>, provider: LoadedProvider, context: CompileContext): Readonly<Record<string, unknown>> | null {
  return context.config !== undefined && (config.api_key !== undefined || hasSecret(given, provider)) ? credentials : null;
}

function hasSecret(credentials: Readonly<Record<string, unknown>>, { plugin: { params: { properties } } }: LoadedProvider): boolean {
  return Object.keys(credentials).some((name) => properties[name]?.type === 'object' || holdsSecret(properties[name]));
}

/** Throws what a target lacks of its address, when it has a secret: stored, no call may complete it. */
export function requireAddress({ base, baseOf, credentials, apiKey, provider }: TargetPlan): void {
  if (base === null && (apiKey !== null || hasSecret(credentials, provider))) baseOf(null, credentials);
}

/** A part of the address that came with the call, beside a stored secret. */
export const addressChanged = (param: string): Error =>
  fail('CUSTOM_HOST_INVALID', { reason: 'a stored key goes to the address that is stored with it, which this call would change; leave out what says where, such as a region or resource name', param });

/** Null when a credential is missing that a header of the request may bring; every call then asks anew. */
function baseIfKnown(baseOf: TargetPlan['baseOf'], credentials: Readonly<Record<string, unknown>>, provider: LoadedProvider): Base | null {
  try {
    return baseOf(null, credentials);
  } catch (thrown) {
    if (isGatewayError(thrown) && (thrown.code === 'CREDENTIAL_MISSING' || thrown.code === 'CREDENTIAL_INVALID') && thrown.param !== null && credentials[thrown.param] === undefined && provider.credentialNames.includes(thrown.param)) return null;
    throw thrown;
  }
}

function baseText(provider: LoadedProvider, template: string | null, credentials: Readonly<Record<string, unknown>>, apiKey: Secret | null): string {
  const given = template ?? provider.plugin.baseUrl;
  if (typeof given !== 'string') {
    try {
      const text = given(apiKey === null ? credentials : { ...credentials, api_key: apiKey.reveal() });
      // As in a template: what becomes part of the address can neither end nor extend a host name.
      for (const [name, value] of Object.entries(credentials)) {
        if (typeof value === 'string' && /[^\w.-]/.test(value) && text.includes(value)) throw new ParameterError(name, 'becomes part of an address: letters, digits, dots and dashes only');
      }
      return text;
    } catch (thrown) {
      const place = parameterPath(thrown);
      if (place === undefined) throw fail('PLUGIN_FAILED', { plugin: `provider/${provider.id}`, reason: 'its baseUrl function failed' }, thrown);
      throw fail('CREDENTIAL_INVALID', { provider: provider.id, param: place, reason: reasonOf(thrown) });
    }
  }
  if (given === '') throw fail('CUSTOM_HOST_MISSING', { provider: provider.id, param: 'custom_host' });
  return given.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = credentials[name];
    // The value becomes part of a host name: nothing that could end or extend it.
    if (typeof value !== 'string' || !/^[\w.-]+$/.test(value)) throw fail('CREDENTIAL_MISSING', { provider: provider.id, name, param: name });
    return value;
  });
}

function headersOf(provider: LoadedProvider, credentials: Readonly<Record<string, unknown>>, userAgent: string): readonly string[] {
  const headers = ['user-agent', userAgent];
  for (const [name, template] of Object.entries(provider.plugin.headers ?? {})) {
    let isWhole = true;
    const value = template.replace(/\{(\w+)\}/g, (_, credential: string) => {
      const filled = credentials[credential];
      if (typeof filled !== 'string') isWhole = false;
      return String(filled);
    });
    if (isWhole) headers.push(name.toLowerCase(), value);
  }
  return headers;
}

function retryPolicy(inherited: Inherited): RetryPolicy {
  const { retry } = inherited;
  if (retry === undefined || retry.attempts === 0) return noRetry;
  return Object.freeze({
    attempts: retry.attempts,
    onStatusCodes: retry.on_status_codes === undefined ? defaultRetryCodes : new Set(retry.on_status_codes),
    usesRetryAfter: retry.use_retry_after_headers ?? false,
  });
}

function breakerPolicy(inherited: Inherited): BreakerPolicy | null {
  const given = inherited.cb_config;
  if (given === undefined) return null;
  return Object.freeze({
    failureThreshold: given.failure_threshold,
    cooldownMs: given.cooldown_interval,
    failureStatusCodes: given.failure_status_codes === undefined ? null : new Set(given.failure_status_codes),
  });
}
