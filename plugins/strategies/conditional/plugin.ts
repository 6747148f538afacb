import { defineStrategy, ParameterError, type Target } from '@gateway/plugin-sdk';
import { Patterns } from './pattern.js';
import { compileQuery, holds, readsParams } from './query.js';

export default defineStrategy({
  title: 'Conditional',
  describe: 'The target that the first fitting condition names, else the default one.',
  needs: { request: 'json' },
  params: {
    type: 'object',
    // Both are needed; create() says so with the place.
    properties: {
      conditions: {
        type: 'array',
        description: 'In order; the first whose query fits decides.',
        items: {
          type: 'object',
          required: ['query', 'then'],
          properties: {
            query: { type: 'object', properties: {}, additionalProperties: true, description: 'Over metadata.<key>, params.<path> and url.pathname.' },
            then: { type: 'string', description: 'Name of a target.' },
          },
        },
      },
      default: { type: 'string', description: 'Name of the target when no condition fits.' },
    },
  },
  needsFor: ({ conditions }) => ({ request: conditions?.some(({ query }) => readsParams(query)) === true ? 'json' : 'head' }),
  create: ({ conditions, default: fallbackName }, _host, targets) => {
    if (conditions === undefined) throw new ParameterError('conditions', 'is required in this mode');
    if (fallbackName === undefined) throw new ParameterError('default', 'is required in this mode: the name of the target when no condition fits');
    const patterns = new Patterns();
    const routes = conditions.map(({ query, then }, index) => ({
      predicate: compileQuery(query, `conditions[${index}].query`, patterns),
      target: targetNamed(then, targets, `conditions[${index}].then`),
    }));
    const fallback = targetNamed(fallbackName, targets, 'default');
    /** Index of the condition that fitted; the number of them when none did. */
    let fitting = 0;
    return {
      weight: patterns.weight,
      next(exchange, _targets, outcomes) {
        if (outcomes.length > 0) return -1;
        for (fitting = 0; fitting < routes.length; fitting += 1) {
          const route = routes[fitting] as (typeof routes)[number];
          if (holds(route.predicate, exchange)) return route.target;
        }
        return fallback;
      },
      ground: () => (fitting < routes.length ? { condition: fitting } : { condition: null }),
    };
  },
});

function targetNamed(name: string, targets: readonly Omit<Target, 'healthy'>[], path: string): number {
  const index = name === '' ? -1 : targets.findIndex((target) => target.name === name);
  if (index >= 0) return index;
  const names = targets.map((target) => target.name).filter((known) => known !== '');
  throw new ParameterError(path, names.length === 0
    ? 'names no target; give the targets a name'
    : `names no target; the targets are called ${names.slice(0, namesShownMax).join(', ')}${names.length > namesShownMax ? ' ...' : ''}`);
}

/** Target names listed in an error. */
const namesShownMax = 10;
