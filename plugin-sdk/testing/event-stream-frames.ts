import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { Json } from '../src/shared.js';

/** One message of AWS's binary event stream; all its headers are texts. */
export interface Frame {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; bytes in it are base64 as the API documents. */
  readonly payload: Json;
}

const textHeader = 7;

/**
 * A frame as bytes: total length, header length, CRC of these eight bytes, headers, payload, CRC of all before it; big-endian.
 * Source: Amazon Transcribe developer guide, "Event stream encoding".
 */
export function encodeFrame(frame: Frame): Buffer {
  const headers = Buffer.concat(Object.entries(frame.headers).map(([name, value]) => {
    const text = Buffer.from(value);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(text.length);
    return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([textHeader]), length, text]);
  }));
  const payload = Buffer.from(JSON.stringify(frame.payload));
  const bytes = Buffer.alloc(16 + headers.length + payload.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(headers.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  headers.copy(bytes, 12);
  payload.copy(bytes, 12 + headers.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, bytes.length - 4)), bytes.length - 4);
  return bytes;
}
