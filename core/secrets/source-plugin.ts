// Finds the plugin for a `manager_type`. Runs when a reference is stored and when its value is first needed.

import type { SecretsPlugin } from '@gateway/plugin-sdk';
import type { Registry } from '../registry/registry.js';

export interface SourcePlugin {
  readonly id: string;
  readonly plugin: SecretsPlugin;
}

const plain = (name: string): string => name.replaceAll('_', '-').toLowerCase();

/** Matches the id of the plugin, with dashes and underscores treated alike, or one of its `managerTypes`. Plugins that do not load are passed over. */
export async function sourcePluginOf(registry: Registry, managerType: string): Promise<SourcePlugin | undefined> {
  const ids = registry.list('secrets');
  const wanted = plain(managerType);
  for (const id of ids) {
    if (plain(id) !== wanted) continue;
    const plugin = await registry.find('secrets', id);
    if (plugin !== undefined) return { id, plugin };
  }
  for (const id of ids) {
    const plugin = await registry.find('secrets', id).catch(() => undefined);
    if (plugin?.managerTypes?.some((name) => plain(name) === wanted) === true) return { id, plugin };
  }
  return undefined;
}
