export * from './answer.js';
export * from './chat/read.js';
export type * from './chat/types.js';
export * from './chat/write.js';
export * from './define.js';
export * from './errors.js';
export type * from './exchange.js';
export * from './framing.js';
export type * from './host.js';
export type * from './kinds/cache.js';
export type * from './kinds/exporter.js';
export type * from './kinds/guardrail.js';
export type * from './kinds/hook.js';
export type * from './kinds/provider.js';
export type * from './kinds/storage.js';
export type * from './kinds/strategy.js';
export type * from './kinds/surface.js';
export type * from './schema.js';
export { endpointNames } from './shared.js';
export type { Closable, Common, EndpointName, Json, Maybe, Needs, When } from './shared.js';
import type { CachePlugin } from './kinds/cache.js';
import type { ExporterPlugin } from './kinds/exporter.js';
import type { GuardrailPlugin } from './kinds/guardrail.js';
import type { HookPlugin } from './kinds/hook.js';
import type { ProviderPlugin } from './kinds/provider.js';
import type { StoragePlugin } from './kinds/storage.js';
import type { StrategyPlugin } from './kinds/strategy.js';
import type { SurfacePlugin } from './kinds/surface.js';

/** Every kind of plugin, by name. */
export interface PluginByKind {
  strategy: StrategyPlugin;
  cache: CachePlugin;
  guardrail: GuardrailPlugin;
  hook: HookPlugin;
  provider: ProviderPlugin;
  storage: StoragePlugin;
  exporter: ExporterPlugin;
  surface: SurfacePlugin;
}
export type PluginKind = keyof PluginByKind;
