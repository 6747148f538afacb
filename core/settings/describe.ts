// The settings as a table, for --help and for README.md: made from the schema, so neither goes stale.

import { environmentName, fileNames, fileVariable, settingKeys, settingSchema, type SettingSchema } from './schema.js';

export interface SettingRow {
  /** Environment variable. */
  readonly name: string;
  /** Key in the settings file; empty for the variable that names the file. */
  readonly key: string;
  readonly default: string;
  readonly meaning: string;
}

export function describeSettings(): readonly SettingRow[] {
  return [
    { name: fileVariable, key: '', default: `${fileNames.join(', ')} if present`, meaning: 'Settings file, YAML or JSON; the environment wins over it.' },
    ...settingKeys.map((key) => {
      const schema = settingSchema(key);
      return { name: environmentName(key), key, default: defaultOf(key, schema), meaning: schema.description };
    }),
  ];
}

function defaultOf(key: string, schema: SettingSchema): string {
  if (schema.defaultText !== undefined) return schema.defaultText;
  const value = schema.default;
  if (typeof value === 'number' && key.includes('_bytes_')) return `${value} (${inUnits(value)})`;
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function inUnits(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && value % 1024 === 0 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value} ${units[unit]}`;
}
