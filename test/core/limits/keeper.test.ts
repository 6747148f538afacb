import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Store, Write } from '@gateway/plugin-sdk';
import { Counters } from '../../../core/limits/counters.js';
import { MemoryStore } from '../../../plugins/storage/memory/memory-store.js';
import { charge, collected, ownerOf, settle, spendKit, turn, type SpendKit } from './spend-kit.js';

const a = 'key/a/cost';
const w = 'workspace/w/cost';

const amountOf = async (kit: SpendKit, key: string): Promise<number> => {
  const ledger = kit.ledger();
  const counter = await ledger.counter(key);
  return counter === undefined ? 0 : (await ledger.sum(key, counter.period)).amount;
};

describe('the keeper of the ledger', () => {
  test('puts in what calls settle, each once, and leaves no file behind', async () => {
    const kit = spendKit();
    const journal = kit.journal('p1', { fileBytesMax: 400 });
    const keeper = kit.keeper('p1');
    for (let call = 0; call < 30; call += 1) {
      const charges = [charge(kit, a, 10), charge(kit, w, 10)];
      journal.open(`call-${call}`, charges);
      if (call % 3 === 0) await turn();
      if (call % 5 === 0) await keeper.look();
      settle(kit, journal, `call-${call}`, charges, call);
    }
    await turn();
    await keeper.look();
    journal.close();
    await keeper.stop();
    assert.deepEqual(kit.faults, []);
    assert.deepEqual([await amountOf(kit, a), await amountOf(kit, w)], [435, 435]);
    assert.equal(kit.counters.usage(a)?.count, 435);
    assert.deepEqual(readdirSync(kit.folder), []);
    const calls = await collected(kit.ledger().calls());
    const inOrder = calls.sort((left, right) => Number(left.id.slice(5)) - Number(right.id.slice(5)));
    assert.deepEqual(inOrder.map(({ id, charges }) => [id, charges.map(({ key, amount }) => [key, amount])]), Array.from({ length: 30 }, (_, call) => [`call-${call}`, [[a, call], [w, call]]]));
    assert.ok(calls.every(({ isEstimated }) => !isEstimated));
    assert.deepEqual([await collected(kit.ledger().openCalls(null)), await kit.ledger().positions()], [[], []]);
  });

  test('calls of a process that died count as reserved, at once, and are settled so, marked', async () => {
    const kit = spendKit();
    const journal = kit.journal('dead');
    const settled = [charge(kit, a, 10)];
    const cut = [charge(kit, a, 30)];
    journal.open('whole', settled);
    journal.open('cut', cut);
    settle(kit, journal, 'whole', settled, 7);
    await turn();
    // A frame that the kill tore, and a new process with empty memory.
    const [name = ''] = readdirSync(kit.folder);
    journal.open('torn', [charge(kit, a, 1_000)]);
    await turn();
    truncateSync(join(kit.folder, name), readFileSync(join(kit.folder, name)).length - 3);
    kit.counters = new Counters(Counters.allocate(1_024));
    await kit.keeper('new').recover();
    assert.equal(kit.counters.usage(a)?.count, 37, 'before any call is taken');
    assert.equal(await amountOf(kit, a), 7);
    const keeper = kit.keeper('new');
    await keeper.look();
    assert.deepEqual([await amountOf(kit, a), kit.counters.usage(a)?.count], [37, 37]);
    const { charges: _, ...cutCall } = (await collected(kit.ledger().calls())).find(({ id }) => id === 'cut') ?? assert.fail();
    assert.equal(cutCall.isEstimated, true);
    await keeper.look();
    await kit.keeper('next').recover();
    assert.equal(kit.counters.usage(a)?.count, 37, 'nothing twice');
    await keeper.stop();
  });

  test('a call of a dead process is settled at what the log says, where it says anything', async () => {
    const kit = spendKit();
    const journal = kit.journal('dead');
    journal.open('known', [charge(kit, a, 30)]);
    journal.open('unknown', [charge(kit, a, 5)]);
    await turn();
    const keeper = kit.keeper('new', { recorded: async ({ id }) => (id === 'known' ? () => 12 : undefined) });
    await keeper.recover();
    assert.equal(kit.counters.usage(a)?.count, 35);
    await keeper.look();
    assert.deepEqual([await amountOf(kit, a), kit.counters.usage(a)?.count], [17, 17]);
    assert.deepEqual((await collected(kit.ledger().calls())).map(({ id, isEstimated }) => [id, isEstimated]).sort(), [['known', false], ['unknown', true]]);
    await keeper.stop();
  });

  test('what an owner that is gone has used goes with the last row that tells of it, unless a call is open on it', async () => {
    const kit = spendKit();
    const [b, c] = ['key/b/cost', 'key/b/cost/0000000001'];
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    for (const key of [a, b, c, w]) {
      const charges = [charge(kit, key, 10)];
      journal.open(`of ${key}`, charges);
      settle(kit, journal, `of ${key}`, charges, 7);
    }
    journal.open('long', [charge(kit, w, 30)]);
    await turn();
    await keeper.look();
    // Two periods of one that stays.
    await keeper.reset(a, kit.nowMs);
    for (const gone of [b, c, w]) kit.gone.add(gone);
    const sums = async (): Promise<unknown[]> => (await collected(kit.ledger().sums())).map(({ key, period }) => `${key} ${period}`);
    kit.nowMs += 39 * 86_400_000;
    await keeper.look();
    assert.deepEqual(await sums(), [`${a} 0`, `${b} 0`, `${c} 0`, `${w} 0`], 'as long as rows tell of them');
    kit.nowMs += 2 * 86_400_000;
    await keeper.look();
    assert.deepEqual([await sums(), (await collected(kit.ledger().counters())).map(({ key }) => key)], [[`${w} 0`], [a, w]]);
    assert.deepEqual([kit.counters.usage(b), kit.counters.usage(w)?.count, kit.counters.usage(a)?.count], [undefined, 37, undefined]);
    // The one whose call is open is settled in its sum, and leaves with that row.
    settle(kit, journal, 'long', [{ ...charge(kit, w, 0), reserved: 30 }], 20);
    await turn();
    await keeper.look();
    assert.equal(await amountOf(kit, w), 27);
    kit.nowMs += 41 * 86_400_000;
    await keeper.look();
    assert.deepEqual([await sums(), (await collected(kit.ledger().counters())).map(({ key }) => key), kit.faults], [[], [a], []]);
    journal.close();
    await keeper.stop();
  });

  test('memory of what nobody has used in its period is given back, and whoever comes again counts in a period of its own', async () => {
    const kit = spendKit();
    const policy = 'policy/p/metadata.user:ann';
    for (const key of [a, w, policy]) kit.owners.set(key, ownerOf(key, { rule: { periodic_reset: 'weekly' } }));
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    const call = (key: string, id: string, used: number): void => {
      const charges = [charge(kit, key, 10)];
      journal.open(id, charges);
      settle(kit, journal, id, charges, used);
    };
    for (const key of [a, w, policy]) call(key, `first of ${key}`, 7);
    const open = [charge(kit, w, 30)];
    journal.open('open', open);
    await turn();
    await keeper.look();
    kit.nowMs += 61_000;
    await keeper.look();
    assert.equal(kit.counters.live, 3, 'what is used in its period stays');
    // The next week: nothing is used of them, and one of them has a call open.
    kit.nowMs += 7 * 86_400_000;
    await keeper.look();
    kit.alive.add('another');
    kit.nowMs += 61_000;
    await keeper.look();
    assert.equal(kit.counters.live, 3, 'beside another process nothing is given back');
    kit.alive.clear();
    kit.nowMs += 61_000;
    await keeper.look();
    assert.deepEqual([a, w, policy].map((key) => kit.counters.find(key) >= 0), [false, true, false]);

    call(a, 'again', 5);
    settle(kit, journal, 'open', open, 20);
    await turn();
    await keeper.look();
    assert.deepEqual([kit.counters.usage(a), await amountOf(kit, a), keeper.periodOf(a)?.startMs], [{ period: 0, count: 5 }, 5, Date.parse('2026-04-05T00:00:00Z')]);
    assert.deepEqual((await collected(kit.ledger().sums())).map(({ key, period, amount }) => [key, period, amount]), [[a, 0, 7], [a, 4_096, 5], [policy, 0, 7], [w, 0, 27]]);
    // Another process finds it as it was, and one that was given back nowhere.
    kit.counters = new Counters(Counters.allocate(1_024));
    kit.alive.add('p');
    await kit.keeper('q').recover();
    kit.alive.clear();
    assert.deepEqual([kit.counters.usage(a), kit.counters.find(policy)], [{ period: 0, count: 5 }, -1]);
    assert.deepEqual(kit.faults, []);
    journal.close();
    keeper.abandon();
  });

  describe('at a start with a smaller table', () => {
    const key = (number: number): string => `key/${number}/cost`;
    const used = async (kit: SpendKit, count: number, unusedCount = 0): Promise<void> => {
      const row = (number: number, amount: number) => ({ key: key(number), counted: 'cost' as const, period: 3, startMs: 0, told: 0, amount, calls: 1, estimated: 0 });
      await kit.ledger().takeOver(Array.from({ length: count + unusedCount }, (_, number) => row(number, number < unusedCount ? 0 : 900)));
      kit.counters = new Counters(Counters.allocate(1_024));
    };

    test('budgets that do not fit refuse it, and say what number is needed', async () => {
      const kit = spendKit();
      await used(kit, 1_100);
      await assert.rejects(kit.keeper('p').recover(), {
        code: 'SETTINGS_INVALID', message: '1100 budgets have been used in their periods, and GATEWAY_LIMIT_COUNTERS leaves room for 880 counters; set it to 2048 at least',
      });
      kit.counters = new Counters(Counters.allocate(2_048));
      await kit.keeper('p').recover();
      for (let number = 0; number < 1_100; number += 1) assert.equal(kit.counters.usage(key(number))?.count, 900);
      assert.deepEqual(kit.faults, []);
    });

    test('those of which nothing is used take no room from others, and begin anew', async () => {
      const kit = spendKit();
      await used(kit, 800, 800);
      await kit.keeper('p').recover();
      for (let number = 800; number < 1_600; number += 1) assert.equal(kit.counters.usage(key(number))?.count, 900);
      const ledger = kit.ledger();
      for (let number = 0; number < 800; number += 1) {
        const isPlaced = kit.counters.find(key(number)) >= 0;
        assert.equal((await ledger.counter(key(number)))?.isGivenBack ?? false, !isPlaced);
      }
      assert.deepEqual(kit.faults, []);
    });

    test('one that finds no place by chance is refused until it has one, and then goes on where it was', async () => {
      const kit = spendKit();
      await used(kit, 20);
      // Its places, and all others, are taken by counters of the present period.
      const others = Array.from({ length: 1_024 }, (_, number) => `workspace/${number}/cost`).filter((other) => kit.counters.setUsage(other, 0, 1) >= 0);
      await kit.keeper('p').recover();
      const unplaced = Array.from({ length: 20 }, (_, number) => key(number)).filter((each) => kit.counters.find(each) < 0);
      assert.ok(unplaced.length > 0);
      assert.match(kit.faults.join(), new RegExp(`${unplaced.length} have no place; calls that count in them are refused`));
      const keeper = kit.keeper('p');
      await keeper.look();
      for (const each of unplaced) assert.ok(kit.counters.slot(each, 'usage') < 0);

      // Those of whoever is gone leave.
      const ledger = kit.ledger();
      await ledger.takeOver(others.map((other) => ({ key: other, counted: 'cost', period: 0, startMs: 0, told: 0, amount: 0, calls: 0, estimated: 0 })));
      for (const other of others) kit.gone.add(other);
      for (let minute = 0; minute < 4; minute += 1) {
        kit.nowMs += 61_000;
        await keeper.look();
      }
      for (const each of unplaced) assert.deepEqual(kit.counters.usage(each), { period: 3, count: 900 });
      keeper.abandon();
    });
  });

  test('a counter that is used while it is given back goes on where it was', async () => {
    const kit = spendKit();
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    kit.owners.set(a, ownerOf(a, { rule: { periodic_reset: 'weekly' } }));
    const [first] = [[charge(kit, a, 10)]];
    journal.open('first', first);
    settle(kit, journal, 'first', first, 7);
    await turn();
    await keeper.look();
    kit.nowMs += 7 * 86_400_000;
    await keeper.look();
    // The row says so, and then the process has died, or the call came first.
    assert.deepEqual(await kit.ledger().giveBack([{ key: a, period: 1 }]), [a]);
    const second = [charge(kit, a, 10)];
    assert.equal(second[0]?.period, 1);
    assert.equal(kit.counters.dropUnused(a), false);
    journal.open('second', second);
    settle(kit, journal, 'second', second, 3);
    await turn();
    kit.nowMs += 61_000;
    await keeper.look();
    assert.deepEqual([kit.counters.usage(a), await amountOf(kit, a), (await kit.ledger().counter(a))?.isGivenBack], [{ period: 1, count: 3 }, 3, undefined]);
    journal.close();
    await keeper.stop();
    assert.deepEqual(kit.faults, []);
  });

  for (const isApart of [true, false]) {
    test(`a call that used nothing while its counter was given back does not part memory and ledger, ${isApart ? 'before another' : 'together with another'}`, async () => {
      const kit = spendKit();
      const journal = kit.journal('p');
      kit.owners.set(a, ownerOf(a, { rule: { periodic_reset: 'weekly' } }));
      let meanwhile = (): Promise<void> => Promise.resolve();
      const ledger = kit.ledger();
      const openCounters = ledger.openCounters.bind(ledger);
      // Behind the last look into the journal.
      ledger.openCounters = async () => {
        const open = await openCounters();
        await meanwhile();
        return open;
      };
      const keeper = kit.keeper('p', { ledger });
      const call = async (id: string, used: number): Promise<void> => {
        const charges = [charge(kit, a, 10)];
        journal.open(id, charges);
        settle(kit, journal, id, charges, used);
        await turn();
      };
      await call('first', 7);
      await keeper.look();
      kit.nowMs += 7 * 86_400_000;
      await keeper.look();
      meanwhile = () => call('failed', 0);
      kit.nowMs += 61_000;
      await keeper.look();
      meanwhile = () => Promise.resolve();
      assert.equal(kit.counters.find(a), -1, 'given back');
      if (isApart) await keeper.look();
      await call('second', 600);
      await keeper.look();
      assert.deepEqual([kit.counters.usage(a)?.count, await amountOf(kit, a), kit.alerts.map(({ kind, used }) => [kind, used])], [600, 600, [['threshold', 600]]]);
      kit.counters = new Counters(Counters.allocate(1_024));
      await kit.keeper('q').recover();
      assert.equal(kit.counters.usage(a)?.count, 600);
      assert.deepEqual(kit.faults, []);
      journal.close();
      keeper.abandon();
    });
  }

  test('a call that was open on a counter whose process died giving it back counts', async () => {
    const kit = spendKit();
    const journal = kit.journal('dead');
    kit.owners.set(a, ownerOf(a, { rule: { periodic_reset: 'weekly' } }));
    const keeper = kit.keeper('dead');
    const first = [charge(kit, a, 10)];
    journal.open('first', first);
    settle(kit, journal, 'first', first, 7);
    await turn();
    await keeper.look();
    kit.nowMs += 7 * 86_400_000;
    await keeper.look();
    assert.deepEqual(await kit.ledger().giveBack([{ key: a, period: 1 }]), [a]);
    journal.open('cut', [charge(kit, a, 30)]);
    await turn();
    keeper.abandon();
    kit.counters = new Counters(Counters.allocate(1_024));
    const next = kit.keeper('next');
    await next.recover();
    assert.deepEqual(kit.counters.usage(a), { period: 1, count: 30 });
    await next.look();
    assert.deepEqual([await amountOf(kit, a), kit.counters.usage(a)?.count, kit.faults], [30, 30, []]);
    await next.stop();
  });

  test('whatever calls, weeks, crashes and counters that are given back follow each other, nothing is lost, counted twice or in another week', async () => {
    const weekMs = 7 * 86_400_000;
    const keys = [a, w, 'policy/p/metadata.user:ann'];
    for (let seed = 1; seed <= 25; seed += 1) {
      let state = seed * 7_919;
      const random = (below: number): number => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
        return Math.floor((state / 0x8000_0000) * below);
      };
      const kit = spendKit();
      for (const key of keys) kit.owners.set(key, ownerOf(key, { rule: { periodic_reset: 'weekly' }, threshold: -1, maximum: Infinity }));
      const used = new Map<string, number>();
      const weekOf = (): number => Math.floor((kit.nowMs + 4 * 86_400_000) / weekMs);
      const use = (key: string, week: number, amount: number): void => { used.set(`${key} ${week}`, (used.get(`${key} ${week}`) ?? 0) + amount); };
      const startMs = kit.nowMs;
      let life = 0;
      let journal = kit.journal(`p${life}`);
      let keeper = kit.keeper(`p${life}`);
      let open: { readonly id: string; readonly week: number; readonly charges: ReturnType<typeof charge>[] }[] = [];
      let calls = 0;
      const look = async (): Promise<void> => {
        await turn();
        await keeper.look();
      };
      const endOne = (): void => {
        const [call] = open.splice(random(open.length), 1);
        if (call === undefined) return;
        const amount = random(40);
        settle(kit, journal, call.id, call.charges, amount);
        for (const { counter } of call.charges) use(counter, call.week, amount);
      };
      for (let step = 0; step < 50; step += 1) {
        switch (random(6)) {
          case 0: case 1: {
            const charges = keys.filter(() => random(2) === 0).map((key) => charge(kit, key, 10 + random(20)));
            calls += 1;
            if (charges.length === 0) break;
            journal.open(`call-${calls}`, charges);
            open.push({ id: `call-${calls}`, week: weekOf(), charges });
            if (random(3) > 0) endOne();
            break;
          }
          case 2: endOne(); break;
          case 3: {
            await look();
            // Sums of long ago are removed.
            kit.nowMs += random(3) === 0 && kit.nowMs < startMs + 3 * weekMs ? random(2 * weekMs) : 61_000;
            await look();
            break;
          }
          case 4: await look(); break;
          default: {
            if (random(3) > 0) break;
            await turn();
            keeper.abandon();
            // What was reserved is what is known of it.
            for (const { week, charges } of open) for (const { counter, reserved } of charges) use(counter, week, reserved);
            open = [];
            life += 1;
            kit.counters = new Counters(Counters.allocate(1_024));
            await kit.keeper(`p${life}`).recover();
            journal = kit.journal(`p${life}`);
            keeper = kit.keeper(`p${life}`);
            await look();
          }
        }
      }
      while (open.length > 0) endOne();
      for (let each = 0; each < 3; each += 1) {
        kit.nowMs += 61_000;
        await look();
      }
      const total = [...used.values()].reduce((sum, amount) => sum + amount, 0);
      const sums = await collected(kit.ledger().sums());
      assert.equal(sums.reduce((sum, { amount }) => sum + amount, 0), total, `seed ${seed}`);
      for (const key of keys) {
        const now = used.get(`${key} ${weekOf()}`) ?? 0;
        assert.deepEqual([kit.counters.usage(key)?.count ?? 0, await amountOf(kit, key)], [now, now], `seed ${seed}, ${key}`);
      }
      assert.deepEqual(kit.faults, [], `seed ${seed}`);
      journal.close();
      await keeper.stop();
    }
  });

  test('counters of a token without a user are given back when it has expired', async () => {
    const kit = spendKit();
    const id = '0123456789abcdef0123456789abcdef';
    const seconds = Math.floor(kit.nowMs / 1000) + 600;
    const [token, user] = [`token/jwt:${id}@${seconds}/cost`, 'token/jwt:0123456789abcdef:ann/cost'];
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    for (const key of [token, user]) {
      const charges = [charge(kit, key, 10)];
      journal.open(key, charges);
      settle(kit, journal, key, charges, 7);
    }
    await turn();
    await keeper.look();
    kit.nowMs += 600_000 + 1_000;
    await keeper.look();
    assert.equal(kit.counters.usage(token)?.count, 7, 'its last call may still be under way');
    kit.nowMs += 3_600_000;
    await keeper.look();
    assert.deepEqual([kit.counters.find(token), kit.counters.usage(user)?.count], [-1, 7]);
    journal.close();
    await keeper.stop();
    assert.deepEqual(kit.faults, []);
  });

  test('another process that lives is left alone', async () => {
    const kit = spendKit();
    kit.alive.add('other');
    const journal = kit.journal('other');
    journal.open('call', [charge(kit, a, 30)]);
    await turn();
    const keeper = kit.keeper('own');
    await keeper.recover();
    await keeper.stop();
    assert.equal(await amountOf(kit, a), 0);
    assert.equal(readdirSync(kit.folder).length, 1);
    journal.close();
  });

  test('what another process had open when it died is added here, not taken away', async () => {
    const kit = spendKit();
    kit.alive.add('other');
    // Of another memory.
    const theirs = (reserved: number, used = 0) => [{ counter: a, counted: 'cost' as const, period: 0, reserved, used }];
    const other = kit.journal('other');
    other.open('before', theirs(100));
    await turn();
    await kit.keeper('other').look();
    const recorded: NonNullable<Parameters<SpendKit['keeper']>[1]>['recorded'] = async (call) => (call.id === 'unknown' ? undefined : () => 10);
    await kit.keeper('own', { recorded }).recover();
    const keeper = kit.keeper('own', { recorded });
    const journal = kit.journal('own');
    const charges = [charge(kit, a, 500)];
    journal.open('mine', charges);
    settle(kit, journal, 'mine', charges, 500);
    await turn();
    await keeper.look();
    assert.equal(kit.counters.usage(a)?.count, 600, 'what was reserved at the start is counted');
    other.open('in the ledger', theirs(400));
    await turn();
    await kit.keeper('other').look();
    other.open('in a file', theirs(300));
    other.open('settled', theirs(200));
    other.settle('settled', theirs(200, 20), false);
    other.open('unknown', theirs(70));
    await turn();
    kit.alive.clear();
    kit.nowMs += 61_000;
    await keeper.look();
    assert.deepEqual([kit.counters.usage(a)?.count, await amountOf(kit, a)], [620, 620], '500 here; 10, 10, 10, 20 and 70 there');
    assert.deepEqual(kit.faults, []);
    journal.close();
    await keeper.stop();
  });

  test('whenever the keeper dies, the next one puts in what is missing, and nothing twice', async () => {
    /** Every step of a keeper: each read and write of the store, before and after, and each change of a counter. */
    class Mortal implements Store {
      steps = 0;
      constructor(readonly store: MemoryStore, public diesAt: number) {}
      step(): void {
        this.steps += 1;
        if (this.steps === this.diesAt) throw new Error('died');
        if (this.steps > this.diesAt) throw new Error('is dead');
      }
      get(key: string) {
        this.step();
        return this.store.get(key);
      }
      range(options: Parameters<Store['range']>[0]) {
        this.step();
        return this.store.range(options);
      }
      async write(batch: readonly Write[]): Promise<boolean> {
        this.step();
        const isWritten = await this.store.write(batch);
        this.step();
        return isWritten;
      }
      revision() { return this.store.revision(); }
    }
    let steps = 1;
    for (let diesAt = 1; diesAt <= steps; diesAt += 1) {
      const kit = spendKit();
      const store = new MemoryStore();
      kit.owners.set(a, ownerOf(a, { rule: { periodic_reset: 'monthly' }, lastResetAtMs: 0 }));
      // A dead process with one call whole and one cut, then one of ours across the end of a month.
      const dead = kit.journal('dead');
      const whole = [charge(kit, a, 10)];
      dead.open('whole', whole);
      settle(kit, dead, 'whole', whole, 7);
      dead.open('cut', [charge(kit, a, 30)]);
      await turn();
      const life = async (mortal: Mortal): Promise<void> => {
        kit.store = mortal;
        const counters = {
          room: kit.counters.room, usage: (key: string) => kit.counters.usage(key), slot: (key: string) => kit.counters.slot(key, 'usage'),
          setUsage: (key: string, period: number, count: number) => {
            mortal.step();
            return kit.counters.setUsage(key, period, count);
          },
          settleUsage: (slot: number, period: number, change: number) => kit.counters.settleUsage(slot, period, change), drop: (key: string) => kit.counters.drop(key), dropUnused: (key: string) => kit.counters.dropUnused(key),
        };
        const keeper = kit.keeper('own', { counters });
        try {
          await keeper.look();
          await keeper.look();
          mortal.diesAt = Math.min(mortal.diesAt, Infinity);
        } finally {
          keeper.abandon();
        }
      };
      const own = kit.journal('own', { fileBytesMax: 100 });
      const spanning = [charge(kit, a, 20)];
      own.open('spanning', spanning);
      const early = [charge(kit, a, 5)];
      own.open('early', early);
      settle(kit, own, 'early', early, 4);
      await turn();
      await turn();
      const first = new Mortal(store, diesAt);
      await life(first).catch((thrown: unknown) => assert.match(String(thrown), /died|is dead/));
      kit.nowMs = Date.parse('2026-05-01T00:00:00.005Z');
      const second = new Mortal(store, Math.max(1, diesAt - first.steps));
      if (first.steps < diesAt) await life(second).catch((thrown: unknown) => assert.match(String(thrown), /died|is dead/));
      await life(new Mortal(store, Infinity));
      const late = [charge(kit, a, 8)];
      own.open('late', late);
      settle(kit, own, 'late', late, 8);
      settle(kit, own, 'spanning', spanning, 15);
      await turn();
      own.close();
      await life(new Mortal(store, Infinity));
      kit.store = store;
      const sums = (await collected(kit.ledger().sums())).map(({ period, startMs, amount, calls, estimated }) => [period, new Date(startMs).toISOString().slice(0, 7), amount, calls, estimated]);
      assert.deepEqual(sums, [[0, '2026-04', 7 + 30 + 4 + 15, 4, 1], [1, '2026-05', 8, 1, 0]], `died at ${diesAt}`);
      assert.deepEqual(kit.counters.usage(a), { period: 1, count: 8 }, `died at ${diesAt}`);
      assert.deepEqual((await collected(kit.ledger().calls())).map(({ id }) => id).sort(), ['cut', 'early', 'late', 'spanning', 'whole'], `died at ${diesAt}`);
      assert.deepEqual(readdirSync(kit.folder), [], `died at ${diesAt}`);
      assert.deepEqual(await kit.ledger().positions(), [], `died at ${diesAt}`);
      // As many as a life takes that nobody ends.
      if (diesAt > first.steps + second.steps) break;
      steps = diesAt + 1;
    }
    assert.ok(steps > 30, `${steps} steps`);
  });

  test('a period ends for the calls of the next one; what spans the end goes to its own', async () => {
    const kit = spendKit();
    kit.owners.set(a, ownerOf(a, { rule: { periodic_reset: 'weekly' } }));
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    const spanning = [charge(kit, a, 20)];
    journal.open('spanning', spanning);
    await turn();
    await keeper.look();
    assert.deepEqual(keeper.periodOf(a), { startMs: Date.parse('2026-03-29T00:00:00Z'), endMs: Date.parse('2026-04-05T00:00:00Z') });
    kit.nowMs = Date.parse('2026-04-05T00:00:00Z');
    await keeper.look();
    assert.deepEqual(kit.counters.usage(a), { period: 1, count: 0 });
    const later = [charge(kit, a, 6)];
    journal.open('later', later);
    settle(kit, journal, 'spanning', spanning, 18);
    settle(kit, journal, 'later', later, 6);
    journal.close();
    await keeper.stop();
    assert.deepEqual(kit.counters.usage(a), { period: 1, count: 6 });
    assert.deepEqual((await collected(kit.ledger().sums())).map(({ period, amount }) => [period, amount]), [[0, 18], [1, 6]]);
  });

  test('a clock that was years ahead for a while keeps no budget shut, and what is done once a minute goes on', async () => {
    const kit = spendKit();
    const rule = { periodic_reset: 'monthly' } as const;
    kit.owners.set(a, ownerOf(a, { rule }));
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    const spend = async (id: string, amount: number): Promise<void> => {
      const charges = [charge(kit, a, amount)];
      journal.open(id, charges);
      settle(kit, journal, id, charges, amount);
      await turn();
      await keeper.look();
    };
    await spend('before', 1);
    kit.nowMs = Date.parse('2031-06-15T00:00:00Z');
    await spend('ahead', 2);
    kit.nowMs = Date.parse('2026-04-01T12:05:00Z');
    const dead = kit.journal('dead');
    dead.open('cut', [{ counter: w, counted: 'cost', period: 0, reserved: 30, used: 0 }]);
    await spend('back', 1_000);
    assert.equal(keeper.periodOf(a)?.endMs, Date.parse('2026-05-01T00:00:00Z'));
    kit.nowMs += 61_000;
    await keeper.look();
    assert.equal(await amountOf(kit, w), 30, 'the call of a dead process is settled');
    kit.nowMs = Date.parse('2026-05-01T00:00:00Z');
    await keeper.look();
    assert.deepEqual([kit.counters.usage(a)?.count, keeper.periodOf(a)], [0, { startMs: Date.parse('2026-05-01T00:00:00Z'), endMs: Date.parse('2026-06-01T00:00:00Z') }]);
    // A reset that was asked for while the clock was ahead is one reset.
    kit.owners.set(a, ownerOf(a, { rule, lastResetAtMs: Date.parse('2031-06-15T00:00:00Z') }));
    kit.changed = new Set(['api-key/a']);
    await keeper.look();
    await spend('after', 5);
    await spend('and again', 6);
    kit.nowMs += 60_000;
    await keeper.look();
    assert.equal(kit.counters.usage(a)?.count, 11);
    journal.close();
    await keeper.stop();
  });

  test('a reset of the row begins a period at its time; a counter of its own is reset by name', async () => {
    const kit = spendKit();
    kit.owners.set(a, ownerOf(a));
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    const charges = [charge(kit, a, 20), charge(kit, w, 20)];
    journal.open('call', charges);
    settle(kit, journal, 'call', charges, 20);
    await turn();
    kit.nowMs += 1_000;
    // Not looked at yet: what was spent before the reset is no part of what comes.
    kit.owners.set(a, ownerOf(a, { lastResetAtMs: kit.nowMs }));
    kit.changed = new Set(['api-key/a']);
    await keeper.look();
    kit.changed = new Set();
    assert.deepEqual([kit.counters.usage(a), kit.counters.usage(w)], [{ period: 1, count: 0 }, { period: 0, count: 20 }]);
    assert.equal((await kit.ledger().counter(a))?.startMs, kit.nowMs);
    await keeper.reset(w, kit.nowMs);
    assert.deepEqual(kit.counters.usage(w), { period: 1, count: 0 });
    await keeper.reset('key/nobody/cost', kit.nowMs);
    await keeper.look();
    assert.deepEqual(kit.counters.usage(a), { period: 1, count: 0 });
    journal.close();
    await keeper.stop();
  });

  test('alerts come once a period: at the threshold, and when all is used; a higher limit makes them possible again', async () => {
    const kit = spendKit();
    kit.owners.set(a, ownerOf(a, { rule: { periodic_reset: 'weekly' } }));
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    let calls = 0;
    const spend = async (amount: number): Promise<readonly (readonly [string, number])[]> => {
      const charges = [charge(kit, a, amount)];
      journal.open(`call-${calls}`, charges);
      settle(kit, journal, `call-${calls}`, charges, amount);
      calls += 1;
      await turn();
      await keeper.look();
      return kit.alerts.splice(0).map(({ kind, used }) => [kind, used]);
    };
    assert.deepEqual(await spend(499), []);
    assert.deepEqual(await spend(1), [['threshold', 500]]);
    assert.deepEqual(await spend(100), []);
    assert.deepEqual(await spend(400), [['exhausted', 1_000]]);
    assert.deepEqual(await spend(1), []);
    kit.owners.set(a, ownerOf(a, { rule: { periodic_reset: 'weekly' }, maximum: 2_000 }));
    kit.changed = new Set(['api-key/a']);
    await keeper.look();
    kit.changed = new Set();
    assert.deepEqual(await spend(998), []);
    assert.deepEqual(await spend(1), [['exhausted', 2_000]]);
    kit.nowMs = Date.parse('2026-04-06T00:00:00Z');
    await keeper.look();
    assert.deepEqual(await spend(2_500), [['threshold', 2_500], ['exhausted', 2_500]]);
    journal.close();
    await keeper.stop();
  });

  test('an alert that a crash kept from being told is told by the next start', async () => {
    const kit = spendKit();
    kit.owners.set(a, ownerOf(a));
    const journal = kit.journal('dead');
    const charges = [charge(kit, a, 1_000)];
    journal.open('call', charges);
    settle(kit, journal, 'call', charges, 1_000);
    await turn();
    const dying = kit.keeper('dead', { alert: () => Promise.reject(new Error('killed here')) });
    await dying.look();
    dying.abandon();
    kit.counters = new Counters(Counters.allocate(1_024));
    await kit.keeper('next').recover();
    const keeper = kit.keeper('next');
    await keeper.look();
    assert.deepEqual(kit.alerts.map(({ kind }) => kind), ['threshold', 'exhausted']);
    await keeper.look();
    assert.equal(kit.alerts.length, 2);
    await keeper.stop();
  });

  test('alerts without number of one workspace hold up neither the ledger nor those of others, and all are told in the end', async () => {
    const kit = spendKit();
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    const spend = (key: string): void => {
      const charges = [charge(kit, key, 1_000)];
      journal.open(key, charges);
      settle(kit, journal, key, charges, 1_000);
    };
    const hostile = Array.from({ length: 100 }, (_, index) => `policy/p/model:${index}`);
    for (const key of hostile) {
      kit.owners.set(key, ownerOf(key, { workspaceId: 'hostile', threshold: -1 }));
      spend(key);
    }
    kit.owners.set(a, ownerOf(a, { threshold: -1 }));
    spend(a);
    await turn();
    await keeper.look();
    const of = (workspace: string): number => kit.alerts.filter(({ owner }) => owner.workspaceId === workspace).length;
    assert.ok(of('w') === 1 && of('hostile') <= 5, `${of('w')} and ${of('hostile')} at once`);
    for (let look = 0; look < 30; look += 1) await keeper.look();
    assert.deepEqual([of('hostile'), new Set(kit.alerts.map(({ counter }) => counter.key)).size], [100, 101]);
    journal.close();
    await keeper.stop();
  });

  test('an alert that cannot be told is tried again', async () => {
    const kit = spendKit();
    kit.owners.set(a, ownerOf(a));
    let isRefused = true;
    const keeper = kit.keeper('p', { alert: async (alert) => { if (isRefused) throw new Error('no room'); kit.alerts.push(alert); } });
    const journal = kit.journal('p');
    for (const used of [600, 1]) {
      const charges = [charge(kit, a, used)];
      journal.open(`call-${used}`, charges);
      settle(kit, journal, `call-${used}`, charges, used);
      await turn();
      await keeper.look();
      isRefused = false;
    }
    assert.deepEqual([kit.alerts.map(({ used }) => used), kit.faults], [[601], ['an alert: Error: no room']]);
    journal.close();
    await keeper.stop();
  });

  test('rows of calls that are too old go, and the sums stay', async () => {
    const kit = spendKit();
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    for (const call of ['one', 'two', 'three']) {
      const charges = [charge(kit, a, 5)];
      journal.open(call, charges);
      settle(kit, journal, call, charges, 5);
      await turn();
      await keeper.look();
      kit.nowMs += 1_000;
    }
    assert.equal(await kit.ledger().prune(kit.nowMs - 1_500, 100, 100), 2);
    assert.deepEqual((await collected(kit.ledger().calls())).map(({ id }) => id), ['three']);
    const [sum] = await collected(kit.ledger().sums());
    assert.deepEqual([sum?.amount, sum?.calls, sum?.prunedAmount, sum?.prunedCalls], [15, 3, 10, 2]);
    journal.close();
    await keeper.stop();
  });

  test('a file that cannot be read is put aside, and holds up neither the start nor other files', async () => {
    const kit = spendKit();
    mkdirSync(join(kit.folder, 'a.0.0.journal'));
    symlinkSync('nowhere', join(kit.folder, 'b.0.0.journal'));
    writeFileSync(join(kit.folder, 'c.0.0.journal'), 'this was never a journal');
    const journal = kit.journal('dead');
    const charges = [charge(kit, a, 10)];
    journal.open('call', charges);
    settle(kit, journal, 'call', charges, 7);
    await turn();
    // A frame in the middle that says something else now, and one behind it.
    const [name = ''] = readdirSync(kit.folder).filter((each) => each.startsWith('dead'));
    const more = [charge(kit, a, 10)];
    const at = readFileSync(join(kit.folder, name)).length;
    journal.open('more', more);
    await turn();
    settle(kit, journal, 'more', more, 9);
    await turn();
    const bytes = readFileSync(join(kit.folder, name));
    bytes[at + 12]! ^= 1;
    writeFileSync(join(kit.folder, name), bytes);

    kit.counters = new Counters(Counters.allocate(1_024));
    await kit.keeper('new').recover();
    assert.equal(kit.counters.usage(a)?.count, 7);
    assert.deepEqual(readdirSync(kit.folder).sort(), ['a.0.0.journal.damaged', 'b.0.0.journal.damaged', 'c.0.0.journal.damaged', `${name}.damaged`]);
    assert.equal(kit.faults.length, 4);
    const after = kit.faults.length;
    await kit.keeper('next').recover();
    assert.equal(kit.faults.length, after);
  });

  test('a file that is shorter than what is in the ledger is put aside', async () => {
    const kit = spendKit();
    const journal = kit.journal('other');
    const charges = [charge(kit, a, 10)];
    kit.alive.add('other');
    journal.open('call', charges);
    settle(kit, journal, 'call', charges, 7);
    await turn();
    const [name = ''] = readdirSync(kit.folder);
    // Its own keeper has read it, then it died, and the disk lost the end.
    await kit.keeper('other').look();
    truncateSync(join(kit.folder, name), 5);
    kit.alive.delete('other');
    await kit.keeper('new').recover();
    assert.equal(await amountOf(kit, a), 7);
    assert.deepEqual([readdirSync(kit.folder), kit.faults.length], [[`${name}.damaged`], 1]);
  });

  test('a file that is not a journal is left alone', async () => {
    const kit = spendKit();
    writeFileSync(join(kit.folder, 'notes.txt'), 'x');
    writeFileSync(join(kit.folder, 'dead.0.0.journal'), 'not a frame');
    const keeper = kit.keeper('p');
    await keeper.look();
    await keeper.stop();
    assert.deepEqual(readdirSync(kit.folder).sort(), ['dead.0.0.journal.damaged', 'notes.txt']);
  });
});
