// Hot: runs for each call.
// Finds the plan of a call: what routes it (config text, provider, custom host) and the workspace make the name. A hit is synchronous. A plan made of
// stored rows is held against them when something that routes calls has changed, so a change misses by itself, in every thread.

import type { Auth } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import type { Config } from '../config/config.js';
import { parseConfig } from '../config/validate.js';
import { fail } from '../errors/gateway-error.js';
import type { Exchange } from '../exchange/exchange.js';
import type { StoredConfig } from '../snapshot/stored-provider.js';
import { areSameGuardrails } from '../snapshot/workspace-guardrails.js';
import { awaitingPlan, closeAll, compilePlan, type CompileServices } from './compile.js';
import { loadProvider } from './load-provider.js';
import type { Plan } from './plan.js';
import { areCurrent, PlanSources, type StoredRows } from './plan-sources.js';
import { usesAny } from './plan-plugins.js';

const plansMax = 2000;
/** Held by all plans of a thread together, their keys included: a config may be 64 kB, and its plan a few hundred times that. */
const plansBytesMax = 128 * 1024 * 1024;
/** A plan beside its parts. */
const planBytes = 4_096;
/** A config is kept as text, in the key, and as values, in its parts. */
const bytesPerKeyCharacter = 6;
/** How often a plan is compiled whose plugins change meanwhile. */
const roundsMax = 5;

/** Plans that were found last, by a cheap look at what names them. A power of two. */
const recentMax = 64;
/** A plan that is found as a recent one counts as used at the cache itself after so many times. */
const touchEvery = 64;

export interface PlanCacheServices extends CompileServices {
  readonly rows: StoredRows;
}

/** A plan with all that names it. */
interface Recent {
  readonly key: string;
  readonly workspaceId: string;
  readonly config: string | undefined;
  readonly provider: string | undefined;
  readonly customHost: string | undefined;
  readonly virtualKey: string | undefined;
  readonly plan: Plan;
  uses: number;
}

export class PlanCache {
  readonly #plans: LRUCache<string, Plan>;
  /** Comparing a config with the one that was here last costs a tenth of making a key of it and hashing that. */
  readonly #recent: (Recent | null)[] = new Array<Recent | null>(recentMax).fill(null);
  readonly #compiling = new Map<string, Promise<Plan>>();
  /** Of the view that the guardrails of workspaces were last held against. */
  #guardrailsEpoch = -1;
  /** Grows when plugins change: what was compiled meanwhile may hold the old ones. */
  #pluginsVersion = 0;

  constructor(readonly services: PlanCacheServices) {
    this.#plans = new LRUCache<string, Plan>({
      max: plansMax,
      maxSize: plansBytesMax,
      sizeCalculation: (plan, key) => planBytes + key.length * bytesPerKeyCharacter + plan.weightBytes,
      dispose: (plan) => {
        plan.isRetired = true;
        for (let place = 0; place < recentMax; place += 1) if (this.#recent[place]?.plan === plan) this.#recent[place] = null;
        closeIfUnused(plan);
      },
    });
  }

  /** The plan, or a promise of it the first time. Throws or rejects with a client error for a config that cannot work. */
  find(exchange: Exchange): Plan | Promise<Plan> {
    const { config, provider, customHost, virtualKey } = exchange.head;
    const { workspaceId } = exchange.principal;
    const place = placeOf(config, provider);
    const recent = this.#recent[place];
    if (recent !== null && recent !== undefined && recent.config === config && recent.workspaceId === workspaceId
      && recent.provider === provider && recent.customHost === customHost && recent.virtualKey === virtualKey) {
      if (recent.plan.sources !== null && !this.#isCurrent(recent.plan, workspaceId)) return this.#compileNew(exchange, recent.key);
      recent.uses += 1;
      if (recent.uses % touchEvery === 0) this.#plans.get(recent.key);
      return recent.plan;
    }
    const key = `${workspaceId}\n${provider ?? ''}\n${customHost ?? ''}\n${virtualKey ?? ''}\n${config ?? ''}`;
    const plan = this.#plans.get(key);
    if (plan !== undefined && (plan.sources === null || this.#isCurrent(plan, workspaceId))) {
      this.#recent[place] = { key, workspaceId, config, provider, customHost, virtualKey, plan, uses: 0 };
      return plan;
    }
    return this.#compileNew(exchange, key);
  }

  /** The rows are those that the plan is made of. Changes of other rows cost one look at each of its own. */
  #isCurrent(plan: Plan, workspaceId: string): boolean {
    const { view } = this.services.rows;
    if (plan.epoch === view.epoch) return true;
    if (plan.sources !== null && !areCurrent(plan.sources, workspaceId, view)) return false;
    plan.epoch = view.epoch;
    return true;
  }

  #compileNew(exchange: Exchange, key: string): Promise<Plan> {
    // Calls on the one before finish there.
    this.#plans.delete(key);
    let compiling = this.#compiling.get(key);
    if (compiling === undefined) {
      compiling = this.#compile(exchange, key).finally(() => this.#compiling.delete(key));
      this.#compiling.set(key, compiling);
    }
    return compiling;
  }

  /** Marks a call as walking the plan. */
  acquire(plan: Plan): void {
    plan.open += 1;
  }

  release(plan: Plan): void {
    plan.open -= 1;
    closeIfUnused(plan);
  }

  clear(): void {
    this.#plans.clear();
  }

  /** To be called when rows have changed, before calls begin that are to obey them: plans of workspaces that have other guardrails now are dropped. */
  dropOtherGuardrails(): void {
    const { view } = this.services.rows;
    if (view.guardrailsEpoch === this.#guardrailsEpoch) return;
    this.#guardrailsEpoch = view.guardrailsEpoch;
    for (const [key, plan] of [...this.#plans.entries()]) {
      if (!areSameGuardrails(plan.guardrails, view.guardrailsOf(key.slice(0, key.indexOf('\n'))))) this.#plans.delete(key);
    }
  }

  /** Other plugins answer to these names from now on (`guardrail/acme.pii`). Open calls finish on the plans they are on, which then close. */
  dropUsing(plugins: ReadonlySet<string>): void {
    this.#pluginsVersion += 1;
    for (const [key, plan] of [...this.#plans.entries()]) if (usesAny(plan, plugins)) this.#plans.delete(key);
  }

  async #compile(exchange: Exchange, key: string): Promise<Plan> {
    const { workspaceId } = exchange.principal;
    const { provider: named, customHost, virtualKey } = exchange.head;
    const provider = virtualKey ? `@${virtualKey.replace(/^@/, '')}` : named;
    for (let round = 1; ; round += 1) {
      const pluginsVersion = this.#pluginsVersion;
      const { epoch } = this.services.rows.view;
      const guardrails = this.services.rows.view.guardrailsOf(workspaceId);
      const sources = new PlanSources(this.services.rows, workspaceId);
      const config = this.#storedConfig(exchange, sources);
      // The same version of a config keeps its breakers, whatever else changes.
      const text = config === undefined ? key : `${workspaceId}\n${provider ?? ''}\n${customHost ?? ''}\n@${config.versionId}`;
      const context = {
        workspaceId, provider, customHost, sources, guardrails, digest: createHash('sha256').update(text).digest('base64url'), ...(config === undefined ? {} : { config }),
      };
      const parsed = await this.#configOf(exchange, provider, config);
      const plan = parsed === null ? awaitingPlan(null, null) : await compilePlan(parsed, context, this.services);
      plan.epoch = epoch;
      plan.guardrails = guardrails;
      // What was looked up first and last must be of one state.
      const isWhole = pluginsVersion === this.#pluginsVersion && (plan.sources === null || this.#isCurrent(plan, workspaceId));
      const isGuarded = areSameGuardrails(guardrails, this.services.rows.view.guardrailsOf(workspaceId));
      if (isGuarded && (isWhole || round === roundsMax)) {
        this.#plans.set(key, plan);
        return plan;
      }
      // Nothing would look at its guardrails again.
      if (round === roundsMax) {
        plan.isRetired = true;
        return plan;
      }
      closeAll(plan.instances);
    }
  }

  /** Undefined: the call brings its config itself, or needs none. */
  #storedConfig({ head: { config } }: Exchange, sources: PlanSources): StoredConfig | undefined {
    if (config === undefined || config.trimStart().startsWith('{') || !/^[\w-]{1,255}$/.test(config)) return undefined;
    const stored = sources.config(config);
    if (stored?.isActive !== true) throw fail('CONFIG_UNKNOWN', { slug: config.slice(0, 128), param: 'x-gateway-config' });
    return stored;
  }

  /** Null: nothing is said about where to send the call. */
  async #configOf(exchange: Exchange, provider: string | undefined, stored: StoredConfig | undefined): Promise<Config | null> {
    if (exchange.head.config === undefined) return provider ? { provider } : null;
    const config = stored === undefined ? exchange.head.config : stored.text.reveal();
    const keyless = new Set<string>();
    for (const name of new Set([...config.matchAll(/"provider"\s*:\s*"([^"\\@]{1,64})"/g)].map((match) => match[1] ?? ''))) {
      if (this.services.registry.moduleOf('provider', name) === undefined) continue;
      const loaded = await loadProvider(this.services.registry, name).catch(() => undefined);
      if (loaded !== undefined && isKeyless(loaded.plugin.auth)) keyless.add(name);
    }
    return parseConfig(config, { isKeyless: (name) => keyless.has(name) });
  }
}

/** Where a plan that these name is among the recent ones: their lengths and a few characters, wherever configs mostly differ. */
function placeOf(config: string | undefined, provider: string | undefined): number {
  const text = config ?? provider ?? '';
  const { length } = text;
  if (length === 0) return 0;
  return (length + text.charCodeAt(length >> 1) * 3 + text.charCodeAt(length >> 2) * 5 + text.charCodeAt(length - (length >> 2) - 1) * 7) & (recentMax - 1);
}

const isKeyless = (auth: Auth): boolean => auth.type === 'none' || (auth.type === 'bearer' && auth.isOptional === true);

function closeIfUnused(plan: Plan): void {
  if (!plan.isRetired || plan.open > 0) return;
  closeAll(plan.instances);
}
