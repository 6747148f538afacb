// `gateway logs`: the log of a running gateway. Lists what is there, the newest first; with --follow prints calls as they arrive, until it is told to stop.

import { fail, isGatewayError } from '../errors/gateway-error.js';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';
import { callAny, isList, refusalOf, type ControlAnswer } from './control-client.js';
import { plain, tableOf } from './resource-table.js';

/** Lines of a list, unless another number is asked for. */
const limitDefault = 50;
const limitMax = 100_000;
const pageSizeMax = 500;
/** Between questions for what has arrived. */
const pollMs = 500;
/** The same after a gateway that could not be reached, doubled with each time. */
const retryMsMax = 15_000;
/** When more is there than one reply takes, it is asked for at once, so often. */
const behindMs = 50;

const columns = ['created_at', 'response_status_code', 'response_time', 'ai_org', 'ai_model', 'total_units', 'cost', 'workspace_slug', 'error_code', 'id'];

export const logsFlags = { '--follow': 'print calls as they arrive, until it is stopped', '--errors': 'those alone that failed', '--attempts': 'also the targets that were left for another one', '--json': 'one JSON object a line' } as const;
export const logsOptions = {
  '--status <codes>': 'status codes, such as 429,500', '--model <names>': 'models', '--provider <names>': 'providers, or stored ones as @slug', '--key <ids>': 'ids of API keys', '--workspace <id or slug>': 'of one workspace',
  '--trace <ids>': 'ids of traces', '--min-latency <ms>': 'calls that took so long at least', '--metadata <json>': 'members that must be there, such as {"team":"search"}', '--since <time>': 'from this time on, such as 2030-01-31T00:00:00Z',
  '--limit <number>': `so many, without --follow (${limitDefault})`,
} as const;

type Query = Record<string, string | number | boolean>;

const filterNames: readonly (readonly [option: string, name: string])[] = [
  ['--status', 'status_code'], ['--model', 'ai_model'], ['--key', 'api_key_ids'], ['--workspace', 'workspace_id'], ['--trace', 'trace_id'], ['--min-latency', 'response_time_min'], ['--metadata', 'metadata'], ['--since', 'time_of_generation_min'],
];

/** Throws SETTINGS_INVALID. */
function queryOf({ flags, options }: CommandWords): Query {
  const query: Query = {};
  for (const [option, name] of filterNames) {
    const value = options.get(option);
    if (value !== undefined) query[name] = value;
  }
  const names = (options.get('--provider') ?? '').split(',').map((each) => each.trim()).filter((each) => each !== '');
  const stored = names.filter((each) => each.startsWith('@'));
  if (stored.length > 0 && stored.length < names.length) throw refused('--provider names either providers or stored ones (@slug), not both');
  if (names.length > 0) query[stored.length > 0 ? 'virtual_keys' : 'ai_org'] = names.join(',');
  if (flags.has('--errors')) query.is_success = false;
  if (flags.has('--attempts')) query.records = 'all';
  return query;
}

const refused = (reason: string): Error => fail('SETTINGS_INVALID', { reason });

/** Resolves with the exit code. */
export async function logs(around: Surroundings, given: CommandWords): Promise<number> {
  const query = queryOf(given);
  if (given.flags.has('--follow')) {
    if (given.options.has('--limit')) throw refused('--limit does not go with --follow, which prints until it is stopped');
    return follow(around, query, given.flags.has('--json'));
  }
  return list(around, query, limitOf(given.options.get('--limit')), given.flags.has('--json'));
}

function limitOf(given: string | undefined): number {
  const limit = given === undefined ? limitDefault : Number(given);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) throw refused(`--limit must be a whole number from 1 to ${limitMax}`);
  return limit;
}

interface LogPage {
  readonly data: readonly unknown[];
  readonly next_cursor?: string | null;
  readonly after?: string;
  readonly has_more: boolean;
}

async function list(around: Surroundings, query: Query, limit: number, isJson: boolean): Promise<number> {
  const rows: unknown[] = [];
  for (let cursor: string | null | undefined = undefined; rows.length < limit && cursor !== null;) {
    const answer = await callAny(around.environment, { method: 'GET', path: '/v1/logs' }, { query: { ...query, page_size: Math.min(pageSizeMax, limit - rows.length), ...(cursor === undefined ? {} : { cursor }) } }, isList);
    if (answer.status !== 200) return told(around, answer);
    const page = pageOf(answer);
    if (isJson) for (const row of page.data) around.out(jsonLine(row));
    rows.push(...page.data);
    cursor = page.next_cursor ?? null;
  }
  if (!isJson) around.out(rows.length === 0 ? 'none' : tableOf(rows, columns));
  return 0;
}

async function follow(around: Surroundings, query: Query, isJson: boolean): Promise<number> {
  const stopping = new Stopping(around);
  let after: string | undefined = undefined;
  for (let retryMs = pollMs; ;) {
    let waitMs = pollMs;
    try {
      const asked: Promise<ControlAnswer> = callAny(around.environment, { method: 'GET', path: '/v1/logs/live' }, { query: { ...query, ...(after === undefined ? {} : { after }) } }, isList);
      const answer: ControlAnswer | undefined = await stopping.orStop(asked);
      if (answer === undefined) return 0;
      // Busy, or starting again: the place stays good.
      if (after !== undefined && (answer.status === 429 || answer.status >= 500)) throw refused(refusalOf(answer));
      if (answer.status !== 200) return told(around, answer);
      const page = pageOf(answer);
      for (const row of page.data) around.out(isJson ? jsonLine(row) : lineOf(row));
      // Whoever read it has left: a pipe into head, for example.
      if (around.isHeard?.() === false) return 0;
      after = page.after;
      retryMs = pollMs;
      if (page.has_more) waitMs = behindMs;
    } catch (thrown) {
      if (after === undefined || !isGatewayError(thrown)) throw thrown;
      around.error(`gateway: ${plain(thrown.message)}; it is asked again in ${retryMs / 1000} s`);
      waitMs = retryMs;
      retryMs = Math.min(retryMs * 2, retryMsMax);
    }
    if (await stopping.wait(waitMs)) return 0;
  }
}

/** Until a signal comes. */
class Stopping {
  #isStopped = false;
  #stop: () => void = () => {};
  readonly #stopped = new Promise<undefined>((resolve) => { this.#stop = () => resolve(undefined); });

  constructor(around: Surroundings) {
    around.onSignal(() => {
      this.#isStopped = true;
      this.#stop();
    });
  }

  /** Undefined: it is to stop. */
  orStop<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.#stopped]);
  }

  /** True: it is to stop. */
  async wait(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined = undefined;
    await Promise.race([this.#stopped, new Promise<void>((resolve) => { timer = setTimeout(resolve, ms); })]);
    clearTimeout(timer);
    return this.#isStopped;
  }
}

function pageOf({ body }: ControlAnswer): LogPage {
  const { data, next_cursor, after, has_more }: { readonly data?: unknown; readonly next_cursor?: unknown; readonly after?: unknown; readonly has_more?: unknown } = Object(body);
  return { data: Array.isArray(data) ? data : [], has_more: has_more === true, ...(typeof after === 'string' ? { after } : {}), next_cursor: typeof next_cursor === 'string' ? next_cursor : null };
}

function told(around: Surroundings, answer: ControlAnswer): number {
  around.error(`gateway: ${plain(refusalOf(answer))}`);
  return 1;
}

/** What could steer a terminal is escaped in it. */
const jsonLine = (row: unknown): string => JSON.stringify(row).replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

function lineOf(row: unknown): string {
  const log: Readonly<Record<string, unknown>> = Object(row);
  const text = (name: string): string => (log[name] === null || log[name] === undefined ? '' : String(log[name]));
  const model = [text('ai_org'), text('ai_model')].filter((each) => each !== '').join('/') || text('endpoint');
  const notes = [
    log.is_final === false ? 'left for another target' : '', text('cache_status') === '' || text('cache_status') === 'DISABLED' ? '' : text('cache_status'), text('error_code'), text('ended') === 'complete' ? '' : text('ended'),
  ].filter((each) => each !== '');
  const cost = log.is_priced === true ? `${Number(text('cost')).toPrecision(3)} ct` : '';
  return plain([text('created_at'), text('response_status_code').padStart(3), `${text('response_time')} ms`.padStart(9), model, `${text('req_units')}+${text('res_units')}`, cost, text('workspace_slug'), text('trace_id'), ...notes].filter((each) => each !== '').join('  '));
}
