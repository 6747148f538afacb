// What the process says of itself, as metrics. Made anew for each question from the figures of the gateway.

import type { ProcessFigures, ThreadFigures } from '@gateway/plugin-sdk';
import { Counter, Gauge, Registry } from 'prom-client';
import { otherLabel } from '../common/label-sets.js';

/** Counters of plugins have names of their own, and third parties may make them up. */
const eventsMax = 1_000;
const refusedPrefix = 'refused.';
const droppedName = 'log.recordsDropped';
const microsecondsOfSecond = 1e6;
const msOfSecond = 1000;

export class ProcessText {
  /** What threads said last: one that does not answer must not look as if its counters had begun anew. */
  readonly #counts = new Map<string, ThreadFigures['counts']>();
  readonly #startedAtSeconds = Date.now() / msOfSecond - process.uptime();

  text(figures: ProcessFigures): Promise<string> {
    const registry = new Registry();
    const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> => new Gauge({ name, help, labelNames, registers: [registry] });
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> => new Counter({ name, help, labelNames, registers: [registry] });
    this.#threads(figures.threads, gauge, counter);
    const waiting = gauge('gateway_log_queue_records', 'Records that wait for an exporter, or are on their way.', ['exporter']);
    const bytes = gauge('gateway_log_queue_bytes', 'The same in bytes.', ['exporter']);
    const exported = counter('gateway_log_exported_total', 'Records that an exporter took.', ['exporter']);
    const dropped = counter('gateway_log_dropped_total', 'Records that an exporter did not get, because it was too slow or refused them.', ['exporter']);
    for (const each of figures.exporters) {
      const labels = { exporter: each.name };
      waiting.set(labels, each.waiting);
      bytes.set(labels, each.waitingBytes);
      exported.inc(labels, each.exported);
      dropped.inc(labels, each.dropped);
    }
    const ring = gauge('gateway_log_ring_bytes', 'Of the records that a thread has written and the log thread has not read.', ['thread']);
    const ringSize = gauge('gateway_log_ring_size_bytes', 'Room for them.', ['thread']);
    for (const { thread, waitingBytes, sizeBytes } of figures.rings) {
      ring.set({ thread }, waitingBytes);
      ringSize.set({ thread }, sizeBytes);
    }
    const breakers = gauge('gateway_breakers', 'Circuit breakers that are in use, by state.', ['state']);
    for (const [state, count] of Object.entries(figures.breakers)) breakers.set({ state }, count);
    const broken = gauge('gateway_broken_targets', 'Targets whose circuit breaker is open or being probed, by provider.', ['provider', 'state']);
    const told = new Map(figures.threads.flatMap((thread) => thread.broken.map((each) => [each.slot, each] as const)));
    for (const { provider, state } of told.values()) broken.inc({ provider, state });
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', []).set(process.memoryUsage.rss());
    const { user, system } = process.cpuUsage();
    counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', []).inc((user + system) / microsecondsOfSecond);
    gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', []).set(this.#startedAtSeconds);
    return registry.metrics();
  }

  #threads(
    threads: readonly ThreadFigures[],
    gauge: <L extends string>(name: string, help: string, labelNames: readonly L[]) => Gauge<L>,
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[]) => Counter<L>,
  ): void {
    const up = gauge('gateway_thread_up', 'Whether a thread answered in time when it was asked for its figures.', ['thread']);
    const open = gauge('gateway_open_calls', 'Calls under way.', ['thread']);
    const delay = gauge('gateway_event_loop_delay_seconds', 'By how much the event loop was late since the last question: the median, the 99th percentile and the most.', ['thread', 'statistic']);
    const busy = counter('gateway_event_loop_busy_seconds_total', 'Time in which the event loop had something to do.', ['thread']);
    const heap = gauge('gateway_heap_bytes', 'Used heap of JavaScript.', ['thread']);
    const ringDropped = counter('gateway_log_ring_dropped_total', 'Records that a thread could not write, because the log thread was behind, and those that were lost with the log thread.', ['thread']);
    for (const each of threads) {
      const thread = each.name;
      up.set({ thread }, each.isAnswering ? 1 : 0);
      if (each.isAnswering) this.#counts.set(thread, each.counts);
      if (thread.startsWith('serve-')) ringDropped.inc({ thread }, this.#counts.get(thread)?.[droppedName] ?? 0);
      if (!each.isAnswering) continue;
      if (each.openCalls >= 0) open.set({ thread }, each.openCalls);
      busy.inc({ thread }, each.busyMs / msOfSecond);
      heap.set({ thread }, each.heapBytes);
      if (each.loopDelay === null) continue;
      for (const [statistic, ms] of [['p50', each.loopDelay.p50], ['p99', each.loopDelay.p99], ['max', each.loopDelay.max]] as const) delay.set({ thread, statistic }, ms / msOfSecond);
    }
    const refused = counter('gateway_refusals_total', 'Calls that the gateway refused, by the code of the error: those of nobody and those over a limit too.', ['code']);
    const events = counter('gateway_events_total', 'Everything else that the gateway and its plugins count.', ['event']);
    const sums = new Map<string, number>();
    for (const counts of this.#counts.values()) {
      for (const [name, count] of Object.entries(counts)) {
        const shown = sums.has(name) || sums.size < eventsMax ? name : otherLabel;
        sums.set(shown, (sums.get(shown) ?? 0) + count);
      }
    }
    for (const [name, count] of sums) {
      if (name.startsWith(refusedPrefix)) refused.inc({ code: name.slice(refusedPrefix.length) }, count);
      else events.inc({ event: name }, count);
    }
  }
}
