// Every operation of the control plane over HTTP, with bodies and queries made from its own schemas, and with those that nobody would send. Whatever comes: no
// answer is a 500, each has the shape that the operation says, and what its schemas refuse is refused.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import type { Operation } from '../../core/control-plane/define-resource.js';
import { resources } from '../../core/control-plane/resources/index.js';
import fc, { type Arbitrary } from '../support/fast-check.js';
import { checkReply, faultsOf } from '../support/reply-schema.js';
import { anyJson, oddTexts, valuesOf } from '../support/schema-values.js';
import type { ResourceCases, Target } from './control/cases.js';
import { startStage } from './control/stage.js';

/** GATEWAY_TEST_SEED looks elsewhere. */
const seed = Number(process.env.GATEWAY_TEST_SEED ?? 20_260_822);
const runs = Number(process.env.GATEWAY_TEST_RUNS ?? 10);
process.stdout.write(`# control-properties: seed ${seed}, ${runs} calls of each operation\n`);

const folder = new URL('./control/', import.meta.url);
const cases: readonly ResourceCases[] = await Promise.all(readdirSync(folder).filter((file) => file.endsWith('.cases.js')).map(async (file) => (await import(new URL(file, folder).href)).default));
const stage = await startStage([]);

interface Call {
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  /** Undefined: none is sent. */
  readonly body: string | undefined;
  /** By the operation's own schemas. */
  readonly isWrong: boolean;
}

const schemaOf = (schema: unknown): Readonly<Record<string, unknown>> => (schema === null ? { type: 'object', additionalProperties: false } : schema as Readonly<Record<string, unknown>>);
const oneOf = <T>(...kinds: readonly { readonly weight: number; readonly arbitrary: Arbitrary<T> }[]): Arbitrary<T> => fc.oneof(...kinds);
/** Of objects here. */
type Members = Readonly<Record<string, unknown>>;

/** The body that the case knows to be right, with few members by the schema in the places of its own; or all by the schema. */
const rightBodies = (operation: Operation, usual: Members): Arbitrary<Members> => {
  const made = valuesOf(schemaOf(operation.body)).map((value) => value as Members);
  const few = made.chain((members) => fc.subarray(Object.keys(members), { maxLength: Math.min(2, Object.keys(members).length) }).map((names) => ({ ...usual, ...Object.fromEntries(names.map((name) => [name, members[name]])) })));
  return oneOf({ weight: 5, arbitrary: few }, { weight: 1, arbitrary: made.map((members) => ({ ...members, ...usual })) }, { weight: 1, arbitrary: made });
};

const wrongBodies = (operation: Operation, usual: Members): Arbitrary<Members> => {
  const names = [...Object.keys(Object(schemaOf(operation.body).properties)), 'workspace_id', 'organisation_id', 'id', 'slug', 'no_such_field'];
  return fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 6 })), fc.oneof(anyJson, oddTexts), { minKeys: 1, maxKeys: 4, noNullPrototype: true }).map((odd) => ({ ...usual, ...odd }));
};

const oddBodies: Arbitrary<string> = fc.oneof(anyJson.map((value) => JSON.stringify(value)), fc.string({ maxLength: 30 }), fc.constantFrom('{', '[]', 'null', '{"a":1}{', `${'['.repeat(200)}${']'.repeat(200)}`, '{"__proto__":{}}', '{"workspace_id":{}}', '{"a":1,"a":2}'));

const queries = (operation: Operation, usual: string): Arbitrary<string> => {
  const properties = Object.entries(Object(schemaOf(operation.query).properties)) as [string, Readonly<Record<string, unknown>>][];
  const made = fc.tuple(...properties.map(([name, schema]) => fc.option(fc.oneof(valuesOf(schema).map(String), oddTexts), { nil: undefined }).map((value) => [name, value] as const)))
    .map((pairs) => new URLSearchParams(pairs.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]))).toString());
  const odd = fc.dictionary(fc.oneof(fc.constantFrom('workspace_id', 'organisation_id', 'page_size', 'current_page', 'x'), fc.string({ maxLength: 4 })), oddTexts, { maxKeys: 2, noNullPrototype: true })
    .map((members) => new URLSearchParams(members).toString());
  return oneOf({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 3, arbitrary: made }, { weight: 1, arbitrary: odd });
};

function callsOf(operation: Operation, { params = {}, query = '', body }: Target): Arbitrary<Call> {
  // One that was made is there when the next is to be made.
  const { slug: _slug, ...usual }: Members = body ?? {};
  const hasBody = operation.method !== 'GET';
  const isRefused = (value: Members): boolean => {
    const { workspace_id: _workspace, organisation_id: _organisation, ...members } = value;
    // What older clients send is brought to its name of today before.
    return Object.keys(members).every((name) => /^[a-z_]+$/.test(name) && !Object.hasOwn(params, name) && !['id', 'slug', 'type'].includes(name)) && faultsOf(schemaOf(operation.body), members).length > 0;
  };
  const bodies: Arbitrary<Pick<Call, 'body' | 'isWrong'>> = !hasBody ? fc.constant({ body: undefined, isWrong: false }) : oneOf(
    { weight: 5, arbitrary: rightBodies(operation, usual).map((value) => ({ body: JSON.stringify(value), isWrong: false })) },
    { weight: 4, arbitrary: wrongBodies(operation, usual).map((value) => ({ body: JSON.stringify(value), isWrong: isRefused(JSON.parse(JSON.stringify(value)) as Members) })) },
    { weight: 1, arbitrary: oddBodies.map((text) => ({ body: text, isWrong: false })) },
  );
  const names = Object.keys(params);
  const places = names.length === 0 ? fc.constant(params) : oneOf(
    { weight: 8, arbitrary: fc.constant(params) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...names), fc.oneof(oddTexts, fc.string({ maxLength: 12 })).filter((text) => !isDots.test(text))).map(([name, value]) => ({ ...params, [name]: value })) },
  );
  return fc.record({ place: places, query: queries(operation, query), sent: bodies }, { noNullPrototype: true }).map(({ place, query: text, sent }) => ({ params: place, query: text, ...sent }));
}

/** Clients take them for the way to another path. */
const isDots = /^\.{1,2}$/;

/** Half a pair of surrogates is nothing that a URL can hold. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

const pathOf = (operation: Operation, params: Call['params']): string =>
  `/v1${operation.path.replace(/\{([\w-]+)\}/g, (_, name: string) => encodeURIComponent(wellFormed(params[name] ?? 'x')))}`;

/** What an organisation enforces changes what everything else is answered. */
const ordered = [...resources].sort((left, right) => Number(left.name === 'organisation') - Number(right.name === 'organisation'));

const found: Record<string, { done: number; refused: number; wrong: number }> = {};

describe('calls that are made up', () => {
  for (const resource of ordered) {
    for (const [name, operation] of Object.entries(resource.operations)) {
      it(`of ${resource.name}.${name} are answered as it says`, async () => {
        const entry = cases.find((each) => each.resource === resource.name)?.operations[name] ?? assert.fail('no case');
        const key = stage.keys[entry.as ?? 'admin'];
        const target = await entry.target(stage);
        const told = { done: 0, refused: 0, wrong: 0 };
        found[`${resource.name}.${name}`] = told;
        // Else all of them would draw alike, and a seed of few wrong bodies would make few for all.
        const drawnFrom = seed + Object.keys(found).length;
        await fc.assert(fc.asyncProperty(callsOf(operation, target), async ({ params, query, body, isWrong }) => {
          const url = `${stage.url}${pathOf(operation, params)}${query === '' ? '' : `?${query}`}`;
          const response = await fetch(url, { method: operation.method, redirect: 'manual', headers: { 'x-gateway-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body }) });
          const text = await response.text();
          const { status } = response;
          assert.ok(status < 500, `${operation.method} ${url} ${body ?? ''}: ${status} ${text}`);
          assert.ok(!isWrong || status >= 400, `${operation.method} ${url} ${body ?? ''}: its schema refuses this, and it is answered with ${status}`);
          // A path that was changed may be another operation's, or none.
          const isOwn = params === target.params || status >= 400;
          if (isOwn) checkReply(operation, status, text === '' ? {} : JSON.parse(text), `${operation.method} ${url} ${body ?? ''}`);
          told[status < 400 ? 'done' : isWrong ? 'wrong' : 'refused'] += 1;
        }), { seed: drawnFrom, numRuns: runs, endOnFailure: true, includeErrorInReport: true });
      });
    }
  }

  after(() => {
    const sum = (what: 'done' | 'refused' | 'wrong'): number => Object.values(found).reduce((before, told) => before + told[what], 0);
    process.stdout.write(`# control-properties: ${sum('done')} calls done, ${sum('wrong')} refused that the schemas refuse, ${sum('refused')} for other reasons\n`);
    if (process.env.GATEWAY_TEST_RUNS !== undefined) for (const [name, told] of Object.entries(found)) process.stdout.write(`# ${name} ${JSON.stringify(told)}\n`);
    // Else they would look at nothing but refusals.
    assert.ok(sum('done') > 100 && sum('wrong') > 5);
  });
});
