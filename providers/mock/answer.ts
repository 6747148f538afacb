// An answer before it is played: status, media type and the pieces of its body, made one at a time.

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly pieces: Iterator<Uint8Array>;
}

export const json = (status: number, value: unknown): Answer => ({ status, type: 'application/json', pieces: [Buffer.from(JSON.stringify(value))].values() });

export const bytes = (type: string, value: Uint8Array): Answer => ({ status: 200, type, pieces: [value].values() });

/** Server-sent events, one to a piece. */
export const events = (texts: Iterable<string>): Answer => ({ status: 200, type: 'text/event-stream; charset=utf-8', pieces: encoded(texts) });

/** An error in OpenAI's shape. */
export const failure = (status: number, message: string, code: string, param: string | null = null): Answer =>
  json(status, { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param, code } });

export const refusal = (param: string, reason: string): Answer => failure(400, `${param}: ${reason}`, 'invalid_value', param);

function* encoded(texts: Iterable<string>): Generator<Uint8Array> {
  for (const text of texts) yield Buffer.from(`data: ${text}\n\n`);
}

/** The same bytes in pieces of `size`. */
export function* recut(pieces: Iterator<Uint8Array>, size: number): Generator<Uint8Array> {
  for (let step = pieces.next(); step.done !== true; step = pieces.next()) {
    for (let at = 0; at < step.value.length; at += size) yield step.value.subarray(at, at + size);
  }
}
