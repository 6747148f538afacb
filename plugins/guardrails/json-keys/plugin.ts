import { defineGuardrail, isObject, type Json, type Verdict } from '@gateway/plugin-sdk';
import { jsonGroups } from '../common/text/json-groups.js';

type Operator = 'any' | 'all' | 'none';

interface Judged {
  readonly group: number;
  readonly pass: boolean;
  readonly hasObject: boolean;
  readonly present: readonly string[];
}

export default defineGuardrail({
  title: 'JSON keys',
  describe: 'Passes when each choice of the answer holds a JSON object with any, all or none of the keys.',
  stages: ['output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    required: ['keys'],
    properties: {
      keys: { type: 'array', minItems: 1, maxItems: 1000, items: { type: 'string', maxLength: 1000 }, description: 'Names of members at the top of the object.' },
      operator: { type: 'string', enum: ['any', 'all', 'none'], default: 'any', description: 'How many of the keys have to be there.' },
    },
  },
  runs: 'either',
  create: ({ keys: given, operator }) => {
    const keys = [...new Set(given)];
    return {
      evaluate: (input): Verdict => {
        const judged = jsonGroups(input).map(({ group, candidates }) => judge(group, candidates.filter(isObject), keys, operator));
        const wrong = judged.find(({ pass }) => !pass);
        const shown = wrong ?? judged[0];
        if (shown === undefined) throw new Error('the answer has no choice that could be judged');
        const where = wrong !== undefined && judged.length > 1 ? ` in choice ${wrong.group}` : '';
        const wanted = operator === 'any' ? 'at least one has' : operator === 'all' ? 'all have' : 'none has';
        const explanation = shown.hasObject
          ? `${shown.present.length} of ${keys.length} keys ${shown.present.length === 1 ? 'was' : 'were'} found${where}, and ${wanted} to be there`
          : `no JSON object was found${where}, and of its keys ${wanted} to be there`;
        const data: Json = {
          presentKeys: shown.present,
          missingKeys: keys.filter((key) => !shown.present.includes(key)),
          operator,
          ...(where === '' ? {} : { choice: shown.group }),
          explanation,
        };
        return wrong === undefined ? { pass: true, data } : { pass: false, why: explanation, data };
      },
    };
  },
});

/** `any` and `all` want one object that has the keys; `none` looks at every object. */
function judge(group: number, objects: readonly { readonly [key: string]: Json }[], keys: readonly string[], operator: Operator): Judged {
  const looks = objects.map((object) => ({ present: keys.filter((key) => Object.hasOwn(object, key)) }));
  const fits = (present: readonly string[]): boolean => (operator === 'all' ? present.length === keys.length : present.length > 0);
  const fitting = looks.find(({ present }) => fits(present));
  // What comes nearest explains best why none is enough.
  let shown = fitting ?? looks[0];
  if (fitting === undefined) for (const look of looks) if (shown === undefined || look.present.length > shown.present.length) shown = look;
  return {
    group,
    pass: (fitting !== undefined) === (operator !== 'none'),
    hasObject: looks.length > 0,
    present: shown?.present ?? [],
  };
}
