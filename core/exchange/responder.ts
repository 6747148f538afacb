// What the pipeline knows of the client's side: an interface, so that it runs in tests without a socket.

/** A flat list: name, value, name, value. Each character of a value is one byte on the wire (0 to 255), as the HTTP client gives them. */
export type HeaderList = string[];

export interface DrainListener {
  onDrain(): void;
}

export interface Responder {
  /** False once the client left or the answer ended. */
  readonly isOpen: boolean;
  /** True once a byte of the answer is on its way: no retry is possible any more. */
  readonly isStarted: boolean;
  /** Bytes of body handed to the client so far. */
  readonly bytesSent: number;
  /** Told when a write said false and there is room again. */
  drainListener: DrainListener | null;
  /** As text; empty when the client has left. Absent: nobody knows. */
  clientAddress?(): string;
  /** A whole answer at once. */
  send(status: number, headers: HeaderList, body: Uint8Array | string): void;
  /** Begins a relayed answer. `bodyBytes` is its announced length, -1 when unknown. */
  start(status: number, headers: HeaderList, bodyBytes: number): void;
  /** False: no more until the listener is told. The chunk is taken either way. */
  write(chunk: Uint8Array): boolean;
  end(): void;
  /** Cuts the connection so that the client sees the answer is not whole. */
  abort(): void;
}
