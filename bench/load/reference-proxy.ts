// The reference where nginx is not installed: a bare node:http proxy with a keep-alive agent, no
// policies at all. Reads GATEWAY_PORT and BENCH_UPSTREAM_PORT, answers GET /ready, and so can also stand
// in for the gateway (`--gateway "node dist/bench/load/reference-proxy.js"`) to try the harness itself.
import { Agent, createServer, request as openRequest } from 'node:http';

const upstreamPort = Number(process.env['BENCH_UPSTREAM_PORT']);
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 512 });

const server = createServer((request, response) => {
  if (request.url === '/ready') {
    response.end('ready\n');
    return;
  }
  const upstream = openRequest(
    { host: '127.0.0.1', port: upstreamPort, method: request.method, path: request.url, headers: request.headers, agent },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    },
  );
  upstream.on('error', (error) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end(`upstream failed: ${error.message}\n`);
  });
  response.on('close', () => {
    if (!response.writableFinished) upstream.destroy();
  });
  request.pipe(upstream);
});
server.keepAliveTimeout = 60_000;
server.listen({ port: Number(process.env['GATEWAY_PORT']), host: '127.0.0.1', backlog: 4096 });
process.on('SIGTERM', () => process.exit(0));
