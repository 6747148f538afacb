import type { Json } from '@gateway/plugin-sdk';
import { codeFences } from './code-fences.js';

/** Values of one text that are looked at. */
const candidatesMax = 64;
/** Characters read over again, for each character of the text: brackets in strings make a reader start anew. */
const passesMax = 4;

/**
 * JSON in a text: all of it, if it is JSON; else the fenced blocks that are JSON and the objects and lists that stand between other text, in
 * the order of the text. An object inside of another is not a candidate of its own.
 */
export function jsonCandidates(text: string): Json[] {
  const whole = parse(text.trim());
  if (whole !== undefined) return [whole];
  const found: { readonly at: number; readonly value: Json }[] = [];
  let from = 0;
  for (const fence of codeFences(text)) {
    const value = parse(fence.content.trim());
    if (value === undefined) continue;
    addSpans(text, from, fence.from, found);
    if (found.length >= candidatesMax) break;
    found.push({ at: fence.from, value });
    from = fence.to;
  }
  addSpans(text, from, text.length, found);
  return found.map(({ value }) => value);
}

function addSpans(text: string, from: number, to: number, found: { readonly at: number; readonly value: Json }[]): void {
  let at = from;
  const reading = { left: (to - from) * passesMax };
  while (found.length < candidatesMax && reading.left > 0) {
    at = nextOpening(text, at, to);
    if (at < 0) return;
    const ends = readValue(text, at, to, reading);
    if (ends.closedAt > 0) {
      const value = parse(text.slice(at, ends.closedAt));
      if (value !== undefined) {
        found.push({ at, value });
        at = ends.closedAt;
        continue;
      }
    }
    // What was complete inside of the broken value may be JSON; what was still open there cannot be.
    for (const span of ends.complete) {
      if (found.length >= candidatesMax) return;
      const value = parse(text.slice(span.from, span.to));
      if (value !== undefined) found.push({ at: span.from, value });
    }
    at = Math.max(at + 1, ends.resumeAt);
  }
}

function nextOpening(text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) return at;
  }
  return -1;
}

interface ReadValue {
  /** Behind the closing bracket; 0 when the value is broken. */
  readonly closedAt: number;
  /** Of a broken value the outermost objects and lists inside of it that are closed. */
  readonly complete: readonly { readonly from: number; readonly to: number }[];
  /** Of a broken value, where to look on. */
  readonly resumeAt: number;
}

/** Reads brackets, strings, commas and colons of the object or list that begins at `from`, and stops at the first character that JSON has not there. */
function readValue(text: string, from: number, to: number, reading: { left: number }): ReadValue {
  const open: { readonly from: number; readonly isObject: boolean; readonly complete: { readonly from: number; readonly to: number }[] }[] = [];
  /** Where the first string with a bracket in it begins: behind a stray quote it may be no string. */
  let resumeAt = 0;
  let at = from;
  const broken = (): ReadValue => ({ closedAt: 0, complete: open.flatMap((level) => level.complete), resumeAt: resumeAt === 0 ? at : resumeAt });
  for (; at < to; at += 1) {
    reading.left -= 1;
    if (reading.left <= 0) return broken();
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) {
      open.push({ from: at, isObject: code === 0x7b, complete: [] });
    } else if (code === 0x7d || code === 0x5d) {
      const top = open.at(-1);
      if (top === undefined || top.isObject !== (code === 0x7d)) return broken();
      open.pop();
      const outer = open.at(-1);
      if (outer === undefined) return { closedAt: at + 1, complete: top.complete, resumeAt: at + 1 };
      outer.complete.push({ from: top.from, to: at + 1 });
    } else if (code === 0x22) {
      const end = stringEnd(text, at, to);
      reading.left -= Math.abs(end) - at;
      if (end < 0) {
        // No string of JSON: a quote of the text around.
        if (resumeAt === 0) resumeAt = at + 1;
        return broken();
      }
      if (resumeAt === 0 && hasBracket(text, at, end)) resumeAt = at + 1;
      at = end;
    } else if (!isBetween(code)) {
      return broken();
    }
  }
  return broken();
}

/** The closing quote; negative when a line ends, or the text, before it. */
function stringEnd(text: string, from: number, to: number): number {
  for (let at = from + 1; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code === 0x5c) at += 1;
    else if (code < 0x20) return -at;
  }
  return -to;
}

function hasBracket(text: string, from: number, to: number): boolean {
  const at = nextOpening(text, from, to);
  return at >= 0;
}

/** White space, commas, colons, and what numbers, `true`, `false` and `null` are made of. */
const isBetween = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0x2c || code === 0x3a
  || (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e || code === 0x45 || (code >= 0x61 && code <= 0x7a);

function parse(text: string): Json | undefined {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  // Most texts are not JSON: cheaper to see than to have thrown.
  const isEnclosed = (first === 0x7b && last === 0x7d) || (first === 0x5b && last === 0x5d) || (first === 0x22 && last === 0x22);
  if (!isEnclosed && !/^(?:-?\d[-+.\deE]{0,30}|true|false|null)$/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
