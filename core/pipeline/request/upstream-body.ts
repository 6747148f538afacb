// Hot: runs for each target tried.
// The body on its way from the client's bytes to the provider's: what the config edits, the rules of the endpoint, the provider's own
// function. Parsed only when one of them looks into it.

import { isObject, writeJson, type EndpointSpec, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { editMultipart, multipartBoundary, multipartField } from '../../body/multipart.js';
import { parseExactObject } from '../../body/parse.js';
import { replacedRole, replaceRoles, type Roles } from '../../body/roles.js';
import { dropPaths, spliceObject, type BodyEdit } from '../../body/splice.js';
import { atOnce } from '../../errors/at-once.js';
import { fail, isGatewayError } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import { endpointParams } from '../../plan/endpoint-params.js';
import type { CompiledRule, EndpointParams, TargetPlan } from '../../plan/plan.js';
import type { EndpointChoice, EndpointBody } from './choose-endpoint.js';
import { ProviderCall, reportUnsupported, unsupportedMode } from './provider-call.js';

/** Calls that one request may become. */
const fanOutMax = 2_048;

export function editedMultipart(exchange: Exchange, target: TargetPlan, bytes: Uint8Array): Uint8Array {
  if (target.fieldEdits.length === 0) return bytes;
  const boundary = multipartBoundary(exchange.head.contentType);
  return boundary === undefined ? bytes : editMultipart(bytes, boundary, target.fieldEdits);
}

/** The body with the changes of the config; the same bytes when there are none. */
export function editedJson(target: TargetPlan, bytes: Uint8Array): Uint8Array {
  const edited = target.edits.length > 0 ? spliceObject(bytes, target.edits) : bytes;
  return target.dropPaths.length > 0 ? dropPaths(edited, target.dropPaths) : edited;
}

export class UpstreamBody implements EndpointBody {
  /** The client's body after the config's edits; null when there is none. */
  readonly edited: Uint8Array | null;
  /** The provider is asked for the usage of its stream on the gateway's account: the client gets none. */
  hidesUsage = false;
  #client: JsonObject | null = null;
  #exact: JsonObject | null = null;
  #call: ProviderCall | null = null;

  constructor(readonly exchange: Exchange, readonly target: TargetPlan, readonly credentials: Readonly<Record<string, unknown>>) {
    const { bytes } = exchange;
    if (bytes.length === 0) this.edited = null;
    else if (exchange.isJson) this.edited = withoutProviderPrefix(exchange, target, editedJson(target, bytes));
    else this.edited = editedMultipart(exchange, target, bytes);
  }

  /** The client's body as an object; empty when it is not JSON. */
  get client(): JsonObject {
    return this.#client ??= this.edited === null || !this.exchange.isJson
      ? {}
      // JSON.parse gives nothing but JSON.
      : (this.edited === this.exchange.bytes ? this.exchange.json() : this.exchange.reader.parse(this.edited)) as JsonObject;
  }

  /** The same for whoever makes another body of it: numbers keep their digits. */
  get exact(): JsonObject {
    // As above.
    return this.#exact ??= this.edited === null || !this.exchange.isJson ? this.client : parseExactObject(this.edited, this.client) as JsonObject;
  }

  get call(): ProviderCall {
    if (this.#call === null) {
      const { exchange, target } = this;
      const call = new ProviderCall(exchange, target, this.credentials);
      call.take(this.client);
      if (call.model === '') call.model = this.multipartModel();
      this.#call = call;
    }
    return this.#call;
  }

  get madeCall(): ProviderCall | null {
    return this.#call;
  }

  get model(): string {
    if (this.#call !== null) return this.#call.model;
    const { model } = this.client;
    return typeof model === 'string' ? model : this.multipartModel();
  }

  get isStream(): boolean {
    return this.client.stream === true;
  }

  multipartModel(): string {
    if (this.edited === null || this.exchange.isJson) return '';
    const boundary = multipartBoundary(this.exchange.head.contentType);
    return boundary === undefined ? '' : multipartField(this.edited, boundary, 'model') ?? '';
  }

  /** The upstream body: null without one, several for a fan-out. `isPutOff`: null when a function of the provider makes it; then `made` is to be asked. */
  bodies(choice: EndpointChoice, isPutOff: boolean): readonly Uint8Array[] | null {
    const { spec } = choice;
    if (this.edited === null) return null;
    if (!this.exchange.isJson) return [this.edited];
    const params = endpointParams(spec);
    let bytes = choice.body === null ? this.edited : null;
    const options = spec.streamUsage === undefined || this.exchange.hold === null ? null : this.#usageOptions(choice);
    if (bytes !== null && params === null && spec.roles === undefined && spec.request === undefined && options === null) return [bytes];
    let body = choice.body;
    if (spec.roles !== undefined && namesRole(body ?? this.client, spec.roles)) {
      bytes = replaceRoles(bytes ?? Buffer.from(writeJson(body ?? {})), spec.roles);
      body = this.#parse(bytes, spec);
    }
    const edits = params === null ? noEdits : this.#paramEdits(params, body ?? this.client);
    if (edits.length > 0) {
      bytes = spliceObject(bytes ?? Buffer.from(writeJson(body ?? {})), edits);
      body = spec.request === undefined ? body : this.#parse(bytes, spec);
    }
    this.hidesUsage = options !== null;
    if (spec.request === undefined) {
      const made = bytes ?? Buffer.from(writeJson(body ?? {}));
      return [options === null ? made : spliceObject(made, [{ kind: 'set', name: 'stream_options', value: Buffer.from(JSON.stringify(options)) }])];
    }
    this.call.take(options === null ? body ?? this.exact : { ...(body ?? this.exact), stream_options: options });
    return isPutOff ? null : this.made(spec, spec.request);
  }

  /**
   * The `stream_options` that make the provider tell the usage of a stream: where a limit counts it, and nobody has said whether it is wanted. A config
   * that drops the member knows better than the provider's definition. Null: they stay as they are.
   */
  #usageOptions({ spec, body, translation }: EndpointChoice): JsonObject | null {
    const { hold } = this.exchange;
    if (hold === null || hold.delivered === null || spec.stream !== undefined || translation !== null) return null;
    const { stream, stream_options: given = null } = body ?? this.client;
    // Of a compressed answer nothing could be kept from the client.
    if (stream !== true || this.#mayBeCompressed || this.target.dropPaths.some(([first]) => first?.kind === 'name' && first.name === 'stream_options')) return null;
    if (given === null) return wantsUsage;
    return isObject(given) && given.include_usage === undefined ? { ...given, ...wantsUsage } : null;
  }

  get #mayBeCompressed(): boolean {
    const { forwardHeaders = '' } = this.exchange.head;
    return this.target.forwardHeaders.includes('accept-encoding') || /accept-encoding/i.test(forwardHeaders);
  }

  /** Asks the provider's function. */
  made(spec: EndpointSpec, request: NonNullable<EndpointSpec['request']>): readonly Uint8Array[] {
    const made = this.#ask(request, this.call);
    if (spec.isFanOut !== true) return [Buffer.from(writeJson(made))];
    if (!Array.isArray(made) || made.length === 0) throw fail('PLUGIN_FAILED', { plugin: `provider/${this.target.provider.id}`, reason: 'its request function gave no list of bodies' });
    if (made.length > fanOutMax) throw fail('BODY_INVALID', { param: 'input', reason: `${this.target.provider.id} would have to be asked ${made.length} times; at most ${fanOutMax}` });
    return made.map((part) => Buffer.from(writeJson(part)));
  }

  #parse(bytes: Uint8Array, spec: EndpointSpec): JsonObject {
    const parsed = this.exchange.reader.parse(bytes);
    // JSON.parse gives nothing but JSON.
    return (spec.request === undefined ? parsed : parseExactObject(bytes, parsed)) as JsonObject;
  }

  /** The changes that the rules ask of this body. Throws BODY_INVALID where a rule says no. */
  #paramEdits(params: EndpointParams, body: JsonObject): readonly BodyEdit[] {
    let edits: BodyEdit[] | null = null;
    for (const compiled of params.rules) {
      const value = body[compiled.name];
      const edit = value === undefined ? compiled.insert : this.#editOf(compiled, value);
      if (edit === null) continue;
      if (edits === null) edits = [edit];
      else edits.push(edit);
    }
    return edits ?? noEdits;
  }

  #editOf(compiled: CompiledRule, value: Json): BodyEdit | null {
    const { name: param, rename, remove, without } = compiled;
    if (value === null) return rename;
    if (without.length > 0 && without.includes(JSON.stringify(value))) return remove;
    const reason = faultOf(compiled, value, this.target.provider.id);
    if (reason === undefined) return rename;
    if (unsupportedMode(this.exchange, this.target) !== 'omit') throw fail('BODY_INVALID', { param, reason });
    reportUnsupported(this.exchange, param);
    return remove;
  }

  #ask(request: NonNullable<EndpointSpec['request']>, call: ProviderCall): Json {
    try {
      return atOnce(request(call.body, call));
    } catch (thrown) {
      if (isGatewayError(thrown)) throw thrown;
      // Its own message may quote the body; the log has it.
      throw fail('PLUGIN_FAILED', { plugin: `provider/${this.target.provider.id}`, reason: 'its request function could not take this body' }, thrown);
    }
  }
}

/** `cohere.rerank-v3.5` at the provider `cohere` is its `rerank-v3.5`. */
function withoutProviderPrefix(exchange: Exchange, target: TargetPlan, bytes: Uint8Array): Uint8Array {
  if (exchange.route.name !== 'rerank') return bytes;
  const model = exchange.reader.field(bytes, 'model');
  const prefix = `${target.provider.id}.`;
  if (typeof model !== 'string' || !model.startsWith(prefix)) return bytes;
  return spliceObject(bytes, [{ kind: 'set', name: 'model', value: Buffer.from(JSON.stringify(model.slice(prefix.length))) }]);
}

/** Why the provider cannot take this value; undefined when it can. */
function faultOf({ rule }: CompiledRule, value: Json, provider: string): string | undefined {
  if (rule.refuse !== undefined) return `${provider} does not take it: ${rule.refuse}`;
  if (typeof value !== 'number') return undefined;
  if (rule.min !== undefined && value < rule.min) return `${provider} takes ${rule.min} or more`;
  return rule.max !== undefined && value > rule.max ? `${provider} takes ${rule.max} or less` : undefined;
}

function namesRole(body: JsonObject, roles: Roles): boolean {
  const { messages } = body;
  if (!Array.isArray(messages)) return false;
  for (const message of messages as readonly Json[]) {
    if (typeof message === 'object' && message !== null && 'role' in message && replacedRole(roles, message.role) !== undefined) return true;
  }
  return false;
}

const noEdits: readonly BodyEdit[] = [];
const wantsUsage: JsonObject = Object.freeze({ include_usage: true });
