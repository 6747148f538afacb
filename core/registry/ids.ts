// Plugin ids and where they live, both ways. A bare word is built in (`fallback`, `together-ai`), a dotted one belongs to a namespace
// (`acme.pii`, `default.requiredMetadataKeyPairs`); `default` is ours. Folders are kebab-case, ids of namespaced plugins camelCase.

import type { PluginKind } from '@gateway/plugin-sdk';

/** Folder below the source root that holds a kind's built-in plugins, and the module in each plugin's folder. */
export const places: { readonly [K in PluginKind]: { readonly folder: string; readonly module: string } } = {
  strategy: { folder: 'plugins/strategies', module: 'plugin.js' },
  cache: { folder: 'plugins/caches', module: 'plugin.js' },
  guardrail: { folder: 'plugins/guardrails', module: 'plugin.js' },
  hook: { folder: 'plugins/hooks', module: 'plugin.js' },
  storage: { folder: 'plugins/storage', module: 'plugin.js' },
  exporter: { folder: 'plugins/exporters', module: 'plugin.js' },
  secrets: { folder: 'plugins/secrets', module: 'plugin.js' },
  provider: { folder: 'providers', module: 'provider.js' },
};

/** Both find the plugins that come with the gateway: configs written for others name some of the checks `gateway.pii`. */
export const ownNamespaces: ReadonlySet<string> = new Set(['default', 'gateway']);

export const isPluginKind = (text: string): text is PluginKind => Object.hasOwn(places, text);

export interface PluginId {
  /** Empty for a bare word. */
  readonly namespace: string;
  readonly name: string;
}

/** Undefined when `text` is not an id at all; ids come from clients and become paths, so nothing else may pass. */
export function parseId(text: string): PluginId | undefined {
  const match = /^(?:([a-z][a-z0-9-]{0,63})\.)?([a-zA-Z0-9][a-zA-Z0-9-]{0,63})$/.exec(text);
  return match === null ? undefined : { namespace: match[1] ?? '', name: match[2] ?? '' };
}

export const formatId = (id: PluginId): string => (id.namespace === '' ? id.name : `${id.namespace}.${id.name}`);

/** `requiredMetadataKeyPairs` -> `required-metadata-key-pairs`. */
export const folderOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `required-metadata-key-pairs` -> `requiredMetadataKeyPairs`. */
export const nameOf = (folder: string): string => folder.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
