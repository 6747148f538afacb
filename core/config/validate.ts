// Text or value -> Config. Runs when a config is seen for the first time, and when one is stored. What it returns fits config.ts; what it
// throws is CONFIG_NOT_JSON or CONFIG_INVALID with the place named. Never quotes a value of the config: it may be a key.

import { Ajv, type ValidateFunction } from 'ajv';
import { fail } from '../errors/gateway-error.js';
import type { Config } from './config.js';
import { explain } from './explain.js';
import { explainFault } from '../body/json-fault.js';
import { placeBelow, type ConfigFault } from './place.js';
import { brokenRule, type ConfigOptions } from './rules.js';
import { configSchema } from './schema.js';

export type { ConfigOptions } from './rules.js';

/** Objects and lists inside one another, parameters included. Keeps every later recursion over a config shallow. */
export const depthMax = 128;

export function parseConfig(text: string, options: ConfigOptions): Config {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's error is not passed on as the cause: it quotes the text.
    throw fail('CONFIG_NOT_JSON', { reason: explainFault(text), param: 'x-gateway-config' });
  }
  return validateConfig(value, options);
}

export function validateConfig(value: unknown, options: ConfigOptions): Config {
  const shape = shapeFault(value);
  if (shape !== undefined) throw invalid(shape);
  const validate = compiled();
  if (!validate(value)) {
    const error = validate.errors?.[0];
    throw invalid(error === undefined ? { path: 'config', reason: 'is not valid' } : explain(error, value));
  }
  const broken = brokenRule(value, options);
  if (broken !== undefined) throw invalid(broken);
  return value;
}

const invalid = (fault: ConfigFault): Error => fail('CONFIG_INVALID', { path: fault.path, reason: fault.reason, param: fault.path });

let validator: ValidateFunction<Config> | undefined;

function compiled(): ValidateFunction<Config> {
  // verbose: explain.ts needs the schema around the error.
  validator ??= new Ajv({ strict: true, allowUnionTypes: true, verbose: true, keywords: ['reason', 'typeReason'] }).compile<Config>(configSchema);
  return validator;
}

const refusedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

interface Place {
  readonly parent: Place | null;
  readonly step: string | number;
  readonly value: object;
  readonly depth: number;
}

/** What has to be ruled out before anything may recurse over the value or copy its members. */
function shapeFault(root: unknown): ConfigFault | undefined {
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return { path: 'config', reason: 'must be a JSON object' };
  if (Object.hasOwn(root, 'options')) {
    return { path: 'config.options', reason: 'the old form with options is not accepted; use strategy and targets' };
  }
  const open: Place[] = [{ parent: null, step: 'config', value: root, depth: 1 }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.depth > depthMax) return { path: pathOf(ancestor(place, shownDepthMax)), reason: `is nested more than ${depthMax} deep` };
    const isList = Array.isArray(place.value);
    for (const [name, inner] of Object.entries(place.value)) {
      if (refusedNames.has(name)) return { path: placeBelow(pathOf(place), name), reason: 'is refused as a property name' };
      if (typeof inner === 'object' && inner !== null) {
        open.push({ parent: place, step: isList ? Number(name) : name, value: inner, depth: place.depth + 1 });
      }
    }
  }
  return undefined;
}

/** Steps named in the message about a config that is nested too deep. */
const shownDepthMax = 4;

function ancestor(place: Place, depth: number): Place {
  let found = place;
  while (found.parent !== null && found.depth > depth) found = found.parent;
  return found;
}

function pathOf(place: Place): string {
  const steps: (string | number)[] = [];
  for (let at: Place | null = place; at !== null && at.parent !== null; at = at.parent) steps.push(at.step);
  return steps.reverse().reduce<string>(placeBelow, 'config');
}
