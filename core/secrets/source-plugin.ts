// Plugins for secrets by the names that clients have for them. Runs when a reference is stored and when its value is first needed.

import type { SecretsPlugin } from '@gateway/plugin-sdk';
import type { Registry } from '../registry/registry.js';

export interface SourcePlugin {
  readonly id: string;
  readonly plugin: SecretsPlugin;
}

const plain = (name: string): string => name.replaceAll('_', '-').toLowerCase();

/** By the id of the plugin, dashes and underscores alike, or by what it calls itself besides. Plugins that do not load are passed over. */
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
