// What a relay costs in this runtime before it does anything: uWebSockets.js in front, core's client behind, the body collected, the answer's
// length kept. No key, no plan, no parse, no log. Takes the place of the gateway in `instructions --layers`.
import { loadUws, type UwsResponse } from '../../core/server/uws.js';
import { AddressPolicy } from '../../core/upstream/address-policy.js';
import { Egress } from '../../core/upstream/egress.js';
import { HttpClient } from '../../core/upstream/http/http-client.js';

const timeoutMs = 60_000;
const client = new HttpClient({
  egress: new Egress({ policy: new AddressPolicy(['127.0.0.1']), connectTimeoutMs: timeoutMs }),
  connectionsMax: 4096,
  firstByteTimeoutMs: timeoutMs,
  idleTimeoutMs: timeoutMs,
});
const origin = client.origin(new URL(`http://127.0.0.1:${process.env['BENCH_UPSTREAM_PORT'] ?? ''}`), 'operator');
const isOwn = (name: string): boolean => name === 'content-length' || name === 'transfer-encoding' || name === 'connection' || name === 'keep-alive';

function relay(response: UwsResponse, path: string, body: Buffer): void {
  let isGone = false;
  let length = -1;
  let call: { cancel(): void } | null = null;
  response.onAborted(() => {
    isGone = true;
    call?.cancel();
  });
  call = origin.send({ method: 'POST', path, headers: ['content-type', 'application/json'], body }, {
    onHead: (status, headers) => {
      if (isGone) return;
      response.cork(() => {
        response.writeStatus(`${status} OK`);
        for (let index = 0; index < headers.length; index += 2) {
          const name = headers[index] ?? '';
          const value = headers[index + 1] ?? '';
          if (name === 'content-length') length = Number(value);
          if (!isOwn(name)) response.writeHeader(name, value);
        }
      });
    },
    onChunk: (chunk) => {
      if (isGone) return;
      response.cork(() => {
        if (length >= 0) response.tryEnd(chunk, length);
        else response.write(chunk);
      });
    },
    onEnd: () => {
      if (!isGone && length < 0) response.cork(() => response.end());
    },
    onError: () => {
      if (!isGone) response.close();
    },
  });
}

const app = loadUws(16_384).App();
app.any('/*', (response, request) => {
  const path = request.getUrl();
  if (path === '/ready') {
    response.end('ready\n');
    return;
  }
  const pieces: Buffer[] = [];
  let isGone = false;
  response.onAborted(() => (isGone = true));
  response.onData((piece, isLast) => {
    if (isGone) return;
    // uWebSockets.js takes its buffer back when this returns.
    pieces.push(Buffer.from(Buffer.from(piece)));
    if (isLast) relay(response, path, pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces));
  });
});
app.listen('127.0.0.1', Number(process.env['GATEWAY_PORT']), 0, (socket) => {
  if (socket === false) throw new Error('the port of the relay is taken');
});
process.on('SIGTERM', () => process.exit(0));
