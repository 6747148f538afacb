import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { tickMs, TimerWheel, WheelTimeout } from '../../../core/upstream/timer-wheel.js';

class Owner {
  readonly firedAt: number[] = [];
  whenFired: () => void = () => {};
  readonly timeout: WheelTimeout;

  constructor(readonly wheel: TimerWheel, readonly name = '') {
    this.timeout = new WheelTimeout(wheel, this);
  }

  onTimeout(): void {
    this.firedAt.push(performance.now());
    this.whenFired();
  }

  fired(): Promise<number> {
    return new Promise((resolve) => { this.whenFired = () => resolve(this.firedAt.at(-1) ?? 0); });
  }
}

/** Blocks the loop. */
function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('a time-out on the wheel', () => {
  it('fires once, when it is due and not before', async () => {
    const owner = new Owner(new TimerWheel());
    for (const delayMs of [1, 15, 40]) {
      const due = performance.now() + delayMs;
      owner.timeout.start(delayMs);
      assert.ok(owner.timeout.isRunning);
      assert.ok(await owner.fired() >= due);
      assert.ok(!owner.timeout.isRunning);
    }
    assert.equal(owner.firedAt.length, 3);
    assert.equal(owner.wheel.running, 0);
  });

  it('that was stopped, removed or started anew does not fire at its first time', async () => {
    const wheel = new TimerWheel();
    const [stopped, removed, extended, witness] = ['s', 'r', 'e', 'w'].map((name) => new Owner(wheel, name)) as [Owner, Owner, Owner, Owner];
    for (const owner of [stopped, removed, extended]) owner.timeout.start(20);
    stopped.timeout.stop();
    removed.timeout.remove();
    const due = performance.now() + 60;
    extended.timeout.start(60);
    witness.timeout.start(100);
    assert.equal(wheel.running, 2);
    const [at] = await Promise.all([extended.fired(), witness.fired()]);
    assert.ok(at >= due);
    assert.deepEqual([stopped, removed, extended].map(({ firedAt }) => firedAt.length), [0, 0, 1]);
  });

  it('may be started for an earlier time than before', async () => {
    const owner = new Owner(new TimerWheel());
    owner.timeout.start(60_000);
    owner.timeout.start(5);
    await owner.fired();
    assert.equal(owner.firedAt.length, 1);
  });

  it('fires in the order of due times, also when the loop was busy, and may start and stop others', async () => {
    const wheel = new TimerWheel();
    const order: string[] = [];
    const make = (name: string): Owner => {
      const owner = new Owner(wheel, name);
      owner.whenFired = () => { order.push(name); };
      return owner;
    };
    const [first, second, third, never, later] = [make('first'), make('second'), make('third'), make('never'), make('later')];
    const done = new Promise<void>((resolve) => { later.whenFired = () => { order.push('later'); resolve(); }; });
    first.whenFired = () => {
      order.push('first');
      never.timeout.remove();
      later.timeout.start(3 * tickMs);
    };
    third.timeout.start(5 * tickMs);
    first.timeout.start(tickMs);
    never.timeout.start(4 * tickMs);
    second.timeout.start(3 * tickMs);
    spin(8 * tickMs);
    await done;
    assert.deepEqual(order, ['first', 'second', 'third', 'later']);
  });

  it('of longer than a turn of the wheel waits for its turn', async () => {
    const wheel = new TimerWheel();
    const long = new Owner(wheel);
    const short = new Owner(wheel);
    // The same slot, a turn later.
    long.timeout.start(1024 * tickMs + 20);
    short.timeout.start(20);
    await short.fired();
    await new Promise((resolve) => { setTimeout(resolve, 3 * tickMs); });
    assert.equal(long.firedAt.length, 0);
    assert.equal(wheel.running, 1);
    long.timeout.remove();
  });

  it('fires among very many', async () => {
    const wheel = new TimerWheel();
    const owners = Array.from({ length: 5_000 }, (_, index) => new Owner(wheel, String(index)));
    owners.forEach((owner, index) => owner.timeout.start(5 + (index % 50)));
    owners.forEach((owner, index) => { if (index % 2 === 1) owner.timeout.stop(); });
    const last = new Owner(wheel);
    last.timeout.start(80);
    await last.fired();
    assert.ok(owners.every(({ firedAt }, index) => firedAt.length === (index % 2 === 1 ? 0 : 1)));
    assert.equal(wheel.running, 0);
  });
});

it('a wheel keeps a process awake for what is running, and not for what was stopped', () => {
  const module = new URL('../../../core/upstream/timer-wheel.js', import.meta.url).href;
  const run = (text: string) => spawnSync(process.execPath, ['--input-type=module', '-e', `import { TimerWheel, WheelTimeout } from ${JSON.stringify(module)}; ${text}`], { encoding: 'utf8', timeout: 20_000 });
  assert.equal(run("new WheelTimeout(new TimerWheel(), { onTimeout() { console.log('fired'); } }).start(700);").stdout, 'fired\n');
  const stopped = run("const t = new WheelTimeout(new TimerWheel(), { onTimeout() { console.log('fired'); } }); t.start(600_000); t.stop();");
  assert.deepEqual([stopped.status, stopped.stdout], [0, '']);
});
