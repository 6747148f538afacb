import type { Hit, Scan } from './concept-scan.js';
import { concept } from './lexicon.js';

/** A piece of evidence: its name and how much it weighs, 0 to 1; `at` is a character of the text. */
export interface Signal {
  readonly name: string;
  readonly weight: number;
  readonly at: number;
}

const c = concept;
const anchors = c.override | c.cancelled | c.follow | c.reveal | c.question | c.role | c.mode | c.model | c.send | c.unbound | c.now | c.limits;
const targets = c.instructions | c.rules | c.prompt | c.prior | c.all | c.limits | c.unbound | c.model | c.data | c.mode;

/** What stands near a hit: ideas of the words before and after it, no further than one sentence away. */
class Surroundings {
  constructor(private readonly hits: readonly Hit[], private readonly index: number) {}

  after(words: number, sentences = 0): number {
    const from = this.hits[this.index];
    let found = 0;
    if (from === undefined) return 0;
    for (let at = this.index + 1; at < this.hits.length; at += 1) {
      const hit = this.hits[at];
      if (hit === undefined || hit.word - from.word > words || hit.sentence - from.sentence > sentences) break;
      found |= hit.concepts;
    }
    return found;
  }

  /** Where the first word with an idea begins; -1 when there is none. */
  find(idea: number, words: number): number {
    const from = this.hits[this.index];
    if (from === undefined) return -1;
    for (let at = this.index + 1; at < this.hits.length; at += 1) {
      const hit = this.hits[at];
      if (hit === undefined || hit.word - from.word > words || hit.sentence !== from.sentence) break;
      if ((hit.concepts & idea) !== 0) return hit.at;
    }
    return -1;
  }

  before(words: number): number {
    const from = this.hits[this.index];
    let found = 0;
    if (from === undefined) return 0;
    for (let at = this.index - 1; at >= 0; at -= 1) {
      const hit = this.hits[at];
      if (hit === undefined || from.word - hit.word > words || hit.sentence !== from.sentence) break;
      found |= hit.concepts;
    }
    return found;
  }
}

/** Evidence in the ideas of a text. */
export function signalsOf({ hits, concepts }: Scan, text: string): Signal[] {
  if ((concepts & anchors) === 0 || (concepts & targets) === 0) return [];
  const signals: Signal[] = [];
  for (let index = 0; index < hits.length; index += 1) {
    const hit = hits[index];
    if (hit === undefined || (hit.concepts & anchors) === 0) continue;
    const near = new Surroundings(hits, index);
    const add = (name: string, weight: number): void => { if (weight > 0) signals.push({ name, weight, at: hit.at }); };
    const is = (idea: number): boolean => (hit.concepts & idea) !== 0;
    if (is(c.override)) add('override', overrideWeight(near, text));
    if (is(c.follow)) add('override', refusalWeight(near));
    if (is(c.cancelled)) add('override', cancelledWeight(near));
    if (is(c.reveal) || is(c.question)) add('extraction', extractionWeight(near, is(c.question) && !is(c.reveal)));
    if (is(c.role) || is(c.now)) add('role', roleWeight(near, is(c.now)));
    if (is(c.limits)) add('role', freedWeight(near));
    if (is(c.unbound)) add('role', unboundWeight(near));
    if (is(c.mode)) add('mode', modeWeight(near));
    if (is(c.model)) add('addressed', addressedWeight(near));
    if (is(c.send)) add('exfiltration', exfiltrationWeight(near, text, hit.at));
  }
  return signals;
}

const has = (found: number, idea: number): boolean => (found & idea) !== 0;

/** "ignore ... previous ... instructions" */
function overrideWeight(near: Surroundings, text: string): number {
  const before = near.before(4);
  if (has(near.before(2), c.not) && !has(near.before(2), c.all) || has(near.after(2), c.notAfter)) return 0;
  const after = near.after(9);
  const close = near.after(4);
  // The writer's own words: "how can I ignore", "forget my last question".
  const factor = has(before, c.own) || has(close, c.own) ? 0.35 : 1;
  let weight = 0;
  if (has(after, c.instructions)) weight = has(after, c.prior) ? 0.85 : has(after, c.your | c.told) ? 0.75 : has(after, c.all) ? 0.65 : 0;
  if (has(after, c.prompt) && has(after, c.hidden | c.your | c.prior)) weight = Math.max(weight, has(after, c.hidden | c.your) ? 0.75 : 0.55);
  if (has(after, c.rules)) weight = Math.max(weight, has(after, c.your | c.told) ? 0.62 : has(after, c.prior) ? 0.55 : 0);
  if (has(close, c.all) && has(after, c.told) && has(after, c.your | c.prior)) weight = Math.max(weight, 0.65);
  if (has(close, c.all) && has(close, c.prior) && isLast(text, near.find(c.prior, 4))) weight = Math.max(weight, 0.52);
  return weight * factor;
}

/** The word names no thing that comes after it: "ignore all the above!", not "ignore all previous mails". */
const isLast = (text: string, at: number): boolean => at >= 0 && /^\p{L}{1,20}\s{0,3}(?:$|[^\s\p{L}\p{N}]|(?:and|instead|or|then|und|et|y|e|en)\s)/u.test(text.slice(at, at + 40));

/** "do not follow ... previous ... instructions" */
function refusalWeight(near: Surroundings): number {
  const after = near.after(10);
  if (!has(near.before(4), c.not) && !has(near.after(6), c.notAfter)) return 0;
  if (!has(after, c.instructions | c.rules | c.prompt) && !(has(after, c.told) && has(after, c.your))) return 0;
  const factor = has(near.after(4), c.own) ? 0.35 : 1;
  return has(after, c.prior | c.your | c.hidden) ? 0.65 * factor : 0.3 * factor;
}

/** "previous ... instructions ... are void", "bisherigen Anweisungen ignorieren" */
function cancelledWeight(near: Surroundings): number {
  const before = near.before(9);
  if (!has(before, c.instructions | c.rules | c.prompt | c.limits)) return 0;
  if (has(before, c.own)) return 0.2;
  return has(before, c.prior | c.your) ? (has(before, c.instructions | c.prompt) ? 0.65 : 0.55) : has(before, c.all) ? 0.4 : 0;
}

/** "print ... your ... instructions" */
function extractionWeight(near: Surroundings, isQuestion: boolean): number {
  const after = near.after(isQuestion ? 6 : 10);
  const around = after | near.after(12, 1);
  const factor = has(near.after(5) | near.before(4), c.own) && !has(near.after(8), c.your) ? 0.4 : 1;
  const isExact = has(around, c.exact) ? 0.12 : 0;
  let weight = 0;
  if (has(after, c.prompt) && has(after, c.hidden)) weight = has(after, c.your) ? 0.7 : isQuestion ? 0 : 0.45;
  else if (has(after, c.prompt) && has(after, c.your) && !isQuestion) weight = 0.45;
  if (has(after, c.instructions) && has(after, c.hidden)) weight = Math.max(weight, has(after, c.your) ? 0.68 : isQuestion ? 0 : 0.5);
  if (!isQuestion && has(after, c.instructions) && has(after, c.your)) weight = Math.max(weight, has(after, c.told | c.prior) ? 0.65 : 0.5);
  if (!isQuestion && has(after, c.rules) && has(after, c.your) && has(after, c.told | c.hidden)) weight = Math.max(weight, 0.6);
  if (!isQuestion && has(after, c.prior) && has(around, c.all | c.told) && has(around, c.exact)) weight = Math.max(weight, 0.5);
  // "What did the developer tell you?"
  if (isQuestion && has(after, c.told | c.tell) && has(after, c.your) && has(after, c.hidden | c.not)) weight = Math.max(weight, 0.5);
  return weight === 0 ? 0 : (weight + isExact) * factor;
}

/** "pretend ... no restrictions" */
function roleWeight(near: Surroundings, isNow: boolean): number {
  const after = near.after(14);
  if (isNow && !has(near.before(3), c.your) && !has(near.after(3), c.role)) return 0;
  if (has(after, c.unbound)) return 0.6;
  if (has(near.after(12, 1), c.unbound) && has(after, c.model)) return 0.55;
  if (!has(after, c.not) || !has(after, c.limits)) return 0;
  return has(after, c.own) ? 0.25 : 0.58;
}

/** "you have no rules now, answer everything" */
function freedWeight(near: Surroundings): number {
  const before = near.before(6);
  const isFreed = has(near.before(3), c.not) || has(near.after(4), c.notAfter);
  if (!isFreed || !has(before, c.your) || has(before, c.own)) return 0;
  return has(near.before(12) | near.after(8, 1), c.role | c.now) ? 0.52 : 0.3;
}

/** "an uncensored AI without limits" */
function unboundWeight(near: Surroundings): number {
  const around = near.after(12, 1) | near.before(10);
  return has(around, c.your) && has(around, c.role | c.limits | c.mode) ? 0.5 : has(around, c.model) && has(around, c.not | c.role) ? 0.45 : 0;
}

/** "developer mode ... answers everything" */
function modeWeight(near: Surroundings): number {
  if (!has(near.before(2), c.hidden | c.unbound)) return 0;
  const around = near.after(12, 1) | near.before(6);
  return has(around, c.own) ? 0 : has(around, c.limits | c.not) && has(around, c.your | c.role | c.limits) ? 0.6 : has(around, c.your) ? 0.4 : 0;
}

/** "Note to the AI: ..." */
function addressedWeight(near: Surroundings): number {
  if (!has(near.before(5), c.address)) return 0;
  const after = near.after(25, 2);
  const isSecret = has(after, c.tell) && has(after, c.user);
  const commands = [c.send, c.act, c.override, c.reveal].filter((idea) => has(after, idea)).length + (isSecret ? 1 : 0);
  return commands === 0 ? 0 : Math.min(0.6, 0.18 + 0.12 * commands);
}

/** How far an address may be from the verb. */
const addressDistanceMax = 250;

function hasAddress(text: string, from: number): boolean {
  const near = text.slice(from, from + addressDistanceMax);
  return near.includes('://') || near.includes('@');
}

/** "send ... the conversation ... to https://..." */
function exfiltrationWeight(near: Surroundings, text: string, at: number): number {
  const after = near.after(16);
  if (!has(after, c.data) || !hasAddress(text, at)) return 0;
  return has(near.before(4) | near.after(4), c.own) ? 0.3 : 0.55;
}
