// Reads GATEWAY_* variables into settings by their schema. Runs once at start. Looks at no other variable; an unknown GATEWAY_* name is
// refused, for a misspelt setting that is silently ignored costs more than a refused start.

import { nearestName } from './nearest-name.js';
import type { NoteFault } from './faults.js';
import { environmentName, environmentPrefix, fileVariable, isSettingKey, settingKeys, settingSchema, type SettingKey } from './schema.js';

/** Where commands find a running gateway: who exports it for them may start one all the same. */
const clientVariable = 'GATEWAY_URL';
const knownNames = [fileVariable, clientVariable, ...settingKeys.map(environmentName)];

/** Kubernetes sets these for each Service, here one called `gateway`. */
const isServiceLink = (name: string, value: string): boolean =>
  /^GATEWAY_(?:SERVICE_(?:HOST|PORT)|PORT_\d)/.test(name) || (name === 'GATEWAY_PORT' && /^(?:tcp|udp):/.test(value));

/** Values by key, still unchecked. A variable that is set but empty counts as not set. */
export function readEnvironment(environment: NodeJS.ProcessEnv, note: NoteFault): Map<SettingKey, unknown> {
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(environmentPrefix)) continue;
    if (isServiceLink(name, value ?? '')) {
      note(`${name} comes from a Kubernetes Service called gateway, not from you; set enableServiceLinks: false on the pod, or rename the Service`, keysOf(name));
    } else if (!knownNames.includes(name)) {
      const nearest = nearestKnown(name);
      note(`unknown environment variable ${name}${nearest === undefined ? '; gateway --help lists the known ones' : `; did you mean ${nearest}?`}`, nearest === undefined ? [] : keysOf(nearest));
    }
  }
  const values = new Map<SettingKey, unknown>();
  for (const key of settingKeys) {
    const text = environment[environmentName(key)]?.trim();
    if (text !== undefined && text !== '' && !isServiceLink(environmentName(key), text)) values.set(key, fromText(key, text));
  }
  return values;
}

/** Compared without the prefix, which all share and which would make everything look near. */
function nearestKnown(name: string): string | undefined {
  const nearest = nearestName(name.slice(environmentPrefix.length), knownNames.map((known) => known.slice(environmentPrefix.length)));
  return nearest === undefined ? undefined : environmentPrefix + nearest;
}

/** The setting that is not what was meant. */
const keysOf = (name: string): SettingKey[] => [name.slice(environmentPrefix.length).toLowerCase()].filter(isSettingKey);

/** Text becomes what the schema expects where it can; what cannot stays text, and the schema refuses it. */
function fromText(key: SettingKey, text: string): unknown {
  const { type } = settingSchema(key);
  if (type === 'array') return text.split(',').map((item) => item.trim()).filter((item) => item !== '');
  const takesNumber = type === 'integer' || (Array.isArray(type) && type.includes('integer'));
  return takesNumber && /^-?\d{1,16}$/.test(text) ? Number(text) : text;
}
