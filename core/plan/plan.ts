// A config, compiled: what a call walks. Everything is frozen or owned by one thread, built once by compile.ts and looked up by
// plan-cache.ts; a call reads it and changes nothing but the counters of use.

import type { Cache, CachePlugin, Closable, EndpointName, EndpointSpec, ObjectSchema, ParamRule, ProviderCall, ProviderPlugin, Strategy, Target, Transport } from '@gateway/plugin-sdk';
import type { BodyEdit, DropPath } from '../body/splice.js';
import type { BreakerPolicy } from '../upstream/breaker.js';
import type { StoredConfig } from '../snapshot/stored-provider.js';
import type { WorkspaceGuardrails } from '../snapshot/workspace-guardrails.js';
import type { Secret } from '../storage/sealer.js';
import type { Base } from './base.js';
import type { CompiledHook } from './hooks.js';
import type { PlanSource } from './plan-sources.js';
import type { StoredTarget } from './stored-target.js';

export type { Base } from './base.js';

export type PlanNode = TargetPlan | Group;

export interface Group {
  readonly kind: 'group';
  /** Place in the config: `config`, `config.targets[1]`. */
  readonly path: string;
  readonly mode: string;
  readonly strategy: Strategy;
  readonly children: readonly PlanNode[];
  /** As the strategy sees them while all are healthy. */
  readonly targets: readonly Target[];
  /** Some target below has a circuit breaker; without one every target counts as healthy and nothing is asked. */
  readonly hasBreaker: boolean;
}

export interface RetryPolicy {
  /** Further tries after the first. */
  readonly attempts: number;
  readonly onStatusCodes: ReadonlySet<number>;
  readonly usesRetryAfter: boolean;
}

/** A provider's entry for an endpoint: its spec, or a function that chooses one for a call. */
export type EndpointEntry = EndpointSpec | ((call: ProviderCall) => EndpointSpec | string | undefined);

/** A provider of the catalogue with its endpoints spelled out. */
export interface LoadedProvider {
  readonly id: string;
  readonly plugin: ProviderPlugin;
  readonly endpoints: ReadonlyMap<EndpointName, EndpointEntry>;
  /** Present for providers that are not reached over HTTP. */
  readonly transport: Transport | null;
  /** Names of its credentials and settings beside `api_key`. */
  readonly credentialNames: readonly string[];
  /** Those of them that are objects or lists: given in a header, they are JSON. */
  readonly structuredNames: ReadonlySet<string>;
  /** For the parameters that a target has, which may be some: calls bring others. Null where there is nothing to check or fill in, as with most of our own, which the format of configs has. */
  readonly partial: { readonly params: ObjectSchema } | null;
}

/** The `params` of an endpoint, compiled. */
export interface EndpointParams {
  readonly rules: readonly CompiledRule[];
}

/** One rule with the changes that it may ask for, made once. */
export interface CompiledRule {
  readonly name: string;
  readonly rule: ParamRule;
  readonly insert: BodyEdit | null;
  readonly rename: BodyEdit | null;
  readonly remove: BodyEdit;
  /** `rule.without` as JSON texts. */
  readonly without: readonly string[];
}

export interface TargetPlan {
  readonly kind: 'target';
  readonly path: string;
  readonly provider: LoadedProvider;
  /** Null when a credential that completes the address is not in the config; it may be in the request's headers. */
  readonly base: Base | null;
  /** The base for a template of an endpoint's own (null: the provider's) and credentials. Throws what names the missing one. */
  readonly baseOf: (template: string | null, credentials: Readonly<Record<string, unknown>>) => Base;
  /** Values of the provider's parameters given in the config. */
  readonly credentials: Readonly<Record<string, unknown>>;
  /** Those of them that nobody gave: a call may bring others in their place. */
  readonly defaulted: ReadonlySet<string>;
  /** Those of them that are stored with a secret: they alone make the address and the signature. Null: what a call brings counts as well. */
  readonly kept: Readonly<Record<string, unknown>> | null;
  /** The API key of the config or of the stored provider; null: the client's Authorization is the provider key. */
  readonly apiKey: Secret | null;
  /** Null: the provider is not a stored one. */
  readonly stored: StoredTarget | null;
  /** An API key is needed (no custom host took the provider's place). */
  readonly needsApiKey: boolean;
  /** Flat list sent with every call: provider headers with credentials filled in, user agent. */
  readonly headers: readonly string[];
  readonly retry: RetryPolicy;
  /** 0: the gateway's first-byte time-out alone. */
  readonly requestTimeoutMs: number;
  readonly forwardHeaders: readonly string[];
  /** Changes to a JSON body: default_params, then override_params. */
  readonly edits: readonly BodyEdit[];
  /** The same for a multipart body, as text. */
  readonly fieldEdits: readonly { readonly kind: 'set' | 'default' | 'remove'; readonly name: string; readonly value: string }[];
  /** Values that default_params and override_params put in, by member. */
  readonly fills: ReadonlyMap<string, unknown>;
  readonly dropPaths: readonly DropPath[];
  readonly breakerSlot: number;
  readonly breaker: BreakerPolicy | null;
  readonly isStrict: boolean;
  /** Null: hints are left out, the rest is refused. */
  readonly unsupportedParams: 'refuse' | 'omit' | null;
  /** Null when there are none, which then cost nothing. */
  readonly before: readonly CompiledHook[] | null;
  readonly after: ResponseHookPlan | null;
  /** Names the after hooks: an answer that passed others is not theirs. */
  readonly afterDigest: string;
  readonly cache: CachePlan | null;
}

/** The hooks after the request: those that are waited for, and the others. */
export interface ResponseHookPlan {
  readonly judging: readonly CompiledHook[];
  readonly background: readonly CompiledHook[];
}

/** A target's cache. */
export interface CachePlan {
  readonly mode: string;
  readonly cache: Cache;
  /** The parameters of the config, for each question. */
  readonly params: object;
  readonly compares: CachePlugin['compares'];
  readonly ageMsMax: number;
  /** Identical requests in flight share one upstream call. */
  readonly sharesInFlight: boolean;
}

/** `param`: the place in the config that names no provider; null without a config. */
export interface AwaitsModel {
  readonly param: string | null;
}

export interface Plan {
  readonly root: PlanNode;
  readonly targetCount: number;
  /** More than one upstream call is possible, so the body has to be kept. */
  readonly canRepeat: boolean;
  /** Something on the plan changes or reads the body: it has to be collected. */
  readonly needsBytes: boolean;
  /** Hooks before the request are on it, or not every model is allowed: what is judged must be what every reader of the body sees. */
  readonly judgesRequest: boolean;
  /** Made for this plan; closed when it is dropped. */
  readonly instances: readonly Closable[];
  /** Held in memory, about. */
  readonly weightBytes: number;
  /** The stored rows that it is made of; null: of none. */
  readonly sources: readonly PlanSource[] | null;
  /** The stored config that it is made of; null: none. */
  readonly config: StoredConfig | null;
  /** Those of the workspace that it was made with; it goes when they change. Null: none. */
  guardrails: WorkspaceGuardrails | null;
  /** Present when only the model of the body can say which provider is meant (`@slug/model`): such a plan leads nowhere by itself. */
  readonly awaitsModel: AwaitsModel | null;
  /** Of the view that the sources were last held against. */
  epoch: number;
  /** Calls on it right now. */
  open: number;
  isRetired: boolean;
}
