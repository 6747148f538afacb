// Lists of hooks and guardrails of a config -> compiled hooks. Runs when a config is seen for the first time; a check whose parameters can
// never work is refused here, with the place named. A list that several targets inherit is compiled once, and its hooks run once for a call.

import type { Check, Hook, Needs } from '@gateway/plugin-sdk';
import { createHash } from 'node:crypto';
import type { CheckConfig, Config, DenyingAction, GuardrailConfig, HookConfig, JsonObject } from '../config/config.js';
import { hookMembers, nameOfEntry, nameOfHook } from '../config/guardrail-names.js';
import type { Inherited } from '../config/parameters.js';
import { placeBelow } from '../config/place.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { ownNamespaces, parseId } from '../registry/ids.js';
import type { StoredGuardrail } from '../snapshot/stored-provider.js';
import type { DefaultGuardrail, WorkspaceGuardrails } from '../snapshot/workspace-guardrails.js';
import type { Registry } from '../registry/registry.js';
import { didYouMean } from '../settings/nearest-name.js';
import { hookMembers as membersOfDefinition, type GuardrailDefinition } from './guardrail-definition.js';
import type { CompiledCheck, CompiledHook, Feedback, HookPhase, PooledCheck } from './hooks.js';
import { LoopBudget } from './loop-budget.js';
import { parameterPath } from './parameter-path.js';
import type { PlanSources } from './plan-sources.js';
import type { PlanWeight } from './plan-weight.js';
import type { ResponseHookPlan } from './plan.js';

export interface HookServices {
  readonly registry: Registry;
  /** A check of `pluginModule` that runs in the worker pool. */
  readonly poolCheck: (pluginModule: URL, params: object, timeoutMs: number) => PooledCheck;
}

/** For a check that names none itself. */
const checkTimeoutMsDefault = 5_000;
const checkTimeoutMsMax = 120_000;
const listNames = ['before_request_hooks', 'after_request_hooks', 'input_guardrails', 'output_guardrails', 'input_mutators', 'output_mutators'] as const;

interface HookLists {
  readonly before: readonly CompiledHook[] | null;
  readonly after: ResponseHookPlan | null;
  /** Says which after hooks these are; answers that passed others must not be taken for theirs. */
  readonly afterDigest: string;
}

export class HookCompiler {
  /** To be closed with the plan. */
  readonly instances: (Hook | Check)[] = [];
  readonly #lists = new Map<object, Promise<readonly CompiledHook[]>>();
  /** Where each list stands in the config. */
  readonly #places = new Map<object, string>();

  /** Of the after hooks of a list: many targets inherit one. */
  readonly #digests = new Map<object, string>();

  /** Those of the workspace, by their stage. */
  readonly #defaults = new Map<HookPhase, Promise<readonly CompiledHook[]>>();

  /** `sources` finds stored guardrails; null: there are none. `defaults`: those of the workspace, for every target. */
  constructor(readonly services: HookServices, readonly weight: PlanWeight, readonly sources: PlanSources | null = null, readonly defaults: WorkspaceGuardrails | null = null) {}

  /** Notes where lists stand, before targets inherit them. */
  visit(config: Config, path: string): void {
    for (const name of listNames) {
      const list = config[name];
      if (list !== undefined) this.#places.set(list, `${path}.${name}`);
    }
  }

  async lists(inherited: Inherited): Promise<HookLists> {
    const before = eachOnce([
      ...await this.#defaultsOf('before'),
      ...await this.#hooks(inherited.before_request_hooks, 'before'),
      ...await this.#guardrails(inherited.input_guardrails, 'before', 'guardrail'),
      ...await this.#guardrails(inherited.input_mutators, 'before', 'mutator'),
    ]);
    const after = eachOnce([
      ...await this.#defaultsOf('after'),
      ...await this.#hooks(inherited.after_request_hooks, 'after'),
      ...await this.#guardrails(inherited.output_guardrails, 'after', 'guardrail'),
      ...await this.#guardrails(inherited.output_mutators, 'after', 'mutator'),
    ]);
    const afterConfig = [inherited.after_request_hooks, inherited.output_guardrails, inherited.output_mutators];
    return {
      before: before.length === 0 ? null : before,
      after: after.length === 0 ? null : Object.freeze({ judging: after.filter((hook) => !hook.isAsync), background: after.filter((hook) => hook.isAsync) }),
      afterDigest: after.length === 0 ? '' : [...afterConfig.map((list) => this.#digest(list)), ...after.map(({ stored }) => stored?.versionId ?? '')].join('\n'),
    };
  }

  #digest(list: object | undefined): string {
    if (list === undefined) return '';
    let digest = this.#digests.get(list);
    if (digest === undefined) this.#digests.set(list, digest = createHash('sha256').update(JSON.stringify(list)).digest('base64url'));
    return digest;
  }

  #hooks(list: readonly HookConfig[] | undefined, stage: HookPhase): Promise<readonly CompiledHook[]> {
    return this.#once(list, (path) => oneByOne(list ?? [], (entry, index) => {
      const place = `${path}[${index}]`;
      const named = nameOfHook(entry);
      if (named !== undefined) return this.#named(named, entry, stage, place, entry.type ?? 'guardrail');
      return this.#hook(entry, stage, place, { checkAt: (check) => `${place}.checks[${check}]` });
    }));
  }

  #guardrails(list: readonly (string | GuardrailConfig)[] | undefined, stage: HookPhase, type: string): Promise<readonly CompiledHook[]> {
    return this.#once(list, (path) => oneByOne(list ?? [], (entry, index) => {
      const place = `${path}[${index}]`;
      const named = nameOfEntry(entry);
      if (typeof entry === 'string') return this.#named(entry, {}, stage, place, type);
      if (named !== undefined) return this.#named(named, entry, stage, place, entry.type ?? type);
      const { hook, names } = asHook(entry, stage, type, index);
      return this.#hook(hook, stage, place, { checkAt: (check) => placeBelow(place, names[check] ?? '') });
    }));
  }

  #defaultsOf(stage: HookPhase): Promise<readonly CompiledHook[]> {
    const list = this.defaults === null ? [] : this.defaults[stage === 'before' ? 'input' : 'output'];
    if (list.length === 0) return noHooks;
    let compiled = this.#defaults.get(stage);
    if (compiled === undefined) this.#defaults.set(stage, compiled = oneByOne(list, ({ found, name, place }: DefaultGuardrail) => this.#storedHook(found, name, {}, stage, place, 'guardrail')));
    return compiled;
  }

  /** A stored guardrail that a config names. Members beside the name in the config win over stored ones. */
  #named(name: string, { checks: _checks, id: _id, type: _type, ...members }: Partial<HookConfig>, stage: HookPhase, path: string, type: string): Promise<CompiledHook> {
    return this.#storedHook(this.sources?.guardrail(name), name, members, stage, path, type);
  }

  async #storedHook(found: StoredGuardrail | undefined, name: string, members: Partial<HookConfig>, stage: HookPhase, path: string, type: string): Promise<CompiledHook> {
    if (found === undefined) throw fail('GUARDRAIL_UNKNOWN', { slug: name.slice(0, 128), param: path });
    const definition: GuardrailDefinition = JSON.parse(found.text.reveal());
    const checks: CheckConfig[] = [];
    const places: number[] = [];
    for (const [index, check] of definition.checks.entries()) {
      if (!(await runsAt(check.id, stage, this.services.registry))) continue;
      checks.push(check);
      places.push(index);
    }
    if (checks.length === 0) throw invalid(path, `none of the checks of the guardrail ${found.slug} runs on the ${sideOf(stage)}`);
    const plugin = await this.services.registry.find('hook', type);
    const entry: HookConfig = { ...membersOfDefinition(definition, plugin?.params.properties ?? {}), ...members, id: found.slug, type, checks };
    return this.#hook(entry, stage, path, { checkAt: (check) => `${path}.checks[${places[check] ?? 0}]`, stored: found });
  }

  /** The checks of a guardrail that is to be stored, made once to see that they can be. `place` is where they stand. */
  async tryChecks(checks: readonly CheckConfig[], place: string): Promise<void> {
    for (const [index, check] of checks.entries()) {
      const path = `${place}[${index}]`;
      for (const stage of ['before', 'after'] as const) {
        if (!(await runsAt(check.id, stage, this.services.registry))) continue;
        await this.#check(check.id, check.parameters, stage, { check: `${path}.id`, parameters: `${path}.parameters` });
        break;
      }
    }
  }

  #once(list: object | undefined, compile: (path: string) => Promise<readonly CompiledHook[]>): Promise<readonly CompiledHook[]> {
    if (list === undefined) return noHooks;
    let compiled = this.#lists.get(list);
    if (compiled === undefined) {
      const path = this.#places.get(list) ?? 'config';
      compiled = Promise.resolve().then(() => compile(path));
      this.#lists.set(list, compiled);
    }
    return compiled;
  }

  async #hook(entry: HookConfig, stage: HookPhase, path: string, { checkAt, stored = null }: { readonly checkAt: (index: number) => string; readonly stored?: StoredGuardrail | null }): Promise<CompiledHook> {
    const { id, type: given, checks: listed, async: isAsync, on_fail: onFail, on_success: onSuccess, guardrail_version_id: _version, soft_deny_200: isSoft, ...members } = entry;
    const { registry } = this.services;
    const type = given ?? 'guardrail';
    const plugin = await registry.find('hook', type);
    if (plugin === undefined) throw invalid(`${path}.type`, `no hook type ${type} is installed${didYouMean(type, registry.list('hook')) || `; use ${registry.list('hook').join(' or ')}`}`);
    if (!plugin.stages.includes(stage)) throw invalid(`${path}.type`, `hooks of type ${type} do not run ${stage} the request`);
    const params: Record<string, unknown> = { ...members };
    const known = plugin.params.properties as Readonly<Record<string, unknown>>;
    // The specification has the deny of a hook inside of its actions, too.
    if (params.deny === undefined && denyOf(onFail) !== undefined && 'deny' in known) params.deny = denyOf(onFail);
    if (denyOf(onSuccess) !== undefined && 'deny_on_success' in known) params.deny_on_success = denyOf(onSuccess);
    const fault = registry.checkParams(plugin, params);
    if (fault !== undefined) throw invalid(join(path, fault.path), fault.reason);
    const hook = await made(() => plugin.create(params, registry.host(`hook/${type}`)), `hook/${type}`, path);
    this.instances.push(hook);
    const checks: CompiledCheck[] = [];
    for (const [index, check] of (listed ?? []).entries()) {
      if (check.is_enabled === false) continue;
      const place = checkAt(index);
      checks.push(await this.#check(check.id, check.parameters, stage, { check: place, parameters: stored === null ? place : `${place}.parameters` }));
    }
    return {
      id, type, stage, isAsync: isAsync === true, hook, checks, steps: stepsOf(checks, hook.order),
      onSuccess: feedbackOf(onSuccess), onFail: feedbackOf(onFail),
      mayDeny: params.deny === true || params.deny_on_success === true || !('deny' in known),
      isSoft: isSoft === true,
      stored: stored === null ? null : { id: stored.id, versionId: stored.versionId },
    };
  }

  async #check(id: string, given: Readonly<Record<string, unknown>>, stage: HookPhase, { check: place, parameters: path }: CheckPlaces): Promise<CompiledCheck> {
    const { registry } = this.services;
    this.weight.addCheck(path);
    await this.weight.pause();
    const found = await registry.locate('guardrail', id);
    const { failOnError: fails, ...rest } = given;
    if (fails !== undefined && typeof fails !== 'boolean') throw invalid(`${path}.failOnError`, 'must be true or false');
    const { timeout } = rest;
    if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 1 && timeout <= checkTimeoutMsMax)) {
      throw invalid(`${path}.timeout`, `must be a number of milliseconds from 1 to ${checkTimeoutMsMax}`);
    }
    if (found === undefined) {
      // A name that does not exist in a namespace that does is a slip of the pen; another namespace may be installed later.
      const namespace = parseId(id)?.namespace ?? '';
      if (registry.hasNamespace(namespace)) {
        const own = ownNamespaces.has(namespace) || namespace === '' ? 'default.' : `${namespace}.`;
        const known = registry.list('guardrail').filter((name) => name.startsWith(own));
        throw invalid(place, `no check ${id} is installed${didYouMean(own + id.slice(id.indexOf('.') + 1), known) || `; ${own === 'default.' ? 'the gateway\'s own' : `those of ${namespace}`} are: ${known.join(', ') || 'none'}`}`);
      }
      return missingCheck(id, `no plugin supplies the check ${id}; install one, or take the check out`, fails === true);
    }
    const { plugin, module } = found;
    const side = sideOf(stage);
    if (!plugin.stages.includes(side)) throw invalid(place, `the check ${id} does not run on the ${side}; it is for the ${plugin.stages.join(' and the ')}`);
    const params: Record<string, unknown> = structuredClone(rest);
    const known = plugin.params.properties as Readonly<Record<string, unknown>>;
    if ('failOnError' in known && fails !== undefined) params.failOnError = fails;
    if (!('timeout' in known)) delete params.timeout;
    const fault = registry.checkParams(plugin, params);
    if (fault !== undefined) throw invalid(join(path, fault.path), fault.reason);
    const check = await made(() => plugin.create(params, registry.host(`guardrail/${id}`)), `guardrail/${id}`, path);
    this.instances.push(check);
    this.weight.add(check, path);
    const needs: Needs = plugin.needsFor?.(params) ?? plugin.needs;
    const timeoutMs = typeof params.timeout === 'number' ? params.timeout : typeof timeout === 'number' ? timeout : plugin.timeoutMs ?? checkTimeoutMsDefault;
    const runs = plugin.runsFor?.(params) ?? plugin.runs ?? 'loop';
    return {
      id, check, missing: null, timeoutMs, failOnError: fails === true,
      changes: changesAt(needs, stage),
      streams: stage === 'after' && check.stream !== undefined && needs.response === 'events',
      lookBackMax: plugin.lookBackMax ?? 0,
      runs,
      pooled: runs === 'loop' ? null : memo(() => this.services.poolCheck(module, params, timeoutMs)),
      when: plugin.when ?? null,
      budget: runs === 'either' ? new LoopBudget(this.weight) : null,
    };
  }
}

/** Where a check stands, and where its parameters do. */
interface CheckPlaces {
  readonly check: string;
  readonly parameters: string;
}

const sideOf = (stage: HookPhase): 'input' | 'output' => (stage === 'before' ? 'input' : 'output');

/** Of a guardrail that is stored for both sides, each runs the checks that are for it. One that no plugin supplies errs on both. */
async function runsAt(check: string, stage: HookPhase, registry: Registry): Promise<boolean> {
  const found = await registry.locate('guardrail', check);
  return found === undefined || found.plugin.stages.includes(sideOf(stage));
}

/** The first of those that are the same stored guardrail: what an organisation demands cannot be said otherwise by a config. */
function eachOnce(hooks: readonly CompiledHook[]): CompiledHook[] {
  const seen = new Set<string>();
  return hooks.filter(({ stored }) => {
    if (stored === null) return true;
    if (seen.has(stored.id)) return false;
    seen.add(stored.id);
    return true;
  });
}

const noHooks: Promise<readonly CompiledHook[]> = Promise.resolve([]);

/** Not all at once: what is refused must stop what comes behind it, and pauses in between must be pauses of the whole. */
async function oneByOne<T, U>(list: readonly T[], work: (entry: T, index: number) => Promise<U>): Promise<U[]> {
  const done: U[] = [];
  for (const [index, entry] of list.entries()) done.push(await work(entry, index));
  return done;
}

/** A check that has no service errs at every call: the config may be stored before its plugin is installed. */
const missingCheck = (id: string, reason: string, failOnError: boolean): CompiledCheck => ({
  id, check: null, missing: new Error(reason), timeoutMs: checkTimeoutMsDefault, failOnError, changes: false, streams: false, lookBackMax: 0,
  runs: 'loop', pooled: null, when: null, budget: null,
});

/** `{"deny": true, "default.wordCount": {...}}`: the short form of a hook. A name without a dot is the gateway's own; `id` in the value wins. */
function asHook(entry: GuardrailConfig, stage: HookPhase, type: string, index: number): { hook: HookConfig; names: readonly string[] } {
  const members: Record<string, unknown> = {};
  const checks: CheckConfig[] = [];
  const names: string[] = [];
  for (const [name, value] of Object.entries(entry)) {
    if (hookMembers.has(name)) {
      members[name] = value;
      continue;
    }
    // The schema of configs lets nothing but objects be checks.
    const { id, is_enabled: isEnabled, ...parameters } = value as JsonObject;
    const named = typeof id === 'string' && id !== '' ? id : name;
    names.push(name);
    checks.push({ id: named.includes('.') ? named : `default.${named}`, parameters, ...(typeof isEnabled === 'boolean' ? { is_enabled: isEnabled } : {}) });
  }
  const id = typeof members.id === 'string' ? members.id : `${stage === 'before' ? 'input' : 'output'}_${type}_${index}`;
  return { hook: { type, ...members, id, checks }, names };
}

/** Checks of one step run at the same time. One that changes the body is a step by itself, so that what comes after it sees the change. */
function stepsOf(checks: readonly CompiledCheck[], order: Hook['order']): CompiledCheck[][] {
  const steps: CompiledCheck[][] = [];
  let together: CompiledCheck[] | null = null;
  for (const check of checks) {
    if (order === 'inTurn' || check.changes) {
      steps.push([check]);
      together = null;
    } else if (together === null) {
      steps.push(together = [check]);
    } else {
      together.push(check);
    }
  }
  return steps;
}

/** Most checks that may go to the pool never do: no worker is started for them. */
function memo(make: () => PooledCheck): () => PooledCheck {
  let made: PooledCheck | undefined;
  return () => made ??= make();
}

const changesAt = (needs: Needs, stage: HookPhase): boolean =>
  needs.changes === 'both' || needs.changes === (stage === 'before' ? 'request' : 'response');

const denyOf = (action: DenyingAction | undefined): boolean | undefined => action?.deny;

const feedbackOf = (action: DenyingAction | undefined): Feedback | null => action?.feedback ?? null;

async function made<T>(create: () => T | Promise<T>, plugin: string, place: string): Promise<T> {
  try {
    return await create();
  } catch (thrown) {
    if (isGatewayError(thrown)) throw thrown;
    const named = parameterPath(thrown);
    if (named !== undefined) throw invalid(join(place, named), reasonOf(thrown));
    throw fail('PLUGIN_FAILED', { plugin, reason: reasonOf(thrown) }, thrown);
  }
}

const invalid = (path: string, reason: string): Error => fail('CONFIG_INVALID', { path, param: path, reason });
const join = (place: string, path: string): string => (path === '' ? place : path.startsWith('[') ? place + path : `${place}.${path}`);
