// What is counted of finished calls, from their records: rate, errors and duration by provider, model and status; tokens, cost, results of caches.

import { STATUS_CODES } from 'node:http';
import { isCachedAnswer, type LogRecord } from '@gateway/plugin-sdk';
import { Counter, Histogram, Registry } from 'prom-client';
import { LabelSets, otherLabel, type PairLabels } from '../common/label-sets.js';

const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const msOfSecond = 1000;
const centsOfDollar = 100;
/** Results of caches, endings and codes are words of our own, but records come from anywhere. */
const wordsMax = 256;
/** Providers may answer with any number: those that nobody knows are told by their class, so that they fill nothing. */
const knownStatuses: ReadonlySet<string> = new Set([...Object.keys(STATUS_CODES), '246', '419', '420', '440', '444', '446', '449', '460', '463', '494', '495', '496', '497', '498', '499', '520', '521', '522', '523', '524', '525', '526', '527', '529', '530', '598', '599', '0']);
const statusOf = (status: number): string => (knownStatuses.has(String(status)) ? String(status) : `${Math.floor(status / 100)}xx`);
const tokenTypes = ['input', 'output', 'cached', 'cache_write', 'reasoning'] as const;
const pair = ['provider', 'model'] as const;

export class RequestFigures {
  readonly registry = new Registry();
  readonly sets: LabelSets;
  readonly #words = new Map<string, Set<string>>();
  readonly #requests: Counter<'provider' | 'model' | 'status'>;
  readonly #attempts: Counter<'provider' | 'model' | 'status'>;
  readonly #duration: Histogram<'provider' | 'model'>;
  readonly #firstByte: Histogram<'provider' | 'model'>;
  readonly #overhead: Histogram<'endpoint'>;
  readonly #endings: Counter<'ended'>;
  readonly #errors: Counter<'code'>;
  readonly #tokens: Counter<'provider' | 'model' | 'type'>;
  readonly #cost: Counter<'provider' | 'model'>;
  readonly #saved: Counter<'provider' | 'model'>;
  readonly #unpriced: Counter<'provider' | 'model'>;
  readonly #cache: Counter<'result'>;
  readonly #retries: Counter<'provider' | 'model'>;
  readonly #rescued: Counter<'provider' | 'model'>;
  readonly #bytes: Counter<'direction'>;

  /** Counted since the last answer: what nobody was told does not end. */
  readonly #untold = new Set<PairLabels>();
  /** Statuses that were counted of a pair. */
  readonly #statuses = new Map<PairLabels, Set<string>>();

  constructor(pairsMax: number, now: () => number) {
    this.sets = new LabelSets(pairsMax, now, (labels) => this.#end(labels));
    const { registry, sets } = this;
    const registers = [registry];
    this.#requests = new Counter({ name: 'gateway_requests_total', help: 'Finished requests, by the provider and model that answered and the status of the answer.', labelNames: [...pair, 'status'], registers });
    this.#attempts = new Counter({ name: 'gateway_failed_targets_total', help: 'Targets that were left for another one, by the status they gave.', labelNames: [...pair, 'status'], registers });
    this.#duration = new Histogram({ name: 'gateway_request_duration_seconds', help: 'From the head of a request to the end of its answer.', labelNames: pair, buckets: durationBuckets, registers });
    this.#firstByte = new Histogram({ name: 'gateway_first_byte_seconds', help: 'From the head of a request to the first byte of its answer.', labelNames: pair, buckets: durationBuckets, registers });
    this.#overhead = new Histogram({ name: 'gateway_overhead_seconds', help: 'Of the time to the first byte, what was not spent waiting for the provider.', labelNames: ['endpoint'], buckets: overheadBuckets, registers });
    this.#endings = new Counter({ name: 'gateway_requests_ended_total', help: 'Finished requests, by how they ended: complete, or left early by the client, the provider or the gateway.', labelNames: ['ended'], registers });
    this.#errors = new Counter({ name: 'gateway_request_errors_total', help: 'Finished requests that the gateway answered with an error of its own, by its code.', labelNames: ['code'], registers });
    this.#tokens = new Counter({ name: 'gateway_tokens_total', help: 'Tokens as reported by providers, answers out of caches left out; cached, cache_write and reasoning are parts of input and output.', labelNames: [...pair, 'type'], registers });
    this.#cost = new Counter({ name: 'gateway_cost_usd_total', help: 'What requests cost, in US dollars, by the prices known to the gateway.', labelNames: pair, registers });
    this.#saved = new Counter({ name: 'gateway_saved_usd_total', help: 'What answers out of caches would have cost, in US dollars.', labelNames: pair, registers });
    this.#unpriced = new Counter({ name: 'gateway_unpriced_requests_total', help: 'Answered requests with tokens for whose model there is no price.', labelNames: pair, registers });
    this.#cache = new Counter({ name: 'gateway_cache_results_total', help: 'Finished requests, by what the cache said.', labelNames: ['result'], registers });
    this.#retries = new Counter({ name: 'gateway_retries_total', help: 'Calls to a provider beyond the first for the same target.', labelNames: pair, registers });
    this.#rescued = new Counter({ name: 'gateway_rescued_requests_total', help: 'Requests that succeeded after another target had failed.', labelNames: pair, registers });
    this.#bytes = new Counter({ name: 'gateway_body_bytes_total', help: 'Bytes of bodies, of requests and of answers.', labelNames: ['direction'], registers });
    new Counter({ name: 'gateway_series_overflow_total', help: 'Records counted as model "other", because there were too many models.', registers, collect() { this.reset(); this.inc(sets.overflowed); } });
  }

  text(): Promise<string> {
    // Before the figures are read: what is counted meanwhile may be in them or not.
    this.#untold.clear();
    return this.registry.metrics();
  }

  /** What a client told afterwards is no traffic of ours. */
  add(record: LogRecord): void {
    if (record.source !== 'call') return;
    const isSuccess = record.status >= 200 && record.status < 400;
    const labels = this.sets.labelsOf(record.provider, record.model, isSuccess);
    const status = statusOf(record.status);
    this.#note(labels, status);
    if (record.retries > 0) this.#retries.inc(labels, record.retries);
    if (!record.isFinal) {
      this.#attempts.inc({ ...labels, status });
      return;
    }
    this.#requests.inc({ ...labels, status });
    this.#duration.observe(labels, record.tookMs / msOfSecond);
    if (record.firstByteMs >= 0) {
      this.#firstByte.observe(labels, record.firstByteMs / msOfSecond);
      this.#overhead.observe({ endpoint: this.#word('endpoint', record.endpoint) }, Math.max(0, record.firstByteMs - record.upstreamMs) / msOfSecond);
    }
    this.#endings.inc({ ended: this.#word('ended', record.ended) });
    if (record.errorCode !== '') this.#errors.inc({ code: this.#word('code', record.errorCode) });
    if (record.cacheStatus !== '') this.#cache.inc({ result: this.#word('result', record.cacheStatus) });
    if (record.targetIndex > 0 && isSuccess) this.#rescued.inc(labels);
    if (record.saved > 0) this.#saved.inc(labels, record.saved / centsOfDollar);
    this.#bytes.inc({ direction: 'request' }, Math.max(0, record.requestBytes));
    this.#bytes.inc({ direction: 'response' }, Math.max(0, record.responseBytes));
    if (!isCachedAnswer(record.cacheStatus)) this.#addUse(record, labels);
  }

  #addUse(record: LogRecord, labels: { readonly provider: string; readonly model: string }): void {
    const counts = { input: record.inputTokens, output: record.outputTokens, cached: record.cachedTokens, cache_write: record.cacheWriteTokens, reasoning: record.reasoningTokens };
    for (const type of tokenTypes) if (counts[type] > 0) this.#tokens.inc({ ...labels, type }, counts[type]);
    if (record.cost > 0) this.#cost.inc(labels, record.cost / centsOfDollar);
    if (!record.isPriced && record.totalTokens > 0) this.#unpriced.inc(labels);
  }

  #note(labels: PairLabels, status: string): void {
    // Of `other` there is one, which does not end.
    if (labels.model === otherLabel) return;
    this.#untold.add(labels);
    const statuses = this.#statuses.get(labels);
    if (statuses === undefined) this.#statuses.set(labels, new Set([status]));
    else statuses.add(status);
  }

  /** All series of a pair, when they have been told. A model may be called as what has no series of its own; those do not end. */
  #end(labels: PairLabels): boolean {
    if (labels.model === otherLabel) return true;
    if (this.#untold.has(labels)) return false;
    for (const status of this.#statuses.get(labels) ?? []) for (const metric of [this.#requests, this.#attempts]) metric.remove({ ...labels, status });
    this.#statuses.delete(labels);
    for (const type of tokenTypes) this.#tokens.remove({ ...labels, type });
    for (const metric of [this.#duration, this.#firstByte, this.#cost, this.#saved, this.#unpriced, this.#retries, this.#rescued]) metric.remove({ ...labels });
    return true;
  }

  #word(kind: string, word: string): string {
    let words = this.#words.get(kind);
    if (words === undefined) this.#words.set(kind, words = new Set());
    if (words.has(word)) return word;
    if (words.size >= wordsMax) return otherLabel;
    words.add(word);
    return word;
  }
}
