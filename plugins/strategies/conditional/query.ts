import { isObject, ParameterError, type Exchange, type Json } from '@gateway/plugin-sdk';
import type { RE2JS } from 're2js';
import { parseOperand, readOperand, type Operand } from '../common/operand.js';
import type { Patterns } from './pattern.js';

/** A query, compiled: what a call is held against. */
export type Predicate =
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Predicate[] }
  | { readonly kind: 'test'; readonly operand: Operand; readonly tests: readonly Test[] };

type Scalar = string | number | boolean | null;

type Test =
  | { readonly kind: 'equal' | 'unequal'; readonly value: Scalar }
  | { readonly kind: 'above' | 'atLeast' | 'below' | 'atMost'; readonly limit: number }
  | { readonly kind: 'among' | 'notAmong'; readonly values: ReadonlySet<unknown> }
  | { readonly kind: 'pattern'; readonly pattern: RE2JS; readonly patterns: Patterns };

/** Queries inside one another. */
const queryDepthMax = 32;

/** Throws a ParameterError with the place of the first thing in `query` that makes no sense. */
export function compileQuery(query: unknown, path: string, patterns: Patterns, depth = 1): Predicate {
  if (!isObject(query)) throw new ParameterError(path, 'must be an object');
  if (depth > queryDepthMax) throw new ParameterError(path, `queries may be nested at most ${queryDepthMax} deep`);
  const parts = Object.entries(query).map(([key, value]): Predicate => {
    const place = below(path, key);
    if (key === '$and' || key === '$or') {
      if (!Array.isArray(value) || value.length === 0) throw new ParameterError(place, 'must be a list of at least one query');
      return {
        kind: key === '$and' ? 'all' : 'any',
        parts: value.map((inner: unknown, index) => compileQuery(inner, `${place}[${index}]`, patterns, depth + 1)),
      };
    }
    const operand = parseOperand(key, ['metadata', 'params', 'url']);
    if (operand === undefined) {
      throw new ParameterError(place, key.startsWith('$')
        ? 'unknown operator here; a query takes $and, $or, metadata.<key>, params.<path> and url.pathname'
        : 'cannot be asked about; use metadata.<key>, params.<path> or url.pathname');
    }
    return { kind: 'test', operand, tests: compileTests(value, place, patterns) };
  });
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'all', parts };
}

function compileTests(value: unknown, path: string, patterns: Patterns): readonly Test[] {
  if (isScalar(value)) return [{ kind: 'equal', value }];
  if (!isObject(value)) throw new ParameterError(path, 'must be a string, a number, true, false, null or an object of operators ($in compares with a list)');
  const entries = Object.entries(value);
  if (entries.length === 0) throw new ParameterError(path, `needs at least one operator: ${operatorNames}`);
  return entries.map(([operator, given]) => compileTest(operator, given, below(path, operator), patterns));
}

const operatorNames = '$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin or $regex';

function compileTest(operator: string, given: unknown, path: string, patterns: Patterns): Test {
  switch (operator) {
    case '$eq': return { kind: 'equal', value: scalar(given, path) };
    case '$ne': return { kind: 'unequal', value: scalar(given, path) };
    case '$gt': return { kind: 'above', limit: limit(given, path) };
    case '$gte': return { kind: 'atLeast', limit: limit(given, path) };
    case '$lt': return { kind: 'below', limit: limit(given, path) };
    case '$lte': return { kind: 'atMost', limit: limit(given, path) };
    case '$in': return { kind: 'among', values: scalars(given, path) };
    case '$nin': return { kind: 'notAmong', values: scalars(given, path) };
    case '$regex': return compilePattern(given, path, patterns);
    default: throw new ParameterError(path, `unknown operator; use ${operatorNames}`);
  }
}

function scalar(given: unknown, path: string): Scalar {
  if (!isScalar(given)) throw new ParameterError(path, 'must be a string, a number, true, false or null');
  return given;
}

function scalars(given: unknown, path: string): ReadonlySet<Scalar> {
  if (!Array.isArray(given)) throw new ParameterError(path, 'must be a list of values');
  return new Set(given.map((value: unknown, index) => scalar(value, `${path}[${index}]`)));
}

function limit(given: unknown, path: string): number {
  const number = numberIn(given);
  if (number === undefined) throw new ParameterError(path, 'must be a number');
  return number;
}

function compilePattern(given: unknown, path: string, patterns: Patterns): Test {
  if (typeof given !== 'string') throw new ParameterError(path, 'must be a regular expression as a string');
  return { kind: 'pattern', pattern: patterns.compile(given, path), patterns };
}

/** Whether a call has to have its body parsed for this query. Must not throw: it is asked before the query is checked. */
export function readsParams(query: unknown, depth = 1): boolean {
  if (!isObject(query) || depth > queryDepthMax) return false;
  return Object.entries(query).some(([key, value]) => key.startsWith('params.')
    || ((key === '$and' || key === '$or') && Array.isArray(value) && value.some((inner: unknown) => readsParams(inner, depth + 1))));
}

export function holds(predicate: Predicate, exchange: Exchange): boolean {
  switch (predicate.kind) {
    case 'all':
      for (const part of predicate.parts) if (!holds(part, exchange)) return false;
      return true;
    case 'any':
      for (const part of predicate.parts) if (holds(part, exchange)) return true;
      return false;
    case 'test': {
      const value = readOperand(predicate.operand, exchange);
      for (const test of predicate.tests) if (!passes(test, value)) return false;
      return true;
    }
  }
}

function passes(test: Test, value: Json | undefined): boolean {
  switch (test.kind) {
    case 'equal': return value === test.value;
    case 'unequal': return value !== test.value;
    case 'among': return test.values.has(value);
    case 'notAmong': return !test.values.has(value);
    case 'pattern': {
      const text = textOf(value);
      return text !== undefined && test.patterns.finds(test.pattern, text);
    }
    default: {
      const number = numberIn(value);
      if (number === undefined) return false;
      switch (test.kind) {
        case 'above': return number > test.limit;
        case 'atLeast': return number >= test.limit;
        case 'below': return number < test.limit;
        case 'atMost': return number <= test.limit;
      }
    }
  }
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Longest text taken for a number. */
const numberCharactersMax = 64;

/** A number, or text that is one from end to end (metadata travels as text often enough). */
function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > numberCharactersMax) return undefined;
  if (!/^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** Longest key quoted in a place. */
const keyCharactersMax = 64;

function below(path: string, key: string): string {
  if (/^[$\w-]{1,64}$/.test(key)) return `${path}.${key}`;
  return `${path}[${JSON.stringify(key.length > keyCharactersMax ? `${key.slice(0, keyCharactersMax)}...` : key)}]`;
}
