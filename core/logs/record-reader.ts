// Makes the log records that exporters get from those that serving threads wrote into their rings (record-layout.ts). Runs in the log thread.

import type { EndpointName, LogBodies, LogRecord } from '@gateway/plugin-sdk';
import { textOfLimit, withLimits } from '../exchange/decision-log.js';
import { DictionaryReader, inline } from './dictionary.js';
import { readHex, readUuid } from './id-bytes.js';
import { at, bodyTag, endings, fixedBytes, flag, idForm, limitAt, limitBytes, limitsAt, more, moreBytes, tag } from './record-layout.js';
import { RingReader, type RingMemory } from './ring.js';
import { behindText, readText, tagOf } from './text.js';

export class RecordReader {
  readonly #memory: RingMemory;
  readonly #ring: RingReader;
  readonly #dictionary: DictionaryReader;
  /** The texts of the record that is being read, by tag. */
  readonly #texts: string[] = [];

  constructor(memory: RingMemory) {
    this.#memory = memory;
    this.#ring = new RingReader(memory);
    this.#dictionary = new DictionaryReader(memory);
  }

  /** The next record, limited only as far as the writer did it; undefined when there is none. One that cannot be read throws, and is behind us then. */
  read(): LogRecord | undefined {
    const start = this.#ring.peek();
    if (start === -1) return undefined;
    try {
      return this.#recordAt(start);
    } finally {
      this.#ring.next();
    }
  }

  /** Gives the room of what was read back to the writer. */
  giveBack(): void {
    this.#ring.giveBack();
  }

  /** Everything was read, and the writer has ended. */
  get isOver(): boolean {
    return this.#ring.isOver;
  }

  #recordAt(start: number): LogRecord {
    const { words, doubles, shorts } = this.#memory;
    const word = start >> 2;
    const double = start >> 3;
    const short = start >> 1;
    const flags = words[word + at.flags / 4] ?? 0;
    const hasMore = (flags & flag.hasMore) !== 0;
    const number = (offset: number): number => doubles[double + offset / 8] ?? 0;
    this.#dictionary.turnTo(words[word + at.generation / 4] ?? 0);
    this.#readTexts(start);
    const id = this.#id(flags >> flag.idShift, start + at.id, 16, tag.id);
    const traceForm = (flags >> flag.traceIdShift) & 3;
    return {
      id,
      traceId: traceForm === idForm.same ? id : this.#id(traceForm, start + at.traceId, 16, tag.traceId),
      spanId: this.#id(flags >> flag.spanIdShift, start + at.spanId, 8, tag.spanId),
      parentSpanId: this.#id(flags >> flag.parentSpanIdShift, start + at.parentSpanId, 8, tag.parentSpanId),
      spanName: this.#text(tag.spanName),
      organisationId: this.#repeated(start + at.organisationId, tag.organisationId),
      workspaceId: this.#repeated(start + at.workspaceId, tag.workspaceId),
      keyId: this.#repeated(start + at.keyId, tag.keyId),
      // The writer wrote the name of an endpoint.
      endpoint: this.#repeated(start + at.endpoint, tag.endpoint) as EndpointName,
      method: this.#repeated(start + at.method, tag.method),
      path: this.#text(tag.path),
      provider: this.#repeated(start + at.provider, tag.provider),
      model: this.#repeated(start + at.model, tag.model),
      targetPath: this.#repeated(start + at.targetPath, tag.targetPath),
      status: words[word + at.status / 4] ?? 0,
      ended: endings[(flags >> flag.endedShift) & 3] ?? 'complete',
      errorCode: this.#repeated(start + at.errorCode, tag.errorCode),
      isStream: (flags & flag.isStream) !== 0,
      attempts: shorts[short + at.attempts / 2] ?? 0,
      cacheStatus: this.#repeated(start + at.cacheStatus, tag.cacheStatus),
      finishReason: this.#repeated(start + at.finishReason, tag.finishReason),
      inputTokens: number(at.inputTokens),
      outputTokens: number(at.outputTokens),
      totalTokens: number(at.totalTokens),
      cachedTokens: number(at.cachedTokens),
      reasoningTokens: number(at.reasoningTokens),
      requestBytes: number(at.requestBytes),
      responseBytes: number(at.responseBytes),
      startedAtMs: number(at.startedAtMs),
      firstByteMs: number(at.firstByteMs),
      tookMs: number(at.tookMs),
      upstreamMs: number(at.upstreamMs),
      metadata: this.#text(tag.metadata),
      hookResults: this.#text(tag.hookResults),
      configId: this.#repeated(start + at.configId, tag.configId),
      configVersionId: this.#repeated(start + at.configVersionId, tag.configVersionId),
      providerSlug: this.#repeated(start + at.providerSlug, tag.providerSlug),
      promptSlug: this.#text(tag.promptSlug),
      promptId: this.#text(tag.promptId),
      promptVersionId: this.#text(tag.promptVersionId),
      isFinal: (flags & flag.isLeft) === 0,
      targetIndex: shorts[short + at.targetIndex / 2] ?? 0,
      retries: shorts[short + at.retries / 2] ?? 0,
      cacheWriteTokens: hasMore ? number(more.cacheWriteTokens) : -1,
      inputAudioTokens: hasMore ? number(more.inputAudioTokens) : -1,
      inputImageTokens: hasMore ? number(more.inputImageTokens) : -1,
      outputAudioTokens: hasMore ? number(more.outputAudioTokens) : -1,
      outputImageTokens: hasMore ? number(more.outputImageTokens) : -1,
      cost: number(at.price),
      saved: hasMore ? number(more.saved) : 0,
      isPriced: (flags & flag.isPriced) !== 0,
      decision: (flags & flag.hasLimits) === 0 ? this.#text(tag.decision) : this.#decisions(start + (hasMore ? fixedBytes + moreBytes : fixedBytes)),
      bodies: (flags & flag.hasBodies) === 0 ? null : this.#bodies(),
      source: 'call',
    };
  }

  #readTexts(start: number): void {
    const { bytes, words, shorts } = this.#memory;
    this.#texts.length = 0;
    const count = shorts[(start + at.textCount) / 2] ?? 0;
    let offset = start + ((words[(start + at.format) / 4] ?? 0) >>> 16);
    for (let index = 0; index < count; index += 1) {
      this.#texts[tagOf(words, offset)] = readText(bytes, words, offset);
      offset = behindText(words, offset);
    }
  }

  /** As the decisions of a call are told (exchange/decision-log.ts), with what its limits counted. */
  #decisions(start: number): string {
    const { doubles } = this.#memory;
    const number = (offset: number): number => doubles[offset / 8] ?? 0;
    const count = number(start + limitsAt.count);
    let limits = '';
    for (let index = 0; index < count; index += 1) {
      const limit = start + limitsAt.first + index * limitBytes;
      limits += `${index === 0 ? '' : ','}${textOfLimit(this.#dictionary.text(number(limit + limitAt.told)), number(limit + limitAt.before), number(limit + limitAt.after))}`;
    }
    return `[${withLimits(this.#text(tag.decision), number(start + limitsAt.position), limits)}]`;
  }

  #bodies(): LogBodies {
    const text = (index: number): string => this.#text(bodyTag.first + index);
    const request = text(1);
    const upstreamResponse = text(5);
    return {
      requestHeaders: text(0), request, upstreamUrl: text(2), upstreamHeaders: text(3), upstreamRequest: this.#texts[bodyTag.sameRequest] === undefined ? text(4) : request,
      upstreamResponse, responseHeaders: text(6), response: this.#texts[bodyTag.sameResponse] === undefined ? text(7) : upstreamResponse,
    };
  }

  #text(tagNumber: number): string {
    return this.#texts[tagNumber] ?? '';
  }

  #repeated(offset: number, tagNumber: number): string {
    const number = this.#memory.shorts[offset / 2] ?? 0;
    return number === inline ? this.#text(tagNumber) : this.#dictionary.text(number);
  }

  #id(form: number, offset: number, count: number, tagNumber: number): string {
    switch (form & 3) {
      case idForm.hex: return readHex(this.#memory.bytes, offset, count);
      case idForm.uuid: return readUuid(this.#memory.bytes, offset);
      default: return this.#text(tagNumber);
    }
  }
}
