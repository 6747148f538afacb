import { defineStrategy, deniedStatus, type Outcome, type Target } from '@gateway/plugin-sdk';

export default defineStrategy({
  title: 'Fallback',
  describe: 'Targets in order, until one answers.',
  params: {
    type: 'object',
    properties: {
      on_status_codes: {
        type: 'array',
        items: { type: 'integer', minimum: 100, maximum: 599 },
        description: 'Statuses after which the next target is tried. Left out: everything but 2xx and 446, what hooks deny. Empty: none, ever.',
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

/** What a guardrail of one target denied is not for another to be sent, unless the config says so by the status. */
const movesOnWithoutList = ({ status, error }: Outcome): boolean => status !== deniedStatus && (error !== undefined || status < 200 || status > 299);

function movesOnWithList(listed: readonly number[]): (outcome: Outcome) => boolean {
  const codes = new Set(listed);
  // Who lists codes thinks of answers; where none came there is nothing to keep. An empty list says never.
  return codes.size === 0 ? () => false : ({ status, error }) => codes.has(status) || (error !== undefined && status !== deniedStatus);
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
