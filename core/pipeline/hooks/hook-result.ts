// The results of hooks as clients and logs read them, under `hook_results`.

import type { CheckResult, HookDecision, Json, Verdict } from '@gateway/plugin-sdk';
import { reasonOf } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { HookResult } from '../../exchange/hook-log.js';
import type { CompiledHook, Feedback } from '../../plan/hooks.js';

const jsonType = /^application\/(?:[\w.+-]*\+)?json\b/i;
const closingBrace = 0x7d;
const openingBrace = 0x7b;

/** A JSON answer with the results as its last member; everything before it keeps its bytes. An answer that is not an object goes as it came. */
export function withHookResults(exchange: Exchange, body: Uint8Array | string, contentType: string): Uint8Array | string {
  const { hooks } = exchange;
  if (hooks === null || hooks.isEmpty || !jsonType.test(contentType)) return body;
  const member = `"hook_results":${hooks.text()}}`;
  if (typeof body === 'string') return body.endsWith('}') && body.startsWith('{') ? `${body.slice(0, -1)}${body === '{}' ? '' : ','}${member}` : body;
  let end = body.length - 1;
  while (end > 0 && isSpace(body[end])) end -= 1;
  let start = 0;
  while (start < end && isSpace(body[start])) start += 1;
  if (body[end] !== closingBrace || body[start] !== openingBrace) return body;
  let last = end - 1;
  while (last > start && isSpace(body[last])) last -= 1;
  const text = last === start ? member : `,${member}`;
  const bytes = Buffer.allocUnsafe(end + Buffer.byteLength(text));
  bytes.set(body.subarray(0, end));
  bytes.write(text, end);
  return bytes;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Many hooks end in the same millisecond. */
let lastMs = 0;
let lastText = '';
/** The last members of a check's result, which nearly all that ended at `lastMs` share: nothing was changed, and an error is not a failure. */
let lastEnding = '';
/** The same where another check follows. */
let lastEndingBeforeNext = '';

function timeText(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastText = new Date(now).toISOString();
    lastEnding = inOnePiece(endingOf(false, lastText, false));
    lastEndingBeforeNext = inOnePiece(`${lastEnding},`);
  }
  return lastText;
}

const endingOf = (transformed: boolean, createdAt: string, failOnError: boolean): string =>
  `,"transformed":${transformed},"created_at":"${createdAt}","log":null,"fail_on_error":${failOnError}}`;

/** A text that was put together stays a tree of its parts, and each text that it becomes part of is written part by part: one that is used often is made whole. */
const inOnePiece = (text: string): string => Buffer.from(text).toString();

/** Of a time below a millisecond, by its microseconds: what nearly every check takes. */
const shortTimes = Array.from({ length: 1000 }, (_, microseconds) => String(microseconds / 1000));

/** Milliseconds with three decimals at the most. */
function durationText(milliseconds: number): string {
  const microseconds = Math.round(milliseconds * 1000);
  return shortTimes[microseconds] ?? String(microseconds / 1000);
}

/** The parts of a result that are the same for every call. */
interface HookTexts {
  readonly id: string;
  readonly kind: string;
  /** Up to the checks of a hook that passed and changed nothing. */
  readonly passed: string;
  /** What stands behind its time, when that was `endingMs`. */
  ending: string;
  endingMs: number;
}

const textsOfHooks = new WeakMap<CompiledHook, HookTexts>();

function textsOf(hook: CompiledHook): HookTexts {
  let texts = textsOfHooks.get(hook);
  if (texts === undefined) {
    const id = inOnePiece(`"id":${JSON.stringify(hook.id)}`);
    const kind = inOnePiece(`,"async":${hook.isAsync},"type":${JSON.stringify(hook.type)},"created_at":"`);
    textsOfHooks.set(hook, texts = { id, kind, passed: inOnePiece(`{"verdict":true,${id},"transformed":false,"checks":[`), ending: '', endingMs: -1 });
  }
  return texts;
}

/** Behind the time of a hook that passed. To be called after `timeText`. */
function endingAfterTime(texts: HookTexts): string {
  if (texts.endingMs !== lastMs) {
    texts.endingMs = lastMs;
    texts.ending = inOnePiece(`${texts.kind}${lastText}","deny":false}`);
  }
  return texts.ending;
}

/**
 * A class, not a literal: of objects that live as long as a call the engine comes to put those of a literal, and every text that they hold, among
 * the old ones at once, and clearing those away takes it longer than making them.
 */
class SaidByHook implements HookResult {
  constructor(readonly text: string, readonly logged: string) {}
}

export function hookResult(hook: CompiledHook, results: readonly CheckResult[], decision: HookDecision, tookMs: number): HookResult {
  const createdAt = timeText();
  const texts = textsOf(hook);
  const { id, kind } = texts;
  let checks = '';
  let isQuiet = decision.pass;
  let isAnyTransformed = false;
  for (let index = 0; index < results.length; index += 1) {
    const result = results[index] as CheckResult;
    // Hooks that nobody waited for changed nothing that anybody got.
    const transformed = !hook.isAsync && isTransformed(result);
    if (transformed || result.error !== undefined) isQuiet = false;
    isAnyTransformed ||= transformed;
    const isLast = index === results.length - 1;
    const ending = transformed || result.failOnError ? endingOf(transformed, createdAt, result.failOnError) + (isLast ? '' : ',') : isLast ? lastEnding : lastEndingBeforeNext;
    checks += checkHead(result) + durationText(result.tookMs) + ending;
  }
  const given = decision.pass ? hook.onSuccess : hook.onFail;
  if (isQuiet && !decision.deny && given === null) {
    // Most hooks of most calls have nothing to say, and every call is logged.
    const took = durationText(tookMs);
    return new SaidByHook(`${texts.passed}${checks}],"feedback":null,"execution_time":${took}${endingAfterTime(texts)}`, `{"verdict":true,${id},"execution_time":${took}}`);
  }
  const feedback = given === null ? 'null' : JSON.stringify(feedbackResult(given, results));
  const deny = decision.deny && !hook.isAsync;
  const took = durationText(tookMs);
  const text = `{"verdict":${decision.pass},${id},"transformed":${isAnyTransformed},"checks":[${checks}],"feedback":${feedback},"execution_time":${took}${kind}${createdAt}","deny":${deny}}`;
  return new SaidByHook(text, isQuiet && !deny && given === null ? `{"verdict":true,${id},"execution_time":${took}}` : text);
}

/** A check's result up to the time that it took. */
interface ShownVerdict {
  readonly id: string;
  readonly head: string;
}

const shownVerdicts = new WeakMap<Verdict, ShownVerdict>();

/** A verdict that is frozen is the same one each time: most checks have but one for a text that has nothing wrong with it. */
function checkHead(result: CheckResult): string {
  const { verdict, id } = result;
  if (verdict === undefined || result.error !== undefined || !Object.isFrozen(verdict)) return madeHead(result);
  const known = shownVerdicts.get(verdict);
  if (known !== undefined && known.id === id) return known.head;
  const head = inOnePiece(madeHead(result));
  shownVerdicts.set(verdict, { id, head });
  return head;
}

function madeHead(result: CheckResult): string {
  const { verdict } = result;
  let { error } = result;
  let data: string | undefined;
  try {
    data = JSON.stringify(dataOf(result));
  } catch (thrown) {
    error = new Error(`its data is not JSON: ${reasonOf(thrown)}`);
  }
  const fault = error === undefined ? '' : `"error":${JSON.stringify({ name: error.name === 'Error' ? 'Check error' : error.name, message: error.message })},`;
  return `{"data":${data ?? 'null'},"verdict":${verdict === undefined ? !result.failOnError : verdict.pass},"id":${JSON.stringify(result.id)},${fault}"execution_time":`;
}

/** `why` is in the data too, as `explanation`, where clients of other gateways look for it. */
function dataOf({ verdict }: CheckResult): Json {
  if (verdict === undefined) return null;
  const { data = null, why } = verdict;
  if (why === undefined) return data;
  if (data === null) return { explanation: why };
  return typeof data === 'object' && !Array.isArray(data) && !('explanation' in data) ? { ...data, explanation: why } : data;
}

const isTransformed = ({ verdict }: CheckResult): boolean => verdict !== undefined && ((verdict.edits?.length ?? 0) > 0 || verdict.body !== undefined);

function feedbackResult(feedback: Feedback, results: readonly CheckResult[]): Json {
  const ids = (wanted: (result: CheckResult) => boolean): string => results.filter(wanted).map((result) => result.id).join(', ');
  return {
    value: feedback.value ?? null,
    weight: feedback.weight ?? null,
    metadata: {
      ...feedback.metadata,
      successfulChecks: ids((result) => result.verdict?.pass === true),
      failedChecks: ids((result) => result.verdict?.pass === false),
      erroredChecks: ids((result) => result.error !== undefined),
    },
  };
}
