// Hot: runs for each target of a config with a strategy.
// Walks the tree of strategies: asks the innermost for its next target, and when it has none, the one above. Plugins answer, this decides.

import type { Json, Outcome, Strategy, Target } from '@gateway/plugin-sdk';
import { atOnce } from '../../errors/at-once.js';
import { fail, isGatewayError, reasonOf } from '../../errors/gateway-error.js';
import { DecisionLog } from '../../exchange/decision-log.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { Group, TargetPlan, PlanNode } from '../../plan/plan.js';
import type { Breakers } from '../../upstream/breaker.js';

/** The outcome of one target. */
class Tried implements Outcome {
  constructor(readonly target: number, readonly status: number, readonly error: Error | undefined, readonly tookMs: number, readonly plan: TargetPlan, readonly exchange: Exchange) {}

  get provider(): string {
    return this.plan.provider.id;
  }

  get model(): string {
    const set = this.plan.fieldEdits.find((edit) => edit.name === 'model' && edit.kind === 'set');
    const asked = set?.value ?? this.exchange.request.field('model') ?? this.plan.fills.get('model');
    return typeof asked === 'string' ? asked : '';
  }
}

class Frame {
  readonly outcomes: Tried[] = [];
  /** Index into the children of what is being tried now. */
  current = -1;
  constructor(readonly group: Group, readonly parent: Frame | null) {}
}

export class TargetSelector {
  #frame: Frame | null;
  /** The target named last counted as healthy when its strategy was asked. False: no healthy one was left to name. */
  isChosenHealthy = true;
  /** The target that is being tried, and since when. */
  #target: TargetPlan | null = null;
  #askedAt = 0;
  /** The last outcome was enough for everybody: none asked for another target. */
  #isSettled = false;

  constructor(readonly exchange: Exchange, root: Group, readonly breakers: Breakers) {
    this.#frame = new Frame(root, null);
  }

  /** The next target to try, or null: stop and answer with the last outcome. Throws NO_TARGET when a strategy names none at its first turn. */
  next(): TargetPlan | null {
    const start = this.#frame;
    for (let frame = start; frame !== null; frame = this.#frame) {
      const index = this.#ask(frame);
      const child = index >= 0 ? frame.group.children[index] : undefined;
      if (child === undefined) {
        const last = frame.outcomes.at(-1);
        if (last === undefined) {
          throw fail('NO_TARGET', { path: frame.group.path, reason: index < 0 ? 'no target fits this request' : `the plugin named target ${index}, which does not exist` });
        }
        this.#frame = frame.parent;
        if (frame.parent !== null) {
          let tookMs = 0;
          for (const outcome of frame.outcomes) tookMs += outcome.tookMs;
          frame.parent.outcomes.push(new Tried(frame.parent.current, last.status, last.error, tookMs, last.plan, this.exchange));
        }
        continue;
      }
      frame.current = index;
      if (child.kind === 'target') {
        this.#target = child;
        this.#askedAt = performance.now();
        return child;
      }
      this.#frame = new Frame(child, frame);
    }
    this.#settle(start);
    return null;
  }

  /** Everybody stands where they stood: the answer may yet prove to be none, and then they are asked once more. */
  #settle(start: Frame | null): void {
    this.#isSettled = true;
    this.#frame = start;
    for (let parent = start?.parent ?? null; parent !== null; parent = parent.parent) parent.outcomes.pop();
  }

  /** Tells the strategy how the target it chose did. */
  report(status: number, error: Error | undefined): void {
    const frame = this.#frame;
    if (frame !== null && this.#isSettled) frame.outcomes.pop();
    this.#isSettled = false;
    if (frame !== null && this.#target !== null) frame.outcomes.push(new Tried(frame.current, status, error, performance.now() - this.#askedAt, this.#target, this.exchange));
  }

  #ask(frame: Frame): number {
    const { group } = frame;
    const targets: readonly Target[] = group.hasBreaker
      ? group.targets.map((target, index) => ({ name: target.name, weight: target.weight, healthy: this.#isHealthy(group.children[index] as PlanNode) }))
      : group.targets;
    try {
      const index = atOnce(group.strategy.next(this.exchange, targets, frame.outcomes));
      this.isChosenHealthy = targets[index]?.healthy === true;
      if (index >= 0) this.#decide(frame, targets, index);
      return index;
    } catch (thrown) {
      if (isGatewayError(thrown)) throw thrown;
      throw fail('PLUGIN_FAILED', { plugin: `strategy/${group.mode}`, reason: reasonOf(thrown) }, thrown);
    }
  }

  /** The choice among several, and its ground. */
  #decide({ group, outcomes }: Frame, targets: readonly Target[], index: number): void {
    let unhealthy: number[] | null = null;
    if (group.hasBreaker) for (let each = 0; each < targets.length; each += 1) if (targets[each]?.healthy === false) (unhealthy ??= []).push(each);
    const ground = groundOf(group.strategy);
    (this.exchange.decisions ??= new DecisionLog()).add({
      about: 'strategy', at: group.path, mode: group.mode, chosen: index, of: targets.length, turn: outcomes.length, ...(unhealthy === null ? {} : { breakersOpen: unhealthy }), ...(ground === undefined ? {} : { ground }),
    });
  }

  /** A group is healthy while one of its targets is. */
  #isHealthy(node: PlanNode): boolean {
    if (node.kind === 'target') return node.breaker === null || !this.breakers.isOpen(node.breakerSlot, node.breaker);
    return node.children.some((child) => this.#isHealthy(child));
  }
}

/** A strategy that cannot say why has chosen all the same. */
function groundOf(strategy: Strategy): Json | undefined {
  if (strategy.ground === undefined) return undefined;
  try {
    return strategy.ground();
  } catch {
    return undefined;
  }
}
