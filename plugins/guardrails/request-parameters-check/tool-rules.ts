import { refuseOverlap } from '../common/request/names.js';
import type { Tool } from './tools.js';

export interface ToolRules {
  readonly allowedTypes?: readonly string[];
  readonly blockedTypes?: readonly string[];
  readonly allowedFunctionNames?: readonly string[];
  readonly blockedFunctionNames?: readonly string[];
}

/** Gives the reasons against a tool; undefined when there are no rules. An empty list is not a rule. */
export function compileToolRules(rules: ToolRules): ((tool: Tool) => string[]) | undefined {
  refuseOverlap(rules.allowedTypes, rules.blockedTypes, 'tools.blockedTypes', 'tools.allowedTypes');
  refuseOverlap(rules.allowedFunctionNames, rules.blockedFunctionNames, 'tools.blockedFunctionNames', 'tools.allowedFunctionNames');
  const allowedTypes = setOf(rules.allowedTypes);
  const blockedTypes = setOf(rules.blockedTypes);
  const allowedNames = setOf(rules.allowedFunctionNames);
  const blockedNames = setOf(rules.blockedFunctionNames);
  if (allowedTypes === undefined && blockedTypes === undefined && allowedNames === undefined && blockedNames === undefined) return undefined;
  return ({ types, name }) => {
    const reasons: string[] = [];
    if (types.some((type) => blockedTypes?.has(type) === true)) reasons.push('type_blocked');
    if (blockedNames?.has(name) === true) reasons.push('name_blocked');
    if (allowedTypes !== undefined && !types.some((type) => allowedTypes.has(type))) reasons.push('type_not_allowed');
    if (allowedNames !== undefined && !allowedNames.has(name)) reasons.push('name_not_allowed');
    return reasons;
  };
}

const setOf = (list: readonly string[] | undefined): ReadonlySet<string> | undefined => (list === undefined || list.length === 0 ? undefined : new Set(list));
