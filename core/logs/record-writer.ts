// Hot: runs for each call.
// Writes an exchange that has ended as a record into the ring of its thread, for the log thread (record-layout.ts). Nothing is made that outlives the
// call: numbers go out as numbers, ids as bytes, texts that come back as numbers of the dictionary. Texts longer than a record may
// have are cut here roughly, and exactly where they are read.

import type { DecisionLog, LimitNote } from '../exchange/decision-log.js';
import type { Exchange, ExchangePrincipal, StoredPromptName } from '../exchange/exchange.js';
import type { KeptBodies } from '../exchange/kept-bodies.js';
import type { LeftTarget } from '../exchange/left-target.js';
import type { Usage } from '../exchange/usage.js';
import type { Admission } from '../telemetry/admission.js';
import type { FaultReport } from '../telemetry/fault-report.js';
import { recordBytesMax, refusedBytesMax } from '../telemetry/record-limits.js';
import { DictionaryWriter, inline } from './dictionary.js';
import { packHex, packUuid } from './id-bytes.js';
import { at, bodyTag, fixedBytes, flag, idForm, limitAt, limitBytes, limitsAt, more, moreBytes, recordFormat, tag } from './record-layout.js';
import { RingWriter, type RingMemory } from './ring.js';
import type { KeptText } from '../telemetry/kept-text.js';
import { textBytesMax, writeText, writeUtf8 } from './text.js';

const formatWord = (fixedBytes << 16) | recordFormat;
const formatWordWithMore = ((fixedBytes + moreBytes) << 16) | recordFormat;
/** Texts without a place in the dictionary in one record at the most: all that have a tag. */
const textsMax = Object.keys(tag).length;

export interface RecordWriterOptions {
  /** Which records of callers without a key are taken. */
  readonly admission: Admission;
  /** Told of each record that found no room. */
  readonly dropped: Pick<FaultReport, 'add'>;
  /** Told of each record that had to go without its bodies. */
  readonly bodiesDropped: Pick<FaultReport, 'add'>;
  /** Says where that was. */
  readonly name: string;
}

/** A text that is often the one of the call before. */
class Repeated {
  text = '';
  number = 0;
}

export class RecordWriter {
  readonly #memory: RingMemory;
  readonly #ring: RingWriter;
  readonly #dictionary: DictionaryWriter;
  readonly #options: RecordWriterOptions;
  #principal: ExchangePrincipal | null = null;
  readonly #organisationId = new Repeated();
  readonly #workspaceId = new Repeated();
  readonly #keyId = new Repeated();
  readonly #endpoint = new Repeated();
  readonly #method = new Repeated();
  readonly #provider = new Repeated();
  readonly #model = new Repeated();
  readonly #targetPath = new Repeated();
  readonly #errorCode = new Repeated();
  readonly #cacheStatus = new Repeated();
  readonly #finishReason = new Repeated();
  readonly #configId = new Repeated();
  readonly #configVersionId = new Repeated();
  readonly #providerSlug = new Repeated();
  /** The texts of the record that is being written, with their tags. */
  readonly #texts: string[] = Array.from({ length: textsMax }, () => '');
  readonly #tags = new Uint8Array(textsMax);
  #count = 0;
  /** What the record may take with the texts that it has so far. */
  #bytesMax = 0;

  constructor(memory: RingMemory, options: RecordWriterOptions) {
    this.#memory = memory;
    this.#ring = new RingWriter(memory);
    this.#dictionary = new DictionaryWriter(memory);
    this.#options = options;
  }

  /** `usage`: what the answer said about itself; null when there was none. `left`: the record is of this target of it; null: of the whole, as it ended. */
  write(exchange: Exchange, usage: Usage | null, left: LeftTarget | null = null): void {
    const { principal } = exchange;
    const isRefused = principal.keyId === '';
    if (isRefused && !this.#options.admission.takes(exchange.errorCode)) return;
    const tookMs = left === null ? performance.now() - exchange.startedAt : left.tookMs;
    const { head } = exchange;
    const asked = exchange.parsed === undefined ? exchange.model : exchange.parsed.model;
    const model = usage !== null && usage.model !== '' ? usage.model : typeof asked === 'string' ? asked : '';
    const hookResults = left !== null ? left.hookResults : exchange.hooks === null ? '' : exchange.hooks.logged();
    const hasMore = exchange.saved !== 0 || (usage !== null && countsMore(usage));
    const limits = recordBytesMax;

    if (this.#dictionary.isFull && this.#ring.isEmpty()) this.#clearDictionary();
    this.#count = 0;
    this.#bytesMax = hasMore ? fixedBytes + moreBytes : fixedBytes;
    if (principal !== this.#principal) this.#changePrincipal(principal);
    this.#again(this.#organisationId, tag.organisationId);
    this.#again(this.#workspaceId, tag.workspaceId);
    this.#again(this.#keyId, tag.keyId);
    this.#repeated(this.#endpoint, exchange.route.name, tag.endpoint);
    this.#repeated(this.#method, this.#cut(head.method, limits.method, isRefused), tag.method);
    this.#repeated(this.#provider, this.#cut(left === null ? exchange.provider : left.provider, limits.provider, isRefused), tag.provider);
    this.#repeated(this.#model, this.#cut(model, limits.model, isRefused), tag.model);
    this.#repeated(this.#targetPath, this.#cut(left === null ? exchange.targetPath : left.targetPath, limits.targetPath, isRefused), tag.targetPath);
    this.#repeated(this.#errorCode, left === null ? exchange.errorCode : left.errorCode, tag.errorCode);
    this.#repeated(this.#cacheStatus, exchange.cacheStatus, tag.cacheStatus);
    this.#repeated(this.#finishReason, usage === null ? '' : this.#cut(usage.finishReason, limits.finishReason, isRefused), tag.finishReason);
    const config = exchange.storedConfig;
    this.#repeated(this.#configId, config === null ? '' : config.id, tag.configId);
    this.#repeated(this.#configVersionId, config === null ? '' : config.versionId, tag.configVersionId);
    this.#repeated(this.#providerSlug, left === null ? exchange.providerSlug : left.providerSlug, tag.providerSlug);
    const { prompt } = exchange;
    if (prompt !== null) this.#prompt(prompt);
    if (head.spanName !== undefined) this.#text(this.#cut(head.spanName, limits.spanName, isRefused), tag.spanName);
    this.#text(this.#cut(head.path, limits.path, isRefused), tag.path);
    const metadata = exchange.metadataText;
    if (metadata !== undefined) this.#text(this.#cut(metadata, limits.metadata, isRefused), tag.metadata);
    if (hookResults !== '') this.#text(this.#cut(hookResults, limits.hookResults, isRefused), tag.hookResults);
    const decisions = left === null && exchange.decisions !== null ? this.#decided(exchange.decisions, isRefused) : null;
    const traceId = this.#cut(exchange.traceId, limits.traceId, isRefused);
    const spanId = this.#cut(left === null ? exchange.spanId : left.spanId, limits.spanId, isRefused);
    const parentSpanId = this.#cut(left === null ? exchange.parentSpanId : exchange.spanId, limits.parentSpanId, isRefused);
    // Most go out as bytes; as texts they have to have room.
    const bodies = left === null && exchange.kept !== null ? this.#bodiesOf(exchange.kept) : null;
    const bytesMax = this.#bytesMax + (bodies === null ? 0 : bytesOfBodies(bodies)) + textBytesMax(traceId) + textBytesMax(spanId) + textBytesMax(parentSpanId);

    const start = this.#ring.begin(bytesMax);
    if (start === -1) {
      this.#options.dropped.add(this.#options.name, 'the log thread does not keep up');
      return;
    }
    const { bytes, words, doubles, shorts } = this.#memory;
    const word = start >> 2;
    if (left === null) {
      words[word + at.id / 4] = exchange.idWord0;
      words[word + at.id / 4 + 1] = exchange.idWord1;
      words[word + at.id / 4 + 2] = exchange.idWord2;
      words[word + at.id / 4 + 3] = exchange.idWord3;
    } else {
      packUuid(bytes, start + at.id, left.id);
    }
    let forms = idForm.uuid << flag.idShift;
    forms |= (left === null && traceId === exchange.id ? idForm.same : this.#id(traceId, start + at.traceId, tag.traceId)) << flag.traceIdShift;
    if (left === null && exchange.hasOwnSpan) {
      words[word + at.spanId / 4] = exchange.spanWord0;
      words[word + at.spanId / 4 + 1] = exchange.spanWord1;
      forms |= idForm.hex << flag.spanIdShift;
    } else {
      forms |= this.#span(spanId, start + at.spanId, tag.spanId) << flag.spanIdShift;
    }
    forms |= this.#span(parentSpanId, start + at.parentSpanId, tag.parentSpanId) << flag.parentSpanIdShift;
    words[word + at.format / 4] = hasMore ? formatWordWithMore : formatWord;
    forms |= (exchange.isStream ? flag.isStream : 0) | (hasMore ? flag.hasMore : 0) | (bodies === null ? 0 : flag.hasBodies);
    if (left === null) forms |= (endingNumber(exchange.ending) << flag.endedShift) | (exchange.isPriced ? flag.isPriced : 0);
    else forms |= (endingNumber(left.ending) << flag.endedShift) | flag.isLeft;
    words[word + at.flags / 4] = forms;
    words[word + at.status / 4] = left === null ? exchange.status : left.status;
    words[word + at.generation / 4] = this.#dictionary.generation;
    const double = start >> 3;
    doubles[double + at.startedAtMs / 8] = left === null ? exchange.startedAtMs : exchange.startedAtMs + (left.startedAt - exchange.startedAt);
    doubles[double + at.firstByteMs / 8] = left !== null || exchange.firstByteAt === 0 ? -1 : exchange.firstByteAt - exchange.startedAt;
    doubles[double + at.tookMs / 8] = tookMs;
    doubles[double + at.upstreamMs / 8] = left === null ? exchange.upstreamMs : left.upstreamMs;
    doubles[double + at.inputTokens / 8] = usage === null ? -1 : usage.inputTokens;
    doubles[double + at.outputTokens / 8] = usage === null ? -1 : usage.outputTokens;
    doubles[double + at.totalTokens / 8] = usage === null ? -1 : usage.totalTokens;
    doubles[double + at.cachedTokens / 8] = usage === null ? -1 : usage.cachedTokens;
    doubles[double + at.reasoningTokens / 8] = usage === null ? -1 : usage.reasoningTokens;
    doubles[double + at.requestBytes / 8] = exchange.requestBytes;
    doubles[double + at.responseBytes / 8] = left === null ? exchange.responder.bytesSent : 0;
    doubles[double + at.price / 8] = left === null ? exchange.cost : -1;
    if (hasMore) this.#writeMore(double, usage, left === null ? exchange.saved : 0);
    const short = start >> 1;
    shorts[short + at.attempts / 2] = left === null ? exchange.attempts : left.attempts;
    shorts[short + at.targetIndex / 2] = left === null ? exchange.targetIndex : left.targetIndex;
    shorts[short + at.retries / 2] = left === null ? exchange.retries : left.retries;
    shorts[short + at.organisationId / 2] = this.#organisationId.number;
    shorts[short + at.workspaceId / 2] = this.#workspaceId.number;
    shorts[short + at.keyId / 2] = this.#keyId.number;
    shorts[short + at.endpoint / 2] = this.#endpoint.number;
    shorts[short + at.method / 2] = this.#method.number;
    shorts[short + at.provider / 2] = this.#provider.number;
    shorts[short + at.model / 2] = this.#model.number;
    shorts[short + at.targetPath / 2] = this.#targetPath.number;
    shorts[short + at.errorCode / 2] = this.#errorCode.number;
    shorts[short + at.cacheStatus / 2] = this.#cacheStatus.number;
    shorts[short + at.finishReason / 2] = this.#finishReason.number;
    shorts[short + at.configId / 2] = this.#configId.number;
    shorts[short + at.configVersionId / 2] = this.#configVersionId.number;
    shorts[short + at.providerSlug / 2] = this.#providerSlug.number;
    shorts[short + at.textCount / 2] = bodies === null ? this.#count : this.#count + countOfBodies(bodies);
    let end = start + (hasMore ? fixedBytes + moreBytes : fixedBytes);
    if (decisions !== null && decisions.limits !== null) {
      end = this.#writeLimits(decisions.limits, decisions.limitsAt, end);
      words[word + at.format / 4] = ((end - start) << 16) | recordFormat;
      words[word + at.flags / 4] = forms | flag.hasLimits;
    }
    for (let index = 0; index < this.#count; index += 1) {
      end = writeText(bytes, words, end, this.#tags[index] as number, this.#texts[index] as string);
      // Nothing of the call is kept.
      this.#texts[index] = '';
    }
    if (bodies !== null) end = this.#writeBodies(bodies, end);
    this.#ring.end(end - start);
  }

  /** Decisions whose limits go out as numbers; null: all of them go out as text. */
  #decided(decisions: DecisionLog, isRefused: boolean): DecisionLog | null {
    const { limits } = decisions;
    if (limits === null || isRefused || !this.#knows(limits)) {
      this.#text(this.#cut(decisions.logged(), recordBytesMax.decision, isRefused), tag.decision);
      return null;
    }
    this.#bytesMax += limitsAt.first + limits.length * limitBytes;
    this.#text(decisions.others, tag.decision);
    return decisions;
  }

  /** The dictionary has room for all of them. */
  #knows(limits: readonly LimitNote[]): boolean {
    for (let index = 0; index < limits.length; index += 1) {
      const { told } = (limits[index] as LimitNote).spec;
      if (told === null || this.#dictionary.numberOfKept(told) === inline) return false;
    }
    return true;
  }

  #writeLimits(limits: readonly LimitNote[], position: number, from: number): number {
    const { doubles } = this.#memory;
    doubles[(from + limitsAt.count) >> 3] = limits.length;
    doubles[(from + limitsAt.position) >> 3] = position;
    let end = from + limitsAt.first;
    for (let index = 0; index < limits.length; index += 1) {
      const { spec, before, amount } = limits[index] as LimitNote;
      doubles[(end + limitAt.told) >> 3] = (spec.told as KeptText).number;
      doubles[(end + limitAt.before) >> 3] = before;
      doubles[(end + limitAt.after) >> 3] = before + amount;
      end += limitBytes;
    }
    return end;
  }

  /** Null: nothing was kept, or there is no room for it. */
  #bodiesOf(kept: KeptBodies): readonly Uint8Array[] | null {
    const bodies = kept.finish();
    if (this.#ring.leavesRoom(this.#bytesMax + bytesOfBodies(bodies))) return bodies;
    this.#options.bodiesDropped.add(this.#options.name, 'the log thread does not keep up');
    return null;
  }

  #writeBodies(bodies: readonly Uint8Array[], from: number): number {
    const { bytes, words } = this.#memory;
    let end = from;
    for (let index = 0; index < bodies.length; index += 1) {
      const same = sameAs(bodies, index);
      if (same !== 0) end = writeUtf8(bytes, words, end, same, noBody);
      else if ((bodies[index] as Uint8Array).length > 0) end = writeUtf8(bytes, words, end, bodyTag.first + index, bodies[index] as Uint8Array);
    }
    return end;
  }

  #writeMore(double: number, usage: Usage | null, saved: number): void {
    const { doubles } = this.#memory;
    doubles[double + more.cacheWriteTokens / 8] = usage === null ? -1 : usage.cacheWriteTokens;
    doubles[double + more.inputAudioTokens / 8] = usage === null ? -1 : usage.inputAudioTokens;
    doubles[double + more.inputImageTokens / 8] = usage === null ? -1 : usage.inputImageTokens;
    doubles[double + more.outputAudioTokens / 8] = usage === null ? -1 : usage.outputAudioTokens;
    doubles[double + more.outputImageTokens / 8] = usage === null ? -1 : usage.outputImageTokens;
    doubles[double + more.saved / 8] = saved;
  }

  /** No record will follow. */
  close(): void {
    this.#ring.close();
  }

  #prompt({ slug, id, versionId }: StoredPromptName): void {
    this.#text(slug, tag.promptSlug);
    this.#text(id, tag.promptId);
    this.#text(versionId, tag.promptVersionId);
  }

  /** At most so much that the reader sees that it has to be cut, and where: no unit takes less than a byte. */
  #cut(text: string, bytesMax: number, isRefused: boolean): string {
    const maximum = isRefused ? refusedBytesMax : bytesMax;
    return text.length > maximum ? text.slice(0, maximum + 1) : text;
  }

  #text(text: string, tagNumber: number): void {
    if (text === '') return;
    this.#texts[this.#count] = text;
    this.#tags[this.#count] = tagNumber;
    this.#count += 1;
    this.#bytesMax += textBytesMax(text);
  }

  #repeated(entry: Repeated, text: string, tagNumber: number): void {
    if (text !== entry.text) {
      entry.text = text;
      entry.number = this.#dictionary.numberOf(text);
    }
    this.#again(entry, tagNumber);
  }

  #again(entry: Repeated, tagNumber: number): void {
    if (entry.number === inline) this.#text(entry.text, tagNumber);
  }

  #changePrincipal(principal: ExchangePrincipal): void {
    this.#principal = principal;
    this.#remember(this.#organisationId, principal.organisationId);
    this.#remember(this.#workspaceId, principal.workspaceId);
    this.#remember(this.#keyId, principal.keyId);
  }

  #remember(entry: Repeated, text: string): void {
    entry.text = text;
    entry.number = this.#dictionary.numberOf(text);
  }

  #id(id: string, offset: number, tagNumber: number): number {
    if (packUuid(this.#memory.bytes, offset, id)) return idForm.uuid;
    if (packHex(this.#memory.bytes, offset, id, 16)) return idForm.hex;
    this.#text(id, tagNumber);
    return idForm.text;
  }

  #span(id: string, offset: number, tagNumber: number): number {
    if (id === '') return idForm.text;
    if (packHex(this.#memory.bytes, offset, id, 8)) return idForm.hex;
    this.#text(id, tagNumber);
    return idForm.text;
  }

  #clearDictionary(): void {
    this.#dictionary.clear();
    this.#principal = null;
    this.#forget(this.#endpoint);
    this.#forget(this.#method);
    this.#forget(this.#provider);
    this.#forget(this.#model);
    this.#forget(this.#targetPath);
    this.#forget(this.#errorCode);
    this.#forget(this.#configId);
    this.#forget(this.#configVersionId);
    this.#forget(this.#providerSlug);
    this.#forget(this.#cacheStatus);
    this.#forget(this.#finishReason);
  }

  #forget(entry: Repeated): void {
    entry.text = '';
    entry.number = 0;
  }
}

const noBody = new Uint8Array(0);

/** The tag that says that a body is the one three before it, or two: both requests, or both answers. 0: it is not. */
function sameAs(bodies: readonly Uint8Array[], index: number): number {
  const before = index === 4 ? bodies[1] : index === 7 ? bodies[5] : undefined;
  const body = bodies[index];
  if (before === undefined || body === undefined || body.length === 0 || body.length !== before.length || Buffer.compare(body, before) !== 0) return 0;
  return index === 4 ? bodyTag.sameRequest : bodyTag.sameResponse;
}

/** From above. */
function bytesOfBodies(bodies: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const body of bodies) bytes += body.length + 8;
  return bytes;
}

function countOfBodies(bodies: readonly Uint8Array[]): number {
  let count = 0;
  for (const body of bodies) if (body.length > 0) count += 1;
  return count;
}

/** Kinds of tokens that few answers have. */
const countsMore = (usage: Usage): boolean =>
  usage.cacheWriteTokens !== -1 || usage.inputAudioTokens !== -1 || usage.inputImageTokens !== -1 || usage.outputAudioTokens !== -1 || usage.outputImageTokens !== -1;
const endingNumber = (ending: Exchange['ending']): number => (ending === 'complete' ? 0 : ending === 'client' ? 1 : ending === 'upstream' ? 2 : 3);
