import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyEdits } from '../src/content/pieces.js';
import type { Check, GuardrailPlugin, Verdict } from '../src/kinds/guardrail.js';
import type { ObjectSchema } from '../src/schema.js';
import type { Json } from '../src/shared.js';
import { bodyWithText, fakeCheckInput, type FakeCheckInputOptions } from './check-input.js';
import { fakeExchange } from './fake-exchange.js';
import { fakeHost, type FakeHostOptions } from './fake-host.js';
import { quoteIn, toldBy } from './quotes.js';
import { runStreamCheck } from './run-stream-check.js';
import { withDefaults } from './schema-defaults.js';
import { schemaFault, type SchemaFault } from './schema-fault.js';

export interface GuardrailCase extends FakeCheckInputOptions {
  /** Parameters of the config; defaults of the schema are filled in. */
  readonly params?: Readonly<Record<string, Json>>;
  /** A request, or with `stage: 'output'` an answer, of this one text, tried in all three dialects; in place of `body` and `answer`. */
  readonly text?: string;
  readonly host?: FakeHostOptions;
}

export interface GuardrailCases {
  readonly passes: readonly GuardrailCase[];
  readonly fails: readonly GuardrailCase[];
  /** Calls that the check cannot judge: `evaluate` has to throw, with a message that matches. */
  readonly errors?: readonly (GuardrailCase & { readonly message: RegExp })[];
  /** Bodies that the check changes: `changed` is the text, or the body, that comes out of it. */
  readonly changes?: readonly (GuardrailCase & { readonly changed: Json })[];
  /** Parameters that the schema, or else `create`, has to refuse. */
  readonly refuses?: readonly (Readonly<Record<string, Json>>)[];
  /** Streamed answers of one text, cut in every place: `streamed` is what the client gets, or nothing when the check ends the stream. */
  readonly streams?: readonly { readonly params?: Readonly<Record<string, Json>>; readonly text: string; readonly streamed: string | undefined }[];
}

/** The host takes them away before `create`, unless the schema has them. */
const hostParams = ['failOnError', 'timeout', 'is_enabled'] as const;
const dialects = ['chatCompletions', 'messages', 'responses'] as const;

/** Registers the tests that every guardrail has to pass, and its cases. */
export function conformGuardrail(plugin: GuardrailPlugin, cases: GuardrailCases): void {
  const paramsOf = (given: Readonly<Record<string, Json>> = {}): { readonly params: Record<string, unknown>; readonly fault: SchemaFault | undefined } => {
    const params = withDefaults(plugin.params, given);
    for (const name of hostParams) if (!Object.hasOwn(plugin.params.properties, name)) delete params[name];
    return { params, fault: schemaFault(plugin.params, params) };
  };
  const make = async (given: Pick<GuardrailCase, 'params' | 'host'>): Promise<Check> => {
    const { params, fault } = paramsOf(given.params);
    assert.equal(fault, undefined, `the schema refuses the parameters: ${fault?.path ?? ''} ${fault?.reason ?? ''}`);
    return plugin.create(params, fakeHost(given.host));
  };

  const variants = (given: GuardrailCase): FakeCheckInputOptions[] => {
    const { text } = given;
    if (text === undefined) return [given];
    return dialects.map((endpoint) => (given.stage === 'output'
      ? { ...given, endpoint, answer: bodyWithText(endpoint, text, 'output') }
      : { ...given, endpoint, body: bodyWithText(endpoint, text) }));
  };

  const judge = async (given: GuardrailCase, look: (verdict: Verdict, options: FakeCheckInputOptions) => void): Promise<void> => {
    for (const options of variants(given)) {
      const check = await make(given);
      const input = fakeCheckInput({ ...options, body: deepFreeze(options.body ?? {}), ...(options.answer === undefined ? {} : { answer: deepFreeze(options.answer) }) });
      const verdict = await check.evaluate(input);
      assert.equal(typeof verdict.pass, 'boolean');
      // What leaves the check may cross to another thread, and goes into JSON.
      assert.deepEqual(structuredClone(verdict), verdict);
      look(verdict, options);
      await check.close?.();
      await check.close?.();
    }
  };

  const name = (given: GuardrailCase): string => `${JSON.stringify(given.params ?? {})} on ${JSON.stringify(given.text ?? given.answer ?? given.body ?? given.metadata ?? {})}`.slice(0, 160);

  describe(`guardrail plugin: ${plugin.title}`, () => {
    it('is defined with a title, a description, an object schema, stages and needs', () => {
      assert.equal(plugin.kind, 'guardrail');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
      assert.ok(plugin.stages.length > 0);
      const params: ObjectSchema = plugin.params;
      for (const [param, schema] of Object.entries(params.properties)) assert.ok((schema.description ?? '').length > 0, `parameter ${param} has no description`);
    });

    it('has a stream exactly when it says so', async () => {
      const [first] = [...cases.passes, ...cases.fails];
      assert.ok(first !== undefined, 'there are no cases');
      const check = await make(first);
      if (plugin.needs.response === 'events') assert.ok(plugin.lookBackMax !== undefined && plugin.lookBackMax >= 0, 'lookBackMax is missing');
      else assert.equal(check.stream, undefined, 'needs.response must be events when there is a stream');
      await check.close?.();
    });

    for (const given of cases.passes) it(`passes ${name(given)}`, () => judge(given, (verdict) => assert.equal(verdict.pass, true, verdict.why)));

    for (const given of cases.fails) {
      it(`fails ${name(given)}`, () => judge(given, (verdict) => {
        assert.equal(verdict.pass, false);
        assert.ok(verdict.why !== undefined && verdict.why.length > 0, 'a failed verdict says why');
      }));
    }

    for (const given of cases.errors ?? []) {
      it(`cannot judge ${name(given)}`, async () => {
        for (const options of variants(given)) {
          const check = await make(given);
          await assert.rejects(async () => check.evaluate(fakeCheckInput(options)), given.message);
        }
      });
    }

    for (const given of cases.changes ?? []) {
      it(`changes ${name(given)}`, () => judge(given, (verdict, options) => {
        assert.ok(plugin.needs.changes !== undefined, 'needs.changes is missing');
        const input = fakeCheckInput(options);
        const changed = verdict.body ?? applyEdits(input.json(), input.pieces(), verdict.edits ?? []);
        const expected = given.text !== undefined && typeof given.changed === 'string'
          ? bodyWithText(options.endpoint as 'chatCompletions', given.changed, input.stage)
          : given.changed;
        assert.deepEqual(changed, expected);
      }));
    }

    for (const params of cases.refuses ?? []) {
      it(`refuses the parameters ${JSON.stringify(params)}`, async () => {
        const given = paramsOf(params);
        if (given.fault === undefined) await assert.rejects(async () => plugin.create(given.params, fakeHost()), 'neither the schema nor create() refuses them');
      });
    }

    it('says where and how much, and nothing of the answer that it judged', async () => {
      if (!plugin.stages.includes('output')) return;
      for (const given of [...cases.passes, ...cases.fails, ...(cases.changes ?? []), ...marked(cases)]) {
        if (given.text === undefined && given.answer === undefined) continue;
        const check = await make(given);
        const own = [JSON.stringify(plugin.params), ...toldBy({ pass: true, data: given.params ?? {} })];
        for (const neutral of ['', 'Q']) {
          const input = fakeCheckInput({ ...given, stage: 'output', answer: bodyWithText('chatCompletions', neutral, 'output') });
          // What it cannot judge it says nothing of.
          own.push(...await Promise.resolve().then(() => check.evaluate(input)).then(toldBy, () => []));
        }
        for (const options of variants({ ...given, stage: 'output' })) {
          const input = fakeCheckInput(options);
          const verdicts: Verdict[] = [await check.evaluate(input)];
          if (given.text !== undefined && check.stream !== undefined) verdicts.push(runStreamCheck(check, [given.text], { lookBackMax: plugin.lookBackMax ?? 0 }).verdict);
          for (const verdict of verdicts) {
            const quoted = quoteIn(toldBy(verdict), input.text(), own);
            assert.equal(quoted, undefined, `${name(given)}: what was judged may be withheld, so the result must not quote it; tell places, counts and names from the config`);
          }
        }
        await check.close?.();
      }
    });

    for (const { params = {}, text, streamed } of cases.streams ?? []) {
      it(`judges the same stream alike however it is cut: ${JSON.stringify(text).slice(0, 100)}`, async () => {
        const check = await make({ params });
        const lookBackMax = plugin.lookBackMax ?? 0;
        const exchange = fakeExchange();
        for (const texts of cuts(text)) {
          const run = runStreamCheck(check, texts, { exchange, lookBackMax });
          if (streamed === undefined) assert.equal(run.verdict.pass, false, `passes when cut as ${JSON.stringify(texts)}`);
          else assert.equal(run.text, streamed, `cut as ${JSON.stringify(texts)}`);
        }
        await check.close?.();
      });
    }
  });
}

/** Words that no check knows, in every form that one may look for: with the parameters of a case that is judged without them. */
function marked({ passes, fails }: GuardrailCases): GuardrailCase[] {
  const word = 'Zyxquark';
  const texts = [`${word} ${word}wort.`, `{"${word}Name":"${word}","list":["${word}wort"]}`, `\`\`\`${word}\n${word}()\n\`\`\``, `https://${word}.example/${word}?q=${word}`, `${word}@${word}.example`];
  return [...passes, ...fails].filter(({ text }) => text !== undefined).flatMap((given) => texts.map((text) => ({ ...given, text: `${given.text ?? ''} ${text}` })));
}

/** Whole, in two at every place, and character by character. */
function cuts(text: string): string[][] {
  const all = [[text]];
  for (let at = 1; at < text.length; at += 1) all.push([text.slice(0, at), text.slice(at)]);
  all.push(Array.from({ length: text.length }, (_, index) => text.charAt(index)));
  return all;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
