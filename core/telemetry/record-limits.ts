// Hot: runs for each call.
// The room of a log record. Its texts come from the head of a request, from configs and from providers: each is cut where it is longer than a
// record has room for, so that one call cannot fill the queue, a batch or the store.

import type { LogBodies, LogRecord } from '@gateway/plugin-sdk';

/** Most bytes of UTF-8 of each text. Numbers, and words of our own, are as long as they are. */
export const recordBytesMax = {
  traceId: 256, spanId: 256, parentSpanId: 256, spanName: 1024, method: 32, path: 2048, provider: 128, model: 512, targetPath: 1024, finishReason: 128,
  metadata: 16_384, hookResults: 65_536, decision: 32_768,
} as const satisfies Partial<Record<keyof LogRecord, number>>;
/** The same for each text of a caller whom no key names. */
export const refusedBytesMax = 256;

/** Texts of this many UTF-16 units have room wherever they stand: each takes at most 3 bytes. */
const shortChars = 85;
const wordChars = 42;

type Text = keyof typeof recordBytesMax;
const texts = Object.keys(recordBytesMax).filter((name): name is Text => Object.hasOwn(recordBytesMax, name));

/** The size of a record beside its texts: numbers, names, the object. */
const fixedBytes = 512;

/** An estimate from above for text of one byte a character, which heads are; records of several threads and queues are weighed alike. */
export function bytesOfRecord(record: LogRecord): number {
  return fixedBytes + record.traceId.length + record.spanId.length + record.parentSpanId.length + record.spanName.length + record.path.length
    + record.model.length + record.targetPath.length + record.metadata.length * 2 + (record.hookResults.length + record.decision.length) * 2
    + (record.bodies === null ? 0 : bytesOfBodies(record.bodies));
}

const bytesOfBodies = (bodies: LogBodies): number =>
  bodies.requestHeaders.length + bodies.request.length + bodies.upstreamUrl.length + bodies.upstreamHeaders.length + bodies.upstreamRequest.length + bodies.upstreamResponse.length
  + bodies.responseHeaders.length + bodies.response.length;

/** The record itself where all of it has room, as nearly always. */
export function limitRecord(record: LogRecord, isRefused: boolean): LogRecord {
  if (!isRefused && isShort(record)) return record;
  let cut: Partial<Record<Text, string>> | null = null;
  for (let index = 0; index < texts.length; index += 1) {
    const name = texts[index] as Text;
    const maximum = isRefused ? refusedBytesMax : recordBytesMax[name];
    // A UTF-16 unit takes at most 3 bytes.
    if (record[name].length * 3 <= maximum) continue;
    const text = cutText(record[name], maximum);
    if (text === record[name]) continue;
    cut ??= {};
    cut[name] = text;
  }
  return cut === null ? record : { ...record, ...cut };
}

/** Short enough whatever its characters are, as nearly every record is. Written out, because a loop over names is several times slower. */
const isShort = ({ traceId, spanId, parentSpanId, spanName, method, path, provider, model, targetPath, finishReason, metadata, hookResults, decision }: LogRecord): boolean =>
  traceId.length <= shortChars && spanId.length <= shortChars && parentSpanId.length <= shortChars && spanName.length <= shortChars && path.length <= shortChars
  && provider.length <= wordChars && model.length <= shortChars && targetPath.length <= shortChars && finishReason.length <= wordChars && method.length <= 10
  && metadata.length <= 4096 && hookResults.length <= 4096
  && decision.length <= 4096;

/** At most `maximum` bytes of UTF-8, whole characters, with a mark at the end when something is missing; never a view of the longer text. */
function cutText(text: string, maximum: number): string {
  if (text.length <= maximum && Buffer.byteLength(text) <= maximum) return text;
  const room = maximum - Buffer.byteLength(mark);
  // No unit takes less than a byte: what lies behind has no room.
  const bytes = Buffer.from(text.slice(0, room));
  let end = Math.min(bytes.length, room);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}${mark}`;
}

const mark = '…';
