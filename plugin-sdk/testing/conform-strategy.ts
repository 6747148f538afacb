import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParameterError } from '../src/errors.js';
import type { Exchange } from '../src/exchange.js';
import { deniedStatus, type Outcome, type Strategy, type StrategyPlugin, type Target } from '../src/kinds/strategy.js';
import type { Json } from '../src/shared.js';
import { fakeExchange, type FakeExchangeOptions } from './fake-exchange.js';
import { fakeHost, type FakeHostOptions } from './fake-host.js';
import { withDefaults } from './schema-defaults.js';
import { schemaFault } from './schema-fault.js';

/** What becomes of a call, target by target. */
export interface StrategyCase {
  /** Members of the config's `strategy` beside `mode`; defaults of the schema are filled in. */
  readonly params?: Readonly<Record<string, Json>>;
  /** Default: three healthy targets of weight 1, called a, b and c. */
  readonly targets?: readonly Partial<Target>[];
  readonly exchange?: FakeExchangeOptions;
  readonly host?: FakeHostOptions;
  /** Status of each target's answer, by name or index; `error` for none, `denied` for a hook's denial before the request. Default 200. */
  readonly answers?: Readonly<Record<string, number | 'error' | 'denied'>>;
  /** Milliseconds that each target takes, by name or index. Default 100. */
  readonly tookMs?: Readonly<Record<string, number>>;
  /** Names (or indexes, of targets without one) in the order in which they are tried. */
  readonly tries: readonly string[];
}

export interface StrategyCases {
  readonly cases: readonly StrategyCase[];
  /** Parameters that the schema, or else `create`, has to refuse, with the path it has to name. */
  readonly refuses?: readonly { readonly params: Readonly<Record<string, Json>>; readonly targets?: readonly Partial<Target>[]; readonly path: string }[];
}

/** An outcome of which nothing matters but what is given. */
export const fakeOutcome = (given: Pick<Outcome, 'target' | 'status'> & Partial<Outcome>): Outcome => ({ provider: 'provider', model: 'model', tookMs: 100, ...given });

/** A strategy that tries more often than this never ends. */
const triesMax = 100;

/** Registers the tests that every strategy has to pass, and its cases. */
export function conformStrategy(plugin: StrategyPlugin, { cases, refuses = [] }: StrategyCases): void {
  const make = async (given: Pick<StrategyCase, 'params' | 'targets' | 'host'>): Promise<Strategy> => {
    const params = withDefaults(plugin.params, given.params ?? {});
    assert.deepEqual(schemaFault(plugin.params, params), undefined, 'the schema refuses the parameters');
    return plugin.create(params, fakeHost(given.host), infosOf(targetsOf(given.targets)));
  };

  describe(`strategy plugin: ${plugin.title}`, () => {
    it('is defined with a title, a description and an object schema whose parameters are described', () => {
      assert.equal(plugin.kind, 'strategy');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
      assert.ok(cases.length > 0, 'there are no cases');
    });

    it('answers each time at once with an index or -1, and ends whatever the targets answer', async () => {
      for (const given of cases) {
        for (const status of [200, 400, 429, 500, 'error'] as const) {
          const strategy = await make(given);
          const answers = Object.fromEntries(targetsOf(given.targets).map((target, index) => [nameOf(target, index), status]));
          walk(strategy, { ...given, answers }, exchangeOf(given));
          await strategy.close?.();
        }
      }
    });

    it('names no other target after one was denied, unless its parameters list the status', async () => {
      for (const given of cases) {
        if (JSON.stringify(given.params ?? {}).includes(String(deniedStatus))) continue;
        const strategy = await make(given);
        const answers = Object.fromEntries(targetsOf(given.targets).map((target, index) => [nameOf(target, index), 'denied' as const]));
        const tries = walk(strategy, { ...given, answers }, exchangeOf(given));
        assert.ok(tries.length <= 1, `after ${tries[0]} was denied, ${tries[1]} is tried; next() must answer -1`);
        await strategy.close?.();
      }
    });

    it('takes a single target, and one whose breaker is open', async () => {
      for (const given of cases) {
        const targets = targetsOf(given.targets).map((target) => ({ ...target, healthy: false }));
        const strategy = await make({ ...given, targets });
        walk(strategy, { ...given, targets }, exchangeOf(given));
        await strategy.close?.();
      }
    });

    it('changes neither targets nor outcomes, and keeps calls apart', async () => {
      for (const given of cases) {
        const strategy = await make(given);
        // Two calls whose turns come in between one another.
        const walks = [new Walk(strategy, given, exchangeOf(given)), new Walk(strategy, given, exchangeOf(given))];
        for (let turn = 0; walks.some((each) => !each.isOver); turn += 1) walks[turn % 2]?.step();
        await strategy.close?.();
      }
    });

    it('may be closed twice', async () => {
      const strategy = await make(cases[0] ?? { tries: [] });
      await strategy.close?.();
      await strategy.close?.();
    });

    for (const given of cases) {
      it(`with ${JSON.stringify(given.params ?? {})} tries ${given.tries.join(', ') || 'nothing'} when targets answer ${JSON.stringify(given.answers ?? {})}`.slice(0, 200), async () => {
        const strategy = await make(given);
        assert.deepEqual(walk(strategy, given, exchangeOf(given)), given.tries);
        await strategy.close?.();
      });
    }

    for (const { params, targets, path } of refuses) {
      it(`refuses the parameters ${JSON.stringify(params)}`.slice(0, 200), async () => {
        const fault = schemaFault(plugin.params, withDefaults(plugin.params, params));
        if (fault !== undefined) {
          assert.equal(fault.path, path, fault.reason);
          return;
        }
        await assert.rejects(async () => make({ params, ...(targets === undefined ? {} : { targets }) }), (thrown: unknown) => {
          assert.ok(thrown instanceof ParameterError, `throw a ParameterError, not ${String(thrown)}`);
          assert.equal(thrown.path, path);
          return true;
        });
      });
    }
  });
}

const targetsOf = (given: readonly Partial<Target>[] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]): Target[] => given.map((target) => ({ name: '', weight: 1, healthy: true, ...target }));
const infosOf = (targets: readonly Target[]): readonly Omit<Target, 'healthy'>[] => Object.freeze(targets.map(({ name, weight }) => Object.freeze({ name, weight })));
const nameOf = (target: Target, index: number): string => (target.name === '' ? String(index) : target.name);
const exchangeOf = (given: StrategyCase): Exchange => fakeExchange(given.exchange ?? {});

function walk(strategy: Strategy, given: StrategyCase, exchange: Exchange): string[] {
  const walking = new Walk(strategy, given, exchange);
  while (!walking.isOver) walking.step();
  return walking.tries;
}

/** One call, as the host runs it: asks, tries, asks again. */
class Walk {
  readonly tries: string[] = [];
  isOver = false;
  readonly #targets: readonly Target[];
  #outcomes: readonly Outcome[] = Object.freeze([]);

  constructor(readonly strategy: Strategy, readonly given: StrategyCase, readonly exchange: Exchange) {
    this.#targets = Object.freeze(targetsOf(given.targets).map((target) => Object.freeze(target)));
  }

  step(): void {
    if (this.isOver) return;
    const index: unknown = this.strategy.next(this.exchange, this.#targets, this.#outcomes);
    assert.ok(typeof index === 'number' && Number.isInteger(index), `next() must answer at once with an index or -1, not ${String(index)}`);
    if (index === -1) {
      this.isOver = true;
      return;
    }
    const target = this.#targets[index];
    assert.ok(target !== undefined, `next() answered ${index}, and there are ${this.#targets.length} targets`);
    const name = nameOf(target, index);
    this.tries.push(name);
    assert.ok(this.tries.length <= triesMax, 'it never ends: next() must answer -1 at some time');
    const status = this.given.answers?.[name] ?? 200;
    const failure = status === 'denied' ? { status: deniedStatus, error: new Error('denied by a hook') } : status === 'error' ? { status: 502, error: new Error('connection refused') } : { status };
    const outcome = fakeOutcome({ target: index, provider: name, tookMs: this.given.tookMs?.[name] ?? 100, ...failure });
    this.#outcomes = Object.freeze([...this.#outcomes, Object.freeze(outcome)]);
  }
}
