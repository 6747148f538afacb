import { ByteCollector, ProviderError, type FrameDecoder, type Framing, type SseEvent } from '@gateway/plugin-sdk';
import { EventStreamCodec } from '@smithy/eventstream-codec';

const frameBytesMin = 16;
const frameBytesMax = 24 * 1024 * 1024;
const lengthBytes = 4;

/** The name of the event that stands for an exception or error frame; its data is `{ type, message, ... }`. */
const exceptionEvent = ':exception';

/** AWS's binary event stream: each frame is an event, named by its `:event-type`, with the payload as data. */
export const eventStream: Framing = { contentType: 'application/vnd.amazon.eventstream', decoder: () => new EventStreamDecoder() };

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

const codec = new EventStreamCodec((bytes) => (typeof bytes === 'string' ? bytes : textOf(bytes)), (text) => Buffer.from(text, 'utf8'));

class EventStreamDecoder implements FrameDecoder {
  /** Less than a frame; joined only when the frame is whole, so that a large frame is copied once. */
  readonly #begun = new ByteCollector();
  #wanted = lengthBytes;

  push(chunk: Uint8Array, emit: (event: SseEvent) => void): void {
    let bytes = chunk;
    if (this.#begun.length > 0) {
      this.#begun.append(chunk);
      if (this.#begun.length < this.#wanted) return;
      bytes = this.#begun.take();
    }
    let from = 0;
    this.#wanted = lengthBytes;
    while (bytes.byteLength - from >= lengthBytes) {
      const length = frameLength(bytes, from);
      if (bytes.byteLength - from < length) {
        this.#wanted = length;
        break;
      }
      emitFrame(bytes.subarray(from, from + length), emit);
      from += length;
    }
    this.#begun.append(bytes.subarray(from));
  }

  end(): void {
    if (this.#begun.length > 0) throw new Error(`the event stream ended ${this.#begun.length} bytes into a frame`);
  }
}

function frameLength(bytes: Uint8Array, from: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset + from, lengthBytes).getUint32(0, false);
  if (length < frameBytesMin || length > frameBytesMax) throw new Error(`a frame of the event stream says it is ${length} bytes long`);
  return length;
}

function emitFrame(frame: Uint8Array, emit: (event: SseEvent) => void): void {
  // Checks both checksums, and throws when one is wrong.
  const { headers, body } = codec.decode(frame);
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return value?.type === 'string' ? value.value : undefined;
  };
  switch (header(':message-type')) {
    case 'exception':
      emit({ event: exceptionEvent, data: JSON.stringify({ message: textOf(body), ...parsed(body), type: header(':exception-type') ?? 'exception' }) });
      return;
    case 'error':
      emit({ event: exceptionEvent, data: JSON.stringify({ message: header(':error-message') ?? textOf(body), type: header(':error-code') ?? 'error' }) });
      return;
    default:
      emit({ event: header(':event-type'), data: textOf(body) });
  }
}

/** The members of an exception's payload; none when it is not a JSON object. */
function parsed(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(textOf(body));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    const { Message: message, ...rest } = value as Record<string, unknown>;
    return message === undefined ? rest : { message, ...rest };
  } catch {
    return {};
  }
}

const statuses: ReadonlyMap<string, number> = new Map([
  ['throttlingexception', 429], ['servicequotaexceededexception', 400], ['validationexception', 400], ['accessdeniedexception', 403],
  ['resourcenotfoundexception', 404], ['modeltimeoutexception', 408], ['modelerrorexception', 424], ['modelstreamerrorexception', 424],
  ['modelnotreadyexception', 429], ['internalserverexception', 500], ['serviceunavailableexception', 503],
]);

/** The error that an exception frame tells of; undefined when the event is an ordinary one. */
export function exceptionError(event: SseEvent): ProviderError | undefined {
  if (event.event !== exceptionEvent) return undefined;
  const { type, message } = JSON.parse(event.data) as { readonly type: string; readonly message: unknown };
  const text = typeof message === 'string' && message !== '' ? message : `the provider broke the stream off with ${type}`;
  return new ProviderError(text, { status: statuses.get(type.toLowerCase()), type });
}
