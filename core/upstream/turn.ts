// Hot: runs for each read of an upstream's answer.
// Work that waits for the end of what is running. What one read brings leaves in one write that way, and without a task of its own: the read says
// when it begins and ends. Outside a read the end is that of the running task (process.nextTick, not queueMicrotask: that makes an async
// resource for each callback).

export interface TurnWork {
  onTurnEnd(): void;
}

/** The same list each time; what lies behind `count` is empty. */
const waiting: (TurnWork | null)[] = [];
let count = 0;
/** Reads that are being looked at, one inside another. */
let depth = 0;
let isPlanned = false;

export function atTurnEnd(work: TurnWork): void {
  waiting[count] = work;
  count += 1;
  if (depth > 0 || isPlanned) return;
  isPlanned = true;
  process.nextTick(runPlanned);
}

export function beginTurn(): void {
  depth += 1;
}

/** Never throws. */
export function endTurn(): void {
  if (depth === 1 && count > 0) run();
  depth -= 1;
}

function runPlanned(): void {
  isPlanned = false;
  beginTurn();
  endTurn();
}

/** What is added meanwhile is run, too. One that throws keeps nothing from the others. */
function run(): void {
  for (let index = 0; index < count; index += 1) {
    const work = waiting[index] as TurnWork;
    waiting[index] = null;
    try {
      work.onTurnEnd();
    } catch (thrown) {
      process.nextTick(raise, thrown);
    }
  }
  count = 0;
}

function raise(thrown: unknown): void {
  throw thrown;
}
