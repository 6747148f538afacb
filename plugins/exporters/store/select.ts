// Which records of a block match a filter, by its columns. Means what `recordMatches` of plain-query.ts means.

import type { Bounds, Feedback, LogFilter } from '@gateway/plugin-sdk';
import { ofMember, ofValue, type BlockBounds, type Columns, type Field, type ListedField, type RangedField } from './block.js';
import { JoinedWords, type Words } from './block-columns.js';
import { Metadata } from './block-metadata.js';
import { traceKey } from './feedback-rows.js';
import { isSuccess, metadataOf } from './plain-query.js';

export type FeedbackByTrace = ReadonlyMap<string, readonly Feedback[]>;

/** Stands in JSON as it is, unless something in there is escaped. */
const isPlain = /^[\w-]+$/;
const booleans: ReadonlySet<string> = new Set(['true', 'false']);

/** What metadata without escapes have inside when a member is `value`; undefined: that cannot be said. 1000 may stand as 1e3, and null as 1e999. */
function textIn(value: string): string | undefined {
  if (!isPlain.test(value) || !Number.isNaN(Number(value)) || value === 'null') return undefined;
  return booleans.has(value) ? value : `"${value}"`;
}

interface Listed {
  readonly field: Exclude<ListedField, 'status' | 'isFinal'>;
  readonly values: readonly string[];
}

const listNames = {
  providers: 'provider', models: 'model', providerSlugs: 'providerSlug', configIds: 'configId', keyIds: 'keyId', promptSlugs: 'promptSlug', endpoints: 'endpoint', cacheStatuses: 'cacheStatus', errorCodes: 'errorCode',
} as const satisfies Partial<Record<keyof LogFilter, ListedField>>;
const rangeNames = { cost: 'cost', totalTokens: 'totalTokens', inputTokens: 'inputTokens', outputTokens: 'outputTokens', tookMs: 'tookMs' } as const satisfies Partial<Record<keyof LogFilter, RangedField>>;

/** A filter, taken apart once for all blocks. */
export class Selection {
  /** What has to be read. */
  readonly fields: ReadonlySet<Field>;
  readonly #lists: readonly Listed[];
  readonly #ranges: readonly { readonly field: RangedField; readonly bounds: Bounds }[];
  readonly #statuses: ((status: number) => boolean) | undefined;
  readonly #metadata: readonly (readonly [string, string])[];

  constructor(readonly filter: LogFilter, readonly feedback: FeedbackByTrace) {
    const { scope, fromMs, toMs, statuses, isSuccess: success, metadata = {} } = filter;
    const lists: Listed[] = [{ field: 'organisationId', values: [scope.organisationId] }];
    if (scope.workspaceIds !== null) lists.push({ field: 'workspaceId', values: scope.workspaceIds });
    for (const name of Object.keys(listNames) as (keyof typeof listNames)[]) {
      const values = filter[name];
      if (values !== undefined) lists.push({ field: listNames[name], values });
    }
    const ranges: { field: RangedField; bounds: Bounds }[] = [];
    if (fromMs !== undefined || toMs !== undefined) ranges.push({ field: 'startedAtMs', bounds: { ...(fromMs === undefined ? {} : { min: fromMs }), ...(toMs === undefined ? {} : { max: toMs }) } });
    for (const name of Object.keys(rangeNames) as (keyof typeof rangeNames)[]) {
      const bounds = filter[name];
      if (bounds !== undefined) ranges.push({ field: rangeNames[name], bounds });
    }
    this.#lists = lists;
    this.#ranges = ranges;
    this.#statuses = statuses === undefined && success === undefined ? undefined : (status) => (statuses === undefined || statuses.includes(status)) && (success === undefined || isSuccess(status) === success);
    this.#metadata = Object.entries(metadata);
    const fields = new Set<Field>([...lists.map(({ field }) => field), ...ranges.map(({ field }) => field)]);
    if (filter.records !== 'all') fields.add('isFinal');
    if (this.#statuses !== undefined) fields.add('status');
    if (filter.providerModels !== undefined) fields.add('provider').add('model');
    if (this.#metadata.length > 0) fields.add('metadata');
    if (filter.traceIds !== undefined || filter.weightedFeedback !== undefined) fields.add('traceId');
    if (filter.weightedFeedback !== undefined) fields.add('workspaceId');
    if (filter.spanIds !== undefined) fields.add('spanId');
    this.fields = fields;
  }

  /** False: nothing of what is inside matches. */
  mayMatch({ values, ranges }: BlockBounds): boolean {
    return this.#lists.every(({ field, values: wanted }) => values[field]?.some((value) => wanted.includes(value)) ?? true)
      && this.#ranges.every(({ field, bounds: { min = -Infinity, max = Infinity } }) => ranges[field][0] <= max && ranges[field][1] >= min)
      && this.#mayHavePair(values)
      && (this.filter.records === 'all' || (values.isFinal?.includes('true') ?? true))
      && (this.#statuses === undefined || (values.status?.some((status) => this.#statuses?.(Number(status))) ?? true));
  }

  #mayHavePair({ provider, model }: BlockBounds['values']): boolean {
    const { providerModels } = this.filter;
    if (providerModels === undefined || provider === undefined || model === undefined) return true;
    const wanted = new Set(providerModels);
    return provider.some((left) => model.some((right) => wanted.has(`${left}__${right}`)));
  }

  /** What a filter of values is asked where `bounds` do not say it: of each list one has to be inside. */
  valuesOf({ values }: BlockBounds): readonly (readonly string[])[] {
    return [
      ...this.#lists.filter(({ field }) => values[field] === undefined).map(({ field, values: wanted }) => wanted.map((value) => ofValue(field, value))),
      // One that is not there is as an empty one.
      ...this.#metadata.filter(([, value]) => value !== '').map(([name, value]) => [ofMember(name, value)]),
    ];
  }

  /** Places of those that match, ascending. */
  of(columns: Columns, bounds: BlockBounds): Uint16Array {
    const { filter } = this;
    const places = new Uint16Array(columns.count);
    let left = columns.count;
    for (let index = 0; index < left; index += 1) places[index] = index;
    const narrow = (isKept: (index: number) => boolean): void => {
      let kept = 0;
      for (let at = 0; at < left; at += 1) {
        const index = places[at] as number;
        if (isKept(index)) places[kept++] = index;
      }
      left = kept;
    };
    /** The words decide for all that have them. */
    const narrowByWord = ({ words, codes }: Words, isKept: (word: string) => boolean): void => {
      const kept = words.map(isKept);
      if (!kept.every(Boolean)) narrow((index) => kept[codes[index] as number] === true);
    };
    const narrowByMetadata = (metadata: Words): void => {
      const [text] = this.#metadata.flatMap(([, value]) => textIn(value) ?? []);
      const isPossible = text !== undefined && metadata instanceof JoinedWords ? metadata.having([text, '\\']) : undefined;
      const known = new Map<number, boolean>();
      narrow((index) => {
        const code = metadata.codes[index] as number;
        if (isPossible?.[code] === 0) return false;
        let isKept = known.get(code);
        if (isKept === undefined) known.set(code, isKept = this.#hasMetadata(metadata instanceof JoinedWords ? metadata.joined.at(code) : metadata.words[code] ?? ''));
        return isKept;
      });
    };
    const narrowToWord = (words: Words, wanted: string): void => {
      if (!(words instanceof JoinedWords)) return narrowByWord(words, (word) => word === wanted);
      const kept = words.being(wanted);
      narrow((index) => kept[words.codes[index] as number] === 1);
    };
    for (const { field, values } of this.#lists) if (bounds.values[field]?.every((value) => values.includes(value)) !== true) narrowByWord(columns.words(field), (word) => values.includes(word));
    for (const { field, bounds: { min = -Infinity, max = Infinity } } of this.#ranges) {
      if (bounds.ranges[field][0] >= min && bounds.ranges[field][1] <= max) continue;
      const numbers = columns.numbers(field);
      narrow((index) => (numbers[index] as number) >= min && (numbers[index] as number) <= max);
    }
    if (filter.records !== 'all' && bounds.values.isFinal?.includes('false') !== false) {
      const isFinal = columns.numbers('isFinal');
      narrow((index) => isFinal[index] === 1);
    }
    if (this.#statuses !== undefined && bounds.values.status?.every((status) => this.#statuses?.(Number(status)) === true) !== true) {
      const statuses = columns.numbers('status');
      const known = new Map<number, boolean>();
      narrow((index) => {
        const status = statuses[index] as number;
        let isKept = known.get(status);
        if (isKept === undefined) known.set(status, isKept = this.#statuses?.(status) === true);
        return isKept;
      });
    }
    if (filter.providerModels !== undefined) {
      const { providerModels } = filter;
      const [provider, model] = [columns.words('provider'), columns.words('model')];
      narrow((index) => providerModels.includes(`${provider.words[provider.codes[index] as number] ?? ''}__${model.words[model.codes[index] as number] ?? ''}`));
    }
    if (this.#metadata.length > 0) {
      const metadata = columns.column('metadata');
      if (metadata instanceof Metadata) for (const [name, value] of this.#metadata) narrowToWord(columns.member(name), value);
      else if ('codes' in metadata) narrowByMetadata(metadata);
    }
    if (filter.traceIds !== undefined) narrowByIds(filter.traceIds, columns.ids('traceId'), narrow);
    if (filter.spanIds !== undefined) narrowByIds(filter.spanIds, columns.ids('spanId'), narrow);
    if (filter.weightedFeedback !== undefined) {
      const { min = -Infinity, max = Infinity } = filter.weightedFeedback;
      narrow((index) => {
        const items = this.feedback.get(traceKeyAt(columns, index));
        if (items === undefined) return false;
        const mean = weightedSum(items) / items.length;
        return mean >= min && mean <= max;
      });
    }
    return places.subarray(0, left);
  }

  #hasMetadata(metadata: string): boolean {
    if (!metadata.includes('\\') && this.#metadata.some(([, value]) => !metadata.includes(textIn(value) ?? ''))) return false;
    const members = metadataOf(metadata);
    return this.#metadata.every(([name, value]) => Object.hasOwn(members, name) ? members[name] === value : value === '');
  }
}

function narrowByIds(wanted: readonly string[], ids: readonly string[], narrow: (isKept: (index: number) => boolean) => void): void {
  const among = new Set(wanted);
  narrow((index) => among.has(ids[index] ?? ''));
}

/** `organisationId`, `workspaceId` and `traceId` have to be there. */
export function traceKeyAt(columns: Columns, index: number): string {
  const [organisation, workspace] = [columns.words('organisationId'), columns.words('workspaceId')];
  return traceKey({
    organisationId: organisation.words[organisation.codes[index] as number] ?? '', workspaceId: workspace.words[workspace.codes[index] as number] ?? '', traceId: columns.ids('traceId')[index] ?? '',
  });
}

export const weightedSum = (items: readonly Feedback[]): number => items.reduce((sum, { value, weight }) => sum + value * weight, 0);
