// What an exporter is made with: the parameters of its entry in the settings, and of those that keep what they get, how much and for how long.

import type { ExporterPlugin } from '@gateway/plugin-sdk';
import { fail } from './errors/gateway-error.js';
import type { Registry } from './registry/registry.js';
import type { ExporterSetting, Settings } from './settings/read.js';

export interface ExporterServices {
  readonly registry: Pick<Registry, 'checkParams'>;
  readonly settings: Pick<Settings, 'logStoreBytesMax' | 'logStoreDays'>;
}

/** Checked, with defaults. Throws SETTINGS_INVALID. */
export function exporterParams({ registry, settings }: ExporterServices, plugin: ExporterPlugin, { id, params }: ExporterSetting): Record<string, unknown> {
  const values = { ...roomOf(plugin, settings), ...params };
  const fault = registry.checkParams(plugin, values);
  if (fault !== undefined) throw fail('SETTINGS_INVALID', { reason: `exporter ${id}: ${fault.path} ${fault.reason}` });
  return values;
}

/** Only of what can be read back there is a log that has to end somewhere. */
function roomOf(plugin: ExporterPlugin, { logStoreBytesMax, logStoreDays }: ExporterServices['settings']): Record<string, unknown> {
  if (plugin.reader === undefined) return {};
  const { bytesMax, ageDaysMax } = plugin.params.properties;
  return { ...(bytesMax === undefined ? {} : { bytesMax: logStoreBytesMax }), ...(ageDaysMax === undefined ? {} : { ageDaysMax: logStoreDays }) };
}
