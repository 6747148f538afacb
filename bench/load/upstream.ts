// The fake provider of the load bench, a process of its own. Raw node:net and canned answers, so that
// it costs less for each request than any proxy in front of it. Prints {"port":N} when it listens,
// answers GET /bench/stats with its counters, and ends when its standard input closes.
import { createServer, type Socket } from 'node:net';
import { makeRecipe, type AnswerKind, type Recipe } from './recipe.js';
import { SentStream, StreamWheel, type Counters } from './stream-wheel.js';

const headBytesMax = 256 * 1024;
const prefixBytesMax = 2048;
const recipesMax = 256;

const counters: Counters = { requests: 0, eventsSent: 0, streamsOpened: 0, streamsEnded: 0, streamsAbandoned: 0 };
const wheel = new StreamWheel(counters);
const recipes: Readonly<Record<AnswerKind, Map<string, Recipe>>> = { chat: new Map(), embeddings: new Map(), models: new Map() };

function recipeFor(kind: AnswerKind, model: string): Recipe {
  const known = recipes[kind];
  let recipe = known.get(model);
  if (recipe === undefined) {
    recipe = makeRecipe(kind, model);
    if (known.size >= recipesMax) known.clear();
    known.set(model, recipe);
  }
  return recipe;
}

class Connection {
  #carry: Buffer | null = null;
  #isInBody = false;
  #isChunked = false;
  #bodyLength = 0;
  #bodyLeft = 0;
  #lastHead: Buffer | null = null;
  /** The first bytes of the body, kept until `model` is known. */
  #prefix: Buffer | null = null;
  #model: string | null = null;
  #chunkedTail = '';
  #kind: AnswerKind = 'chat';
  #path = '';
  #mustClose = false;
  #stream: SentStream | null = null;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('drain', () => {
      if (this.#stream !== null) wheel.resume(this.#stream);
    });
    // A reset by the peer is an ordinary end here; 'close' follows and does the accounting.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (this.#stream !== null) wheel.abandon(this.#stream);
    });
  }

  #onData(received: Buffer): void {
    let chunk = received;
    if (this.#carry !== null) {
      chunk = Buffer.concat([this.#carry, received]);
      this.#carry = null;
    }
    let offset = 0;
    while (offset < chunk.length) {
      if (!this.#isInBody) {
        const end = chunk.indexOf('\r\n\r\n', offset, 'latin1');
        if (end < 0) {
          if (chunk.length - offset > headBytesMax) this.#socket.destroy();
          else this.#carry = chunk.subarray(offset);
          return;
        }
        // A proxy sends the same head again and again over one connection; it is read once.
        if (this.#lastHead === null || chunk.compare(this.#lastHead, 0, this.#lastHead.length, offset, end) !== 0) {
          this.#readHead(chunk.toString('latin1', offset, end));
          this.#lastHead = Buffer.from(chunk.subarray(offset, end));
        }
        this.#startBody();
        offset = end + 4;
        if (!this.#isInBody) this.#respond();
      } else {
        const end = this.#isChunked ? chunk.length : Math.min(chunk.length, offset + this.#bodyLeft);
        this.#readBody(offset === 0 && end === chunk.length ? chunk : chunk.subarray(offset, end));
        offset = end;
      }
    }
  }

  #readHead(head: string): void {
    const pathStart = head.indexOf(' ') + 1;
    this.#path = head.slice(pathStart, head.indexOf(' ', pathStart));
    this.#kind = this.#path.includes('/embeddings') ? 'embeddings' : head.startsWith('GET ') ? 'models' : 'chat';
    this.#mustClose = /\r\nconnection: close/i.test(head);
    const length = /\r\ncontent-length: ?(\d+)/i.exec(head);
    this.#bodyLength = length === null ? 0 : Number(length[1]);
    this.#isChunked = length === null && /\r\ntransfer-encoding: ?chunked/i.test(head);
  }

  #startBody(): void {
    this.#bodyLeft = this.#bodyLength;
    this.#isInBody = this.#isChunked || this.#bodyLeft > 0;
    this.#prefix = null;
    this.#model = null;
    this.#chunkedTail = '';
  }

  #readBody(piece: Buffer): void {
    if (this.#model === null) {
      const prefix = this.#prefix === null ? piece : Buffer.concat([this.#prefix, piece]);
      this.#model = findModel(prefix);
      this.#prefix = this.#model === null ? Buffer.from(prefix.subarray(0, prefixBytesMax)) : null;
    }
    if (this.#isChunked) {
      // JSON text holds no bare CR LF, so this terminator cannot occur inside the bodies of the bench.
      this.#chunkedTail = (this.#chunkedTail + piece.toString('latin1', Math.max(0, piece.length - 7))).slice(-7);
      if (this.#chunkedTail === '\r\n0\r\n\r\n') this.#isInBody = false;
    } else {
      this.#bodyLeft -= piece.length;
      if (this.#bodyLeft === 0) this.#isInBody = false;
    }
    if (!this.#isInBody) this.#respond();
  }

  #respond(): void {
    if (this.#path === '/bench/stats') {
      const body = JSON.stringify(counters);
      this.#socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    counters.requests++;
    const recipe = recipeFor(this.#kind, this.#model ?? '');
    if (recipe.delayMs > 0) setTimeout(() => this.#answer(recipe), recipe.delayMs);
    else this.#answer(recipe);
  }

  #answer(recipe: Recipe): void {
    if (this.#socket.destroyed) return;
    if (recipe.events > 0) {
      this.#stream = new SentStream(this.#socket, recipe, performance.now());
      wheel.add(this.#stream);
      return;
    }
    if (typeof recipe.opening === 'string') this.#socket.write(recipe.opening, 'latin1');
    else this.#socket.write(recipe.opening);
    if (this.#mustClose) this.#socket.end();
  }
}

function findModel(prefix: Buffer): string | null {
  const at = prefix.indexOf('"model"', 0, 'latin1');
  if (at < 0) return null;
  const start = prefix.indexOf(34, at + 7) + 1;
  const end = start === 0 ? -1 : prefix.indexOf(34, start);
  return end < 0 ? null : prefix.toString('latin1', start, end);
}

const server = createServer({ noDelay: true }, (socket) => {
  new Connection(socket);
});
server.listen({ port: Number(process.env['BENCH_UPSTREAM_PORT'] ?? 0), host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the fake provider has no port');
  process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
});
// The bench that started this process holds the other end; when it dies, so does this.
process.stdin.on('end', () => process.exit(0)).resume();
