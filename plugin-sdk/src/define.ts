import type { CachePlugin } from './kinds/cache.js';
import type { ExporterPlugin } from './kinds/exporter.js';
import type { GuardrailPlugin } from './kinds/guardrail.js';
import type { HookPlugin } from './kinds/hook.js';
import type { Endpoint, ProviderPlugin } from './kinds/provider.js';
import type { StoragePlugin } from './kinds/storage.js';
import type { StrategyPlugin } from './kinds/strategy.js';
import type { ObjectSchema } from './schema.js';
import type { EndpointName } from './shared.js';

type Definition<P> = Omit<P, 'kind' | 'contract'>;

export const defineStrategy = <const S extends ObjectSchema>(plugin: Definition<StrategyPlugin<S>>): StrategyPlugin<S> =>
  ({ kind: 'strategy', contract: 1, ...plugin });
export const defineCache = <const S extends ObjectSchema>(plugin: Definition<CachePlugin<S>>): CachePlugin<S> =>
  ({ kind: 'cache', contract: 1, ...plugin });
export const defineGuardrail = <const S extends ObjectSchema>(plugin: Definition<GuardrailPlugin<S>>): GuardrailPlugin<S> =>
  ({ kind: 'guardrail', contract: 1, ...plugin });
export const defineHook = <const S extends ObjectSchema>(plugin: Definition<HookPlugin<S>>): HookPlugin<S> =>
  ({ kind: 'hook', contract: 1, ...plugin });
export const defineProvider = <const S extends ObjectSchema>(plugin: Definition<ProviderPlugin<S>>): ProviderPlugin<S> =>
  ({ kind: 'provider', contract: 1, ...plugin });
export const defineStorage = <const S extends ObjectSchema>(plugin: Definition<StoragePlugin<S>>): StoragePlugin<S> =>
  ({ kind: 'storage', contract: 1, ...plugin });
export const defineExporter = <const S extends ObjectSchema>(plugin: Definition<ExporterPlugin<S>>): ExporterPlugin<S> =>
  ({ kind: 'exporter', contract: 1, ...plugin });

/** Paths that OpenAI's own API gives its endpoints, below the version segment. */
export const openaiPaths = {
  chatCompletions: '/chat/completions',
  completions: '/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  imageGenerations: '/images/generations',
  imageEdits: '/images/edits',
  imageVariations: '/images/variations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  rerank: '/rerank',
  moderations: '/moderations',
  files: '/files',
  batches: '/batches',
  fineTuning: '/fine_tuning/jobs',
  models: '/models',
} as const satisfies Partial<Record<EndpointName, string>>;

const apiKeyParams = {
  type: 'object',
  properties: { api_key: { type: 'string', secret: true, description: 'API key of the provider.' } },
} as const satisfies ObjectSchema;

/** A provider that speaks OpenAI's wire format. */
export interface CompatibleProvider {
  readonly title: string;
  readonly describe: string;
  readonly baseUrl: string;
  /** Default: the API key as `Authorization: Bearer`. */
  readonly auth?: ProviderPlugin['auth'];
  readonly headers?: Readonly<Record<string, string>>;
  /** Credentials and settings; default: one `api_key`. */
  readonly params?: ObjectSchema;
  /** `true` takes OpenAI's own path. */
  readonly endpoints: { readonly [E in Exclude<EndpointName, 'proxy'>]?: (E extends keyof typeof openaiPaths ? true : never) | Endpoint };
}

/** An OpenAI-compatible provider as pure data: bearer auth, one `api_key`, and the paths of OpenAI unless told otherwise. */
export const defineCompatible = (provider: CompatibleProvider): ProviderPlugin => {
  const endpoints: Record<string, Endpoint> = {};
  for (const [name, spec] of Object.entries(provider.endpoints)) {
    endpoints[name] = spec === true ? openaiPaths[name as keyof typeof openaiPaths] : spec;
  }
  return {
    kind: 'provider',
    contract: 1,
    title: provider.title,
    describe: provider.describe,
    baseUrl: provider.baseUrl,
    auth: provider.auth ?? { type: 'bearer' },
    params: provider.params ?? apiKeyParams,
    ...(provider.headers === undefined ? {} : { headers: provider.headers }),
    endpoints,
  };
};
