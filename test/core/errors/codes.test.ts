import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { errorCodes, type ErrorCode, type ErrorEntry } from '../../../core/errors/codes.js';
import { isTest, parseSource, placeOf, sources, walk, type Source } from '../../tidy/sources.js';

const entries: readonly (readonly [code: string, entry: ErrorEntry])[] = Object.entries(errorCodes);
const isCode = (text: string): text is ErrorCode => Object.hasOwn(errorCodes, text);
const placeholdersOf = (message: string): string[] => [...message.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');

/** Details of a call: their names, or null where another object is spread into them. */
function detailNames(details: ts.Expression | undefined): string[] | null {
  if (details === undefined) return [];
  if (!ts.isObjectLiteralExpression(details) || details.properties.some((property) => ts.isSpreadAssignment(property))) return null;
  return details.properties.map((property) => property.name?.getText() ?? '');
}

/** What is wrong with the calls of fail() in a file. */
function callFaults(source: Source): string[] {
  const faults: string[] = [];
  walk(source, (node) => {
    if (!ts.isCallExpression(node) || node.expression.getText() !== 'fail') return;
    const [code, details] = node.arguments;
    if (code === undefined || !ts.isStringLiteral(code)) return;
    const place = placeOf(source, node);
    const names = detailNames(details);
    if (!isCode(code.text)) faults.push(`${place}: ${code.text} is not in the table`);
    else if (names !== null) {
      const needed = placeholdersOf(errorCodes[code.text].message);
      for (const name of needed) if (!names.includes(name)) faults.push(`${place}: ${code.text} needs ${name}`);
      for (const name of names) if (!needed.includes(name) && name !== 'param') faults.push(`${place}: ${code.text} has no place for ${name}`);
    }
  });
  return faults;
}

const coreSources = sources.filter(({ path }) => path.startsWith('core/') && !isTest(path));

describe('the table of errors', () => {
  it('has codes that are words in capitals', () => {
    assert.ok(entries.length > 30);
    for (const [code] of entries) assert.match(code, /^[A-Z]+(?:_[A-Z0-9]+)*$/);
  });

  it('has messages in lower case, without a full stop, with placeholders that are words', () => {
    for (const [code, { message }] of entries) {
      assert.match(message, /^(?:[a-z]|\{\w+\})/, code);
      assert.doesNotMatch(message, /[.!\s]$/, code);
      assert.doesNotMatch(message.replace(/\{\w+\}/g, 'x'), /[{}\n]| {2}/, code);
    }
  });

  it('has a status, a source and a type that go together', () => {
    for (const [code, { status, source, type, retryable }] of entries) {
      assert.ok(Number.isInteger(status) && status >= 400 && status < 600, code);
      assert.match(type, /^[a-z]+(?:_[a-z]+)*$/, code);
      // What the client did wrong stays wrong when it is sent again; only the network can time out below 500.
      if (source === 'client') assert.ok(status < 500 && !retryable, code);
      else assert.ok(status >= 500 || code === 'ATTEMPT_TIMEOUT', code);
      if (status === 401) assert.equal(type, 'authentication_error', code);
      if (status === 404) assert.equal(type, 'not_found_error', code);
      if (status === 503) assert.equal(type, 'overloaded_error', code);
      if (status === 400) assert.equal(type, 'invalid_request_error', code);
    }
  });

  it('has no two codes with one message', () => {
    // What is wrong with somebody's file says it all itself.
    const messages = entries.map(([, { message }]) => message).filter((message) => message !== '{reason}');
    assert.equal(new Set(messages).size, messages.length);
  });
});

describe('the calls of fail()', () => {
  it('fill every placeholder of their message and nothing else', () => {
    const faults = coreSources.flatMap(callFaults);
    assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);
  });

  /** The library answers 431 by itself; nothing is refused while the gateway drains. */
  const unused = ['HEADERS_TOO_LARGE', 'SHUTTING_DOWN'];

  it('use every code of the table but the ones known as unused', () => {
    const used = coreSources.filter(({ path }) => path !== 'core/errors/codes.ts').map(({ text }) => text).join('\n');
    assert.deepEqual(entries.map(([code]) => code).filter((code) => !used.includes(`'${code}'`)), unused);
  });

  it('are judged rightly', () => {
    const faultsOf = (text: string): string[] => callFaults(parseSource('core/x.ts', text));
    assert.deepEqual(faultsOf("fail('PATH_INVALID', { reason: 'x', param: 'path' }); fail('KEY_MISSING'); fail('BODY_INVALID', { ...place, reason: 'x' });"), []);
    assert.deepEqual(faultsOf("throw fail('PATH_INVALID');"), ['core/x.ts:1: PATH_INVALID needs reason']);
    assert.deepEqual(faultsOf("fail('HEADER_INVALID', { name: 'x' })"), ['core/x.ts:1: HEADER_INVALID needs reason']);
    assert.deepEqual(faultsOf("fail('KEY_MISSING', { key: 'x' })"), ['core/x.ts:1: KEY_MISSING has no place for key']);
    assert.deepEqual(faultsOf("fail('NO_SUCH_CODE')"), ['core/x.ts:1: NO_SUCH_CODE is not in the table']);
  });
});
