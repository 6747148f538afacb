import { Buffer } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { isBinaryAnswer } from '../src/answer.js';
import type { JsonObject } from '../src/chat/types.js';
import { isObject } from '../src/json.js';
import type { AnswerEvent, EndpointSpec, EventSink, FrameDecoder, ProviderCall, ProviderPlugin, SseEvent } from '../src/kinds/provider.js';
import type { Json } from '../src/shared.js';
import { fakeCall, Refusal, type FakeCall } from './fake-call.js';
import type { Fixture, FixtureEvent, UpstreamRequestFixture } from './fixtures.js';
import { checkChatChunks } from './grammar/chat.js';
import { checkMessagesEvents } from './grammar/messages.js';
import { SseReader } from './sse-reader.js';

/** Every cut of a stream up to this size; longer ones are cut at this many places, and at all places at once. */
const cutsMax = 600;
/** Sizes of pieces that fall differently in lines and events. */
const pieceSizes = [1, 7, 61];

/** What is wrong with what the provider makes of the fixture; empty when all is as documented. */
export function providerFaults(plugin: ProviderPlugin, fixture: Fixture): string[] {
  const faults: string[] = [];
  const { request, upstreamRequest, upstream } = fixture;
  if (upstreamRequest === undefined) return ['upstream-request.json is missing; gateway-plugin fixtures writes it'];
  const frozen = deepFrozen(request.body);
  const { call, spec, body } = requested(plugin, fixture, frozen);
  const path = filledPath(spec, call);
  if (path !== upstreamRequest.path) faults.push(`the path is ${path}, not ${upstreamRequest.path}`);
  if (upstreamRequest.body !== undefined) faults.push(...difference('upstream request', body, upstreamRequest.body));
  const headers = { ...plugin.headers, ...(typeof spec.headers === 'function' ? spec.headers(call) : spec.headers) };
  for (const [name, value] of Object.entries(upstreamRequest.headers ?? {})) {
    if (headers[name] !== undefined && headers[name] !== value) faults.push(`header ${name} is ${headers[name]}, not ${value}`);
  }
  if (upstream.isStream) faults.push(...streamFaults(plugin, fixture, spec));
  else if (upstream.status >= 200 && upstream.status < 300) faults.push(...answerFaults(fixture, spec, call));
  else faults.push(...errorFaults(plugin, fixture));
  return faults;
}

/** What the provider makes of the client's request and of its own answer: what `upstream-request.json` and `response*.json` should hold. */
export interface FixtureResults {
  readonly upstreamRequest: UpstreamRequestFixture;
  readonly response: Fixture['response'];
  readonly events: readonly FixtureEvent[] | undefined;
}

export function fixtureResults(plugin: ProviderPlugin, fixture: Fixture): FixtureResults {
  const { upstream } = fixture;
  const { call, spec, body } = requested(plugin, fixture, deepFrozen(fixture.request.body));
  const headers = fixture.upstreamRequest?.headers;
  // As it goes over the wire.
  const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const upstreamRequest = { path: filledPath(spec, call), ...(headers === undefined ? {} : { headers }), body: plain(body) };
  if (upstream.isStream) {
    const events = plain(replay(requested(plugin, fixture, deepFrozen(fixture.request.body)).call, spec, [upstream.bytes]));
    return { upstreamRequest, response: undefined, events: events.map((event, index) => (sameFailure(event, fixture.events?.[index] ?? null) ? fixture.events?.[index] ?? event : event)) };
  }
  const given: Json = JSON.parse(upstream.bytes.toString());
  const isAnswer = upstream.status >= 200 && upstream.status < 300;
  return { upstreamRequest, response: { status: upstream.status, body: isAnswer ? plain(answerOf(spec, call, given)) : errorOf(plugin, fixture, given) }, events: undefined };
}

function answerOf(spec: EndpointSpec, call: ProviderCall, given: Json): Json {
  const made = spec.response === undefined ? given : spec.response(deepFrozen(given), call);
  return isBinaryAnswer(made) ? { contentType: made.contentType, base64: Buffer.from(made.bytes).toString('base64') } : made;
}

/** In the shape of chat's errors; what is written already and tells the same stays. */
function errorOf(plugin: ProviderPlugin, fixture: Fixture, given: Json): Json {
  if (fixture.response !== undefined && errorFaults(plugin, fixture).length === 0) return fixture.response.body;
  const fault = plugin.error?.(given, fixture.upstream.status, (name) => fixture.upstream.headers[name]);
  return fault === undefined ? given : { error: { message: fault.message, type: fault.type ?? 'upstream_error', param: null, code: fault.code ?? null } };
}

function requested(plugin: ProviderPlugin, fixture: Fixture, body: JsonObject): { call: FakeCall; spec: EndpointSpec; body: Json } {
  const { request } = fixture;
  const call = fakeCall(body, {
    endpoint: request.endpoint, credentials: request.credentials ?? {}, isStrict: request.isStrict ?? true, headers: request.headers ?? {},
  });
  const entry = request.endpoint === 'proxy' ? undefined : plugin.endpoints[request.endpoint];
  const chosen = typeof entry === 'function' ? entry(call) : entry;
  if (chosen === undefined) throw new Error(`${fixture.name}: the provider has no ${request.endpoint} for this call`);
  const spec: EndpointSpec = typeof chosen === 'string' ? { path: chosen } : chosen;
  let given = body;
  for (const [name, rule] of Object.entries(spec.params ?? {})) {
    if (rule.refuse !== undefined && given[name] !== undefined) throw new Refusal(name, rule.refuse);
    if (rule.default !== undefined && given[name] === undefined) given = { ...given, [name]: rule.default };
    if (rule.rename === undefined || given[name] === undefined) continue;
    const { [name]: value, ...rest } = given;
    given = { ...rest, [rule.rename]: rest[rule.rename] ?? value ?? null };
  }
  return { call, spec, body: spec.request === undefined ? given : spec.request(deepFrozen(given), call) };
}

function filledPath(spec: EndpointSpec, call: ProviderCall): string {
  const path = call.isStream && spec.streamPath !== undefined ? spec.streamPath : spec.path;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(name === 'model' ? call.model : String(call.credentials[name])));
}

function answerFaults(fixture: Fixture, spec: EndpointSpec, call: ProviderCall): string[] {
  const given: Json = JSON.parse(fixture.upstream.bytes.toString());
  const answer = answerOf(spec, call, given);
  if (fixture.response === undefined) return ['response.json is missing; gateway-plugin fixtures writes it'];
  return difference('response', answer, fixture.response.body);
}

function errorFaults(plugin: ProviderPlugin, fixture: Fixture): string[] {
  const body: Json = JSON.parse(fixture.upstream.bytes.toString());
  const { response } = fixture;
  if (response === undefined) return ['response.json is missing; gateway-plugin fixtures writes it'];
  if (response.status !== fixture.upstream.status) return [`the status of an error is the provider's, ${fixture.upstream.status}`];
  const expected = response.body;
  // Told in the provider's own words when the client's dialect is the provider's.
  if (isDeepStrictEqual(expected, body)) return [];
  const fault = plugin.error?.(body, fixture.upstream.status, (name) => fixture.upstream.headers[name]);
  const told = typeof expected === 'object' && expected !== null && 'error' in expected ? expected.error : null;
  if (typeof told !== 'object' || told === null || !('message' in told)) return ['the error of response.json has no message'];
  return fault !== undefined && fault.message === told.message ? [] : [`error() tells ${JSON.stringify(fault)}, not ${JSON.stringify(told)}`];
}

function streamFaults(plugin: ProviderPlugin, fixture: Fixture, spec: EndpointSpec): string[] {
  const { bytes } = fixture.upstream;
  if (fixture.events === undefined) return ['response.sse.json is missing; gateway-plugin fixtures writes it'];
  const run = (chunks: readonly Uint8Array[]): FixtureEvent[] => replay(requested(plugin, fixture, deepFrozen(fixture.request.body)).call, spec, chunks);
  const whole = run([bytes]);
  const faults = difference('events', whole as unknown as Json, fixture.events as unknown as Json, sameFailure);
  if (faults.length > 0) return faults;
  for (const [how, chunks] of cuts(bytes)) {
    if (!isDeepStrictEqual(run(chunks), whole)) return [`${how}, the stream gives other events`];
  }
  if (spec.framing === undefined) {
    for (const [how, changed] of variations(bytes.toString('utf8'))) {
      if (!isDeepStrictEqual(run([Buffer.from(changed)]), whole)) return [`${how}, the stream gives other events`];
    }
  }
  return grammarFaults(fixture, whole);
}

function* cuts(bytes: Buffer): Generator<[string, Uint8Array[]]> {
  const step = Math.max(1, Math.ceil(bytes.length / cutsMax));
  for (let at = 1; at < bytes.length; at += step) yield [`cut at byte ${at}`, [bytes.subarray(0, at), bytes.subarray(at)]];
  for (const size of pieceSizes) {
    yield [`in pieces of ${size}`, Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))];
  }
}

/** The same events, written as the standard allows (WHATWG HTML, section 9.2.6). */
function* variations(text: string): Generator<[string, string]> {
  const plain = text.replace(/\r\n?/g, '\n');
  yield ['with CRLF', plain.replace(/\n/g, '\r\n')];
  yield ['with CR', plain.replace(/\n/g, '\r')];
  yield ['with comments', `: hello\n\n${plain.replace(/\n\n/g, '\n\n: keep-alive\n\n')}`];
  yield ['without the last line ends', plain.replace(/\n+$/, '')];
  yield ['with data over several lines', plain.replace(/^data: ?(\{.*\})$/gm, (_, data: string) => severalLines(data))];
  yield ['with escapes for what is not ASCII', plain.replace(/[^\x00-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)];
  yield ['with a byte order mark', `\ufeff${plain}`];
}

/** The same JSON, broken between its members. */
const severalLines = (data: string): string => JSON.stringify(JSON.parse(data), null, 1).split('\n').map((line) => `data: ${line}`).join('\n');

/** The events of a stream, `{ fail }` at its end when it failed. Without a stage of the provider's: the parsed upstream events. */
function replay(call: ProviderCall, spec: EndpointSpec, chunks: readonly Uint8Array[]): FixtureEvent[] {
  const events: FixtureEvent[] = [];
  let isOver = false;
  const fail = (error: unknown): void => {
    if (isOver) return;
    isOver = true;
    events.push({ fail: error instanceof Error ? error.message : String(error) });
  };
  const sink: EventSink = {
    write: ({ event, data }: AnswerEvent) => {
      if (isOver) return;
      const value: Json = typeof data === 'string' ? parsedOrText(data) : JSON.parse(JSON.stringify(data));
      events.push({ ...(event === undefined ? {} : { event }), data: value });
    },
    end: () => {},
    fail,
  };
  const decoder: FrameDecoder = spec.framing?.decoder() ?? new SseReader();
  const stage = spec.stream?.(call);
  const emit = (event: SseEvent): void => {
    if (isOver) return;
    if (stage === undefined) sink.write(event);
    else stage.push(event, sink);
  };
  try {
    for (const chunk of chunks) if (!isOver) decoder.push(chunk, emit);
    if (!isOver) decoder.end(emit);
    if (!isOver) stage?.end(sink);
  } catch (thrown) {
    fail(thrown);
  }
  return events;
}

function grammarFaults(fixture: Fixture, events: readonly FixtureEvent[]): string[] {
  const whole = events.flatMap((event) => ('fail' in event ? [] : [event]));
  if (whole.length !== events.length) return [];
  switch (fixture.request.endpoint) {
    case 'chatCompletions': return checkChatChunks(whole.map(({ data }) => data).filter((data) => data !== '[DONE]'));
    case 'messages': return checkMessagesEvents(whole);
    default: return [];
  }
}

function parsedOrText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    // `[DONE]` and the like.
    return text;
  }
}

/** The fixture names a part of the message. */
function sameFailure(actual: FixtureEvent | Json, expected: FixtureEvent | Json): boolean {
  const messageOf = (value: FixtureEvent | Json): string | undefined =>
    (typeof value === 'object' && value !== null && 'fail' in value && typeof value.fail === 'string' ? value.fail : undefined);
  const told = messageOf(actual);
  const wanted = messageOf(expected);
  return told !== undefined && wanted !== undefined && told.includes(wanted);
}

/** The first difference, with its place; nothing when the two are the same. */
function difference(what: string, actual: Json | undefined, expected: Json | undefined, isSame: (actual: Json, expected: Json) => boolean = () => false, place = ''): string[] {
  const left = actual === undefined ? undefined : JSON.parse(JSON.stringify(actual)) as Json;
  if (isDeepStrictEqual(left, expected) || (left !== undefined && expected !== undefined && isSame(left, expected))) return [];
  if (Array.isArray(left) && Array.isArray(expected)) {
    for (let index = 0; index < Math.max(left.length, expected.length); index += 1) {
      const inner = difference(what, left[index], expected[index], isSame, `${place}[${index}]`);
      if (inner.length > 0) return inner;
    }
    return [];
  }
  if (isObject(left) && isObject(expected)) {
    for (const name of new Set([...Object.keys(left), ...Object.keys(expected)])) {
      const inner = difference(what, left[name], expected[name], isSame, `${place}.${name}`);
      if (inner.length > 0) return inner;
    }
    return [];
  }
  return [`${what}${place} is ${JSON.stringify(left)}, not ${JSON.stringify(expected)}`];
}

/** A copy that nothing can change: providers share what they get. */
function deepFrozen<T extends Json>(value: T): T {
  const copy: T = structuredClone(value) as T;
  const freeze = (inner: Json): void => {
    if (typeof inner !== 'object' || inner === null) return;
    Object.freeze(inner);
    for (const next of Object.values(inner)) freeze(next as Json);
  };
  freeze(copy);
  return copy;
}
