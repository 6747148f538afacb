import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Config } from '../../../../core/config/config.js';
import { fail, type GatewayError } from '../../../../core/errors/gateway-error.js';
import type { Exchange } from '../../../../core/exchange/exchange.js';
import { RetryLoop, type CallEnd } from '../../../../core/pipeline/routing/retry-loop.js';
import type { PipelineServices } from '../../../../core/pipeline/services.js';
import { compilePlan } from '../../../../core/plan/compile.js';
import type { UpstreamOrigin } from '../../../../core/upstream/client.js';
import { exchangeOf, RecordingResponder } from '../../exchange/fakes.js';
import { planServices } from '../../plan/plan-services.js';
import { pipelineServices, ScriptedOrigin, type Scripted } from '../pipeline-fakes.js';

const compileServices = planServices();
after(() => compileServices.upstream.close());

const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}';
const answer = '{"id":"1","choices":[]}';
const ok: Scripted = { status: 200, chunks: [answer] };
const events = ['content-type', 'text/event-stream'];
const reset = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const unreachable = (): GatewayError => fail('UPSTREAM_UNREACHABLE', { host: 'h', reason: 'refused' });
const target = (host: string, more: Partial<Config> = {}): Config => ({ provider: 'openai', custom_host: `https://${host}.example/v1`, ...more }) as Config;
const fallback = (statuses: readonly number[] | undefined, ...targets: readonly Config[]): Config =>
  ({ strategy: { mode: 'fallback', ...(statuses === undefined ? {} : { on_status_codes: statuses }) }, targets }) as Config;

/** What became of a call: what each host was sent, and what the client got. */
interface Outcome {
  readonly exchange: Exchange;
  readonly responder: RecordingResponder;
  readonly origins: Readonly<Record<string, ScriptedOrigin>>;
  readonly loop: RetryLoop;
  /** `finish`, or the code of the error that the client is refused with and its count. */
  readonly ended: Promise<string>;
}

async function start(config: Config, scripts: Readonly<Record<string, readonly Scripted[]>>, isReading = true): Promise<Outcome> {
  const origins = Object.fromEntries(Object.entries(scripts).map(([host, script]) => [host, new ScriptedOrigin(script)]));
  const upstream = { origin: ({ hostname }: URL): UpstreamOrigin => origins[hostname.replace('.example', '')] ?? assert.fail(`no script for ${hostname}`), close: async () => {} };
  const plan = { root: await compilePlan(config, { workspaceId: 'w', provider: undefined, customHost: undefined, digest: 'd' }, { ...compileServices, upstream }).then(({ root }) => root) };
  const responder = new RecordingResponder();
  if (!isReading) responder.write = () => false;
  const exchange = exchangeOf({ body, responder, headers: { 'content-type': 'application/json' } });
  const services: PipelineServices = { ...pipelineServices(), breakers: compileServices.breakers };
  let loop: RetryLoop | null = null;
  const ended = new Promise<string>((resolve) => {
    const end: CallEnd = {
      finish: (given) => { given.isFinished = true; resolve('finish'); },
      refuse: (given, error, retryCount) => { given.isRefused = true; loop?.cancel(); resolve(`${error.code} ${retryCount}`); },
      abandon: () => resolve('abandon'),
      breakOff: (_, thrown) => resolve(`broken off: ${String(thrown)}`),
    };
    loop = new RetryLoop(exchange, plan as never, services, end);
    exchange.running = loop;
    loop.begin(null);
  });
  return { exchange, responder, origins, loop: loop ?? assert.fail('no loop'), ended };
}

const countOf = ({ responder }: Outcome): string | undefined => responder.headers[responder.headers.indexOf('x-gateway-retry-attempt-count') + 1];
const sentTo = ({ origins }: Outcome): Record<string, number> => Object.fromEntries(Object.entries(origins).map(([host, origin]) => [host, origin.sent.length]));

describe('one target', () => {
  it('is asked once when it answers', async () => {
    const call = await start(target('a'), { a: [ok] });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([call.responder.text, call.exchange.attempts, call.exchange.status, countOf(call)], [answer, 1, 200, '0']);
  });

  it('is asked again for statuses of the config, and what it said before goes nowhere', async () => {
    const call = await start(target('a', { retry: { attempts: 2, on_status_codes: [503] } } as Partial<Config>), { a: [{ status: 503, chunks: ['busy'] }, { status: 503, chunks: ['busy'] }, ok] });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([call.responder.text, call.exchange.attempts, countOf(call)], [answer, 3, '2']);
  });

  it('whose tries run out answers with its last, and the count says so', async () => {
    const call = await start(target('a', { retry: { attempts: 1, on_status_codes: [503] } } as Partial<Config>), { a: [{ status: 503, chunks: ['{"first":1}'] }, { status: 503, chunks: ['{"error":{"message":"still","type":"x"}}'] }] });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([call.responder.status, JSON.parse(call.responder.text).error.message, countOf(call)], [503, 'still', '-1']);
  });

  it('is not asked again for other statuses, nor without retries', async () => {
    for (const config of [target('a'), target('a', { retry: { attempts: 5, on_status_codes: [503] } } as Partial<Config>)]) {
      const call = await start(config, { a: [{ status: 500, chunks: ['{"error":{"message":"no","type":"x"}}'] }] });
      assert.equal(await call.ended, 'finish');
      assert.deepEqual([call.responder.status, call.exchange.attempts, countOf(call)], [500, 1, '0']);
    }
  });

  it('that cannot be reached is tried again, and at last the client gets the error', async () => {
    const retries = { retry: { attempts: 1 } } as Partial<Config>;
    assert.equal(await (await start(target('a'), { a: [{ error: reset() }] })).ended, 'UPSTREAM_RESET 0');
    assert.equal(await (await start(target('a', retries), { a: [{ error: unreachable() }, { error: unreachable() }] })).ended, 'UPSTREAM_UNREACHABLE -1');
    const saved = await start(target('a', retries), { a: [{ error: unreachable() }, ok] });
    assert.deepEqual([await saved.ended, saved.responder.text], ['finish', answer]);
  });

  it('that breaks off a response which has begun is not asked again', async () => {
    const call = await start(target('a', { retry: { attempts: 3 } } as Partial<Config>), { a: [{ status: 200, headers: ['content-type', 'application/json'], chunks: ['{"id"'], error: reset() }, ok] });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([call.responder.isAborted, call.exchange.ending, call.exchange.attempts], [true, 'upstream', 1]);
  });

  it('whose stream begins with an error is asked again, for its status', async () => {
    const call = await start(target('a', { retry: { attempts: 1, on_status_codes: [529] } } as Partial<Config>), {
      a: [{ status: 200, headers: events, chunks: ['data: {"error":{"type":"overloaded_error"}}\n\n'], isOpen: true }, { status: 200, headers: events, chunks: ['data: {"choices":[]}\n\n', 'data: [DONE]\n\n'] }],
    });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([call.responder.text, call.exchange.attempts, call.origins.a?.calls], ['data: {"choices":[]}\n\ndata: [DONE]\n\n', 2, ['cancel']]);
  });

  it('that does not answer in its time is cancelled, and its late answer goes nowhere', async () => {
    const call = await start(target('a', { request_timeout: 20 } as Partial<Config>), { a: [{ isOpen: true }] });
    assert.equal(await call.ended, 'ATTEMPT_TIMEOUT 0');
    assert.deepEqual(call.origins.a?.calls, ['cancel']);
    call.origins.a?.listener?.onHead(200, []);
    call.origins.a?.listener?.onChunk(Buffer.from(answer));
    call.origins.a?.listener?.onEnd();
    assert.equal(call.responder.isStarted, false);
  });

  it('whose transport tells more after the end, or another head, is not listened to', async () => {
    const whole = await start(target('a'), { a: [{ ...ok, status: 200 }] });
    assert.equal(await whole.ended, 'finish');
    whole.origins.a?.listener?.onError(reset());
    whole.origins.a?.listener?.onChunk(Buffer.from('late'));
    whole.origins.a?.listener?.onEnd();
    assert.deepEqual([whole.responder.text, whole.responder.isAborted, whole.exchange.errorCode, whole.exchange.ending], [answer, false, '', 'complete']);
    const twice = await start(target('a'), { a: [{ status: 200, chunks: ['{"id":'], isOpen: true }] });
    await new Promise(setImmediate);
    twice.origins.a?.listener?.onHead(500, []);
    twice.origins.a?.listener?.onChunk(Buffer.from('"1"}'));
    twice.origins.a?.listener?.onError(reset());
    twice.origins.a?.listener?.onError(reset());
    assert.deepEqual([await twice.ended, twice.responder.text, twice.responder.status, twice.exchange.errorCode], ['finish', '{"id":"1"}', 200, 'UPSTREAM_BROKE']);
  });

  it('is paused while the client does not read, and cancelled when it leaves', async () => {
    const call = await start(target('a'), { a: [{ status: 200, headers: events, chunks: ['data: {}\n\n'], isOpen: true }] }, false);
    await new Promise(setImmediate);
    assert.deepEqual(call.origins.a?.calls, ['pause']);
    call.responder.drainListener?.onDrain();
    call.loop.cancel();
    call.origins.a?.listener?.onChunk(Buffer.from('data: late\n\n'));
    assert.deepEqual(call.origins.a?.calls, ['pause', 'resume', 'cancel']);
    assert.equal(call.responder.bytesSent, 0);
  });
});

describe('several targets', () => {
  it('are tried in turn, and the one that answers is named', async () => {
    const call = await start(fallback([500], target('a'), target('b')), { a: [{ status: 500, chunks: ['no'] }], b: [ok] });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([sentTo(call), call.exchange.targetPath, call.responder.text], [{ a: 1, b: 1 }, 'config.targets[1]', answer]);
  });

  it('are not moved on to by a status that the strategy does not list', async () => {
    const call = await start(fallback([429], target('a'), target('b')), { a: [{ status: 500, chunks: ['{"error":{"message":"no","type":"x"}}'] }], b: [ok] });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([sentTo(call), call.responder.status], [{ a: 1, b: 0 }, 500]);
  });

  it('are moved on to when no answer came', async () => {
    const call = await start(fallback(undefined, target('a'), target('b')), { a: [{ error: reset() }], b: [ok] });
    assert.deepEqual([await call.ended, sentTo(call)], ['finish', { a: 1, b: 1 }]);
  });

  it('that cannot take the call leave the client the failure of the one before, as it came', async () => {
    const failure = '{"error":{"message":"out of order","type":"server_error"}}';
    const call = await start(fallback([500], target('a'), { provider: 'anthropic' } as Config), { a: [{ status: 500, headers: ['content-type', 'application/json', 'x-own', '1'], chunks: [failure.slice(0, 20), failure.slice(20)] }], 'api.anthropic.com': [] });
    assert.equal(await call.ended, 'finish');
    assert.deepEqual([call.responder.status, call.responder.text, call.exchange.targetPath, call.responder.headers.includes('x-own')], [500, failure, 'config.targets[0]', true]);
  });

  it('are not asked any more once a byte has gone to the client', async () => {
    const call = await start(fallback([500], target('a'), target('b')), { a: [{ ...ok, isOpen: true }], b: [ok] });
    await new Promise(setImmediate);
    assert.equal(call.responder.isStarted, true);
    assert.equal(call.loop.triesAgainFor(500, true), false);
    assert.equal(call.loop.triesAgainAfter(fail('UPSTREAM_BROKE', { provider: 'p', reason: 'cut' })), false);
    assert.deepEqual(sentTo(call), { a: 1, b: 0 });
    call.loop.cancel();
  });
});
