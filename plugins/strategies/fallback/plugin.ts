import { defineStrategy, type Outcome, type Target } from '@gateway/plugin-sdk';

export default defineStrategy({
  title: 'Fallback',
  describe: 'Targets in order, until one answers.',
  params: {
    type: 'object',
    properties: {
      on_status_codes: {
        type: 'array',
        items: { type: 'integer', minimum: 100, maximum: 599 },
        description: 'Statuses after which the next target is tried. Left out: everything but 2xx. Empty: none, ever.',
      },
    },
  },
  create: ({ on_status_codes: listed }) => {
    const movesOn = listed === undefined ? movesOnWithoutList : movesOnWithList(listed);
    return {
      next(_exchange, targets, outcomes) {
        const last = outcomes.at(-1);
        if (last === undefined) return after(-1, targets);
        return movesOn(last) ? after(last.target, targets) : -1;
      },
    };
  },
});

const movesOnWithoutList = (outcome: Outcome): boolean => outcome.error !== undefined || outcome.status < 200 || outcome.status > 299;

function movesOnWithList(listed: readonly number[]): (outcome: Outcome) => boolean {
  const codes = new Set(listed);
  // Who lists codes thinks of answers; where none came there is nothing to keep. An empty list says never.
  return codes.size === 0 ? () => false : (outcome) => outcome.error !== undefined || codes.has(outcome.status);
}

/** The first healthy target behind `last`; when none of all targets is healthy, the very next. */
function after(last: number, targets: readonly Target[]): number {
  const isAnyHealthy = targets.some(isHealthy);
  for (let index = last + 1; index < targets.length; index += 1) {
    if (!isAnyHealthy || targets[index]?.healthy === true) return index;
  }
  return -1;
}

const isHealthy = (target: Target): boolean => target.healthy;
