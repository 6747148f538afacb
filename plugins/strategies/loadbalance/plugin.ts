import { defineStrategy, ParameterError, type Exchange, type Target } from '@gateway/plugin-sdk';
import { parseOperand } from '../common/operand.js';
import { makeSticky, type Sticky } from './sticky.js';

const ttlSecondsDefault = 3600;
/** Weights told of in the log of a call. */
const weightsShownMax = 16;
const fieldSources = ['metadata', 'params', 'headers'] as const;

export default defineStrategy({
  title: 'Load balance',
  describe: 'One target, drawn by weight; with sticky, the same one for the same user.',
  needs: { request: 'json' },
  params: {
    type: 'object',
    properties: {
      sticky: {
        type: 'object',
        properties: {
          enabled: { type: 'boolean', default: true },
          hash_fields: {
            type: 'array',
            items: { type: 'string' },
            default: [],
            description: 'What tells users of one API key apart: metadata.<key>, params.<path> or headers.<name>.',
          },
          ttl: { type: 'integer', minimum: 1, default: ttlSecondsDefault, description: 'Seconds after which a user may be given another target.' },
        },
      },
    },
  },
  needsFor: ({ sticky }) => {
    const readsBody = sticky?.enabled === true && sticky.hash_fields.some((field) => field.startsWith('params.'));
    return { request: readsBody ? 'json' : 'head' };
  },
  create: ({ sticky: given }, host, targets) => {
    const weights = shares(targets);
    const fields = (given?.hash_fields ?? []).map((address, index) => {
      const operand = parseOperand(address, fieldSources);
      if (operand === undefined) throw new ParameterError(`sticky.hash_fields[${index}]`, 'must be metadata.<key>, params.<path> or headers.<name>');
      return operand;
    });
    const sticky = given?.enabled === true ? makeSticky(fields, (given.ttl ?? ttlSecondsDefault) * 1000) : null;
    const ground = { sticky: sticky !== null, weights: targets.map(({ weight }) => weight).slice(0, weightsShownMax) };
    return {
      ground: () => ground,
      next(exchange, current, outcomes) {
        if (outcomes.length > 0) return -1;
        const total = totalOf(weights, current, true);
        // Nothing healthy has a weight: a target that may have recovered is better than none.
        const isHealthyOnly = total > 0;
        return sticky === null
          ? draw(weights, current, isHealthyOnly, host.random() * (isHealthyOnly ? total : totalOf(weights, current, false)))
          : choose(sticky, exchange, host.now(), weights, current, isHealthyOnly);
      },
    };
  },
});

/** Weights between 0 and 1, so that no sum of them overflows. */
function shares(targets: readonly Omit<Target, 'healthy'>[]): readonly number[] {
  let largest = 0;
  for (const target of targets) if (target.weight > largest) largest = target.weight;
  if (largest === 0) throw new ParameterError('', 'the weights of all targets are 0, so none could ever be chosen; give at least one target a weight above 0');
  return targets.map((target) => target.weight / largest);
}

function totalOf(weights: readonly number[], targets: readonly Target[], isHealthyOnly: boolean): number {
  let total = 0;
  for (let index = 0; index < weights.length; index += 1) {
    if (!isHealthyOnly || targets[index]?.healthy === true) total += weights[index] ?? 0;
  }
  return total;
}

function draw(weights: readonly number[], targets: readonly Target[], isHealthyOnly: boolean, point: number): number {
  let rest = point;
  let chosen = -1;
  for (let index = 0; index < weights.length; index += 1) {
    const weight = weights[index] ?? 0;
    if (weight === 0 || (isHealthyOnly && targets[index]?.healthy !== true)) continue;
    // Rounding may carry the point past the last share: then the last one seen has it.
    chosen = index;
    rest -= weight;
    if (rest < 0) break;
  }
  return chosen;
}

/** The highest score wins. A target's score depends on the user and itself alone, so another's absence never moves its users. */
function choose(
  sticky: Sticky, exchange: Exchange, nowMs: number, weights: readonly number[], targets: readonly Target[], isHealthyOnly: boolean,
): number {
  const scores = sticky.scores(exchange, nowMs, weights);
  let chosen = -1;
  let best = -1;
  for (let index = 0; index < weights.length; index += 1) {
    const score = scores[index] ?? 0;
    if ((weights[index] ?? 0) === 0 || (isHealthyOnly && targets[index]?.healthy !== true) || score <= best) continue;
    chosen = index;
    best = score;
  }
  return chosen;
}
