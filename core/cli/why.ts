// `gateway why ID`: what was decided for a call of a running gateway, and on what ground, in plain words.

import type { components } from '@gateway/plugin-sdk/api';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';
import { gatewayClient, refusalOf } from './control-client.js';
import { plain, plainJson } from './resource-table.js';

export type Why = components['schemas']['LogWhy'];

/** Resolves with the exit code. */
export async function why(around: Surroundings, { argument, flags }: CommandWords): Promise<number> {
  if (argument === undefined) {
    around.error('gateway: why needs the id of a log or of its trace, such as the x-gateway-trace-id of an answer');
    return 1;
  }
  const client = await gatewayClient(around.environment, ({ object }) => object === 'log.why');
  const { data, error, response } = await client.GET('/v1/logs/{logId}/why', { params: { path: { logId: argument } } });
  if (data === undefined) {
    around.error(`gateway: ${plain(refusalOf({ status: response.status, body: error }))}`);
    return 1;
  }
  if (flags.has('--json')) around.out(plainJson(data));
  else for (const [about, words] of wordsOf(data)) around.out(`${about.padEnd(aboutChars)}${plain(words)}`);
  return 0;
}

const aboutChars = 11;

type Line = readonly [about: string, words: string];

/** Lines that a person reads: what about, and the words. What was not there, or went the usual way, is not told. */
export function wordsOf(told: Why): readonly Line[] {
  return [
    ['call', `${told.method} ${told.path} at ${told.created_at}: ${endOf(told)}`],
    ['', `log ${told.id}${told.trace_id === told.id ? '' : `, trace ${told.trace_id}`}${told.source === 'insert' ? '; told by a client, it did not go through the gateway' : ''}`],
    ['key', told.key === null ? 'none named the caller' : `${named(told.key.name, told.key.id)}${told.workspace === null ? '' : `, of the workspace ${told.workspace.slug ?? `${told.workspace.id}, which is gone`}`}`],
    ...optional('config', told.config, (config) => `${config.slug ?? `${config.id}, which is gone`}, version ${config.version ?? config.version_id}`),
    ...optional('prompt', told.prompt, (prompt) => `${prompt.slug}, version ${prompt.version ?? prompt.version_id}`),
    ...targetLines(told),
    ...told.retries.waits.map((wait): Line => ['retry', `${wait.path} after status ${wait.status}, having waited ${milliseconds(wait.wait_ms)}`]),
    ...told.hooks.map((hook): Line => ['hook', hookWords(hook)]),
    ...(told.cache.status === '' || told.cache.status === 'DISABLED' ? [] : [['cache', `${told.cache.status}${told.cache.mode === null ? '' : ` (${told.cache.mode})`}${told.cache.key === null ? '' : `, key ${told.cache.key}`}`] as const]),
    ...told.refused_by.map((limit): Line => ['limit', `${limit.counter} refused the call: ${plainNumber(limit.before)} of ${plainNumber(limit.maximum)}${units[limit.counted ?? '']} had been used, and it needs ${plainNumber(limit.needed)}`]),
    ...told.limits.map((limit): Line => ['limit', `${limit.counter}: ${plainNumber(limit.before)} before, ${plainNumber(limit.after)} after${limit.maximum === null ? '' : `, of ${plainNumber(limit.maximum)}`}${units[limit.counted ?? '']}`]),
    ['time', timeWords(told)],
    ...tokenLines(told),
    ['price', priceWords(told)],
    ...told.more.map((each): Line => ['also', JSON.stringify(each)]),
  ];
}

const units: Readonly<Record<string, string>> = { requests: ' requests', tokens: ' tokens', cost: ' US dollars', '': '' };
/** Without an exponent. */
const plainNumber = (amount: number): string => (Number.isInteger(amount) ? String(amount) : amount.toFixed(8).replace(/\.?0+$/, ''));
const named = (name: string | null, id: string): string => (name === null ? `${id}, which is gone` : `${name} (${id})`);
const milliseconds = (time: number): string => `${Math.round(time * 10) / 10} ms`;

function optional<T>(about: string, value: T | null, words: (value: T) => string): readonly Line[] {
  return value === null ? [] : [[about, words(value)]];
}

const ends: Readonly<Record<string, string>> = { client: ', the client left before the end', upstream: ', the upstream broke off or could not be reached', gateway: ', the gateway broke it off' };
const endOf = ({ status, error_code: code, ended }: Why): string => `status ${status}${code === '' ? '' : `, ${code}`}${ends[ended] ?? ''}`;

function targetLines({ strategies, targets, passed_over: passedOver, retries }: Why): readonly Line[] {
  const lines: Line[] = [];
  for (const strategy of strategies) {
    const open = strategy.breakers_open.length === 0 ? '' : `; the circuit breaker was open for ${strategy.breakers_open.map((index) => `target ${index}`).join(', ')}`;
    lines.push(['strategy', `${strategy.mode} at ${strategy.path} chose target ${strategy.chosen} of ${strategy.of}${strategy.turn === 0 ? '' : ` in its turn ${strategy.turn + 1}`}${groundWords(strategy.ground)}${open}`]);
  }
  for (const target of targets) {
    const who = `${target.path}: ${target.provider}${target.provider_slug === '' ? '' : ` (@${target.provider_slug})`}${target.model === '' ? '' : `, ${target.model}`}`;
    const tries = target.attempts > 1 ? `, ${target.attempts} tries` : '';
    lines.push([target.is_final ? 'target' : 'left', `${who}: status ${target.status}${target.error_code === '' ? '' : `, ${target.error_code}`}${tries}, ${milliseconds(target.took_ms)}${target.is_final ? '' : '; left for another one'}`]);
  }
  for (const target of passedOver) lines.push(['not tried', `${target.path}: ${target.provider}${target.provider_slug === '' ? '' : ` (@${target.provider_slug})`}: ${target.reason}${target.code === '' ? '' : ` (${target.status}, ${target.code})`}`]);
  if (targets.length === 0) lines.push(['target', retries.attempts === 0 ? 'none was called' : 'none is known']);
  return lines;
}

function groundWords(ground: unknown): string {
  if (ground === null || ground === undefined) return '';
  const { condition, sticky, weights }: { readonly condition?: unknown; readonly sticky?: unknown; readonly weights?: unknown } = Object(ground);
  if (typeof condition === 'number') return `: condition ${condition} fitted`;
  if (condition === null) return ': no condition fitted';
  if (typeof sticky === 'boolean') return `: ${sticky ? 'as for the same user before' : 'drawn'}${Array.isArray(weights) ? `, by weights ${weights.join(', ')}` : ''}`;
  return `: ${JSON.stringify(ground)}`;
}

function hookWords({ id, stage, verdict, denied, transformed, checks }: Why['hooks'][number]): string {
  const failed = checks.filter((check) => check.verdict === false).map((check) => check.id);
  const erred = checks.filter((check) => check.error !== null).map((check) => check.id);
  return `${id} (${stage === 'async' ? 'in the background' : `${stage} the request`}): ${verdict ? 'passed' : 'failed'}${denied ? ' and denied the call' : ''}${transformed ? ', changed the text' : ''}${
    failed.length === 0 ? '' : `; failed: ${failed.join(', ')}`}${erred.length === 0 ? '' : `; could not say: ${erred.join(', ')}`}`;
}

function timeWords({ timing }: Why): string {
  if (timing.first_byte_ms === null) return `${milliseconds(timing.total_ms)}; nothing was sent`;
  return `${milliseconds(timing.total_ms)}: ${milliseconds(timing.upstream_ms)} waiting for upstreams, ${milliseconds(timing.gateway_ms ?? 0)} in the gateway before the first byte, ${milliseconds(timing.streaming_ms ?? 0)} from there to the end`;
}

function tokenLines({ tokens }: Why): readonly Line[] {
  const parts = Object.entries(tokens).filter((entry): entry is [string, number] => entry[1] !== null).map(([name, count]) => `${count} ${name.replace('_', ' ')}`);
  return parts.length === 0 ? [] : [['tokens', parts.join(', ')]];
}

function priceWords({ price }: Why): string {
  const { cost, is_priced: isPriced, saved, rates, is_own: isOwn, is_adjusted: isAdjusted, cost_now: now } = price;
  if (cost === null) return 'nobody has priced the call yet';
  if (!isPriced) return 'the model has no price, so the call cost 0';
  const ground = rates === null ? '' : ` by ${isOwn ? 'the price of the integration' : 'the public price'}${isAdjusted ? ', with its factors' : ''}: ${JSON.stringify(rates)}`;
  const changed = now === null || Math.abs(now - cost - saved) <= 1e-9 * Math.max(1, Math.abs(now)) ? '' : `; by the prices of now it would be ${cents(now)}`;
  return `${cents(cost)}${saved > 0 ? `, and ${cents(saved)} saved` : ''}${ground}${changed}`;
}

const cents = (value: number): string => `${Number(value.toPrecision(6))} US cents`;
