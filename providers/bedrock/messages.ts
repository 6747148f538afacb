import { isObject, ProviderError, writeJson, type EventSink, type EventStage, type Json, type JsonObject, type ProviderCall, type SseEvent } from '@gateway/plugin-sdk';
import { exceptionError } from '../common/aws.js';

const anthropicVersion = 'bedrock-2023-05-31';

/** Members that InvokeModel has elsewhere: in the path, or in headers. */
const outside: ReadonlySet<string> = new Set(['model', 'stream', 'service_tier', 'guardrail_config', 'guardrailConfig', 'performanceConfig', 'serviceTier']);

/** An Anthropic request as the body of InvokeModel. */
export function invokeRequest(body: JsonObject, call: ProviderCall): JsonObject {
  if (body.service_tier !== undefined && body.service_tier !== null) call.report('service_tier');
  const betas = betasOf(body, call);
  return {
    anthropic_version: anthropicVersion,
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !outside.has(name))),
    ...(betas.length > 0 ? { anthropic_beta: betas } : {}),
  };
}

/** Settings that Converse takes in the body and InvokeModel in headers. */
export function invokeHeaders(call: ProviderCall): Readonly<Record<string, string>> {
  const guardrail = call.body.guardrailConfig ?? call.body.guardrail_config;
  const { performanceConfig, serviceTier } = call.body;
  return {
    ...(isObject(guardrail) ? {
      ...header('x-amzn-bedrock-guardrailidentifier', guardrail.guardrailIdentifier),
      ...header('x-amzn-bedrock-guardrailversion', guardrail.guardrailVersion),
      ...(typeof guardrail.trace === 'string' ? { 'x-amzn-bedrock-trace': guardrail.trace.toUpperCase() } : {}),
    } : {}),
    ...(isObject(performanceConfig) ? header('x-amzn-bedrock-performanceconfig-latency', performanceConfig.latency) : {}),
    ...(isObject(serviceTier) ? header('x-amzn-bedrock-service-tier', serviceTier.type) : {}),
  };
}

const header = (name: string, value: Json | undefined): Readonly<Record<string, string>> => (typeof value === 'string' ? { [name]: value } : {});

/** The beta features that the client asks for in a header; Bedrock wants them in the body. */
function betasOf(body: JsonObject, call: ProviderCall): string[] {
  const own = Array.isArray(body.anthropic_beta) ? body.anthropic_beta.filter((beta): beta is string => typeof beta === 'string') : [];
  const given = (call.header('anthropic-beta') ?? '').split(',').map((beta) => beta.trim()).filter((beta) => beta !== '');
  return [...new Set([...own, ...given])];
}

/** The request whose tokens are counted is a whole one, so it needs a limit of its answer, which counts for nothing. */
export function invokeTokensRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const budget = isObject(body.thinking) && typeof body.thinking.budget_tokens === 'number' ? body.thinking.budget_tokens : 0;
  const counted = writeJson({ max_tokens: budget + 1, ...invokeRequest(body, call) });
  return { input: { invokeModel: { body: Buffer.from(counted, 'utf8').toString('base64') } } };
}

export function tokensAnswer(body: Json): Json {
  return { input_tokens: isObject(body) && typeof body.inputTokens === 'number' ? body.inputTokens : 0 };
}

/** Unwraps Anthropic's own events from the frames of InvokeModelWithResponseStream. Their text is not touched. */
export class InvokeStage implements EventStage {
  #isOver = false;

  push(event: SseEvent, out: EventSink): void {
    if (this.#isOver) return;
    const exception = exceptionError(event);
    if (exception !== undefined) {
      this.#isOver = true;
      out.fail(exception);
      return;
    }
    if (event.event !== 'chunk') return;
    const frame = JSON.parse(event.data) as { readonly bytes?: string };
    if (frame.bytes === undefined) return;
    const data = Buffer.from(frame.bytes, 'base64').toString('utf8');
    const type = typeOf(data);
    if (type === 'error') {
      this.#isOver = true;
      out.fail(errorOf(data));
      return;
    }
    out.write({ event: type, data });
    if (type === 'message_stop') this.#isOver = true;
  }

  end(out: EventSink): void {
    if (!this.#isOver) out.fail(new Error('the stream ended before the answer was complete'));
  }
}

/** The type is the first member of Anthropic's events; the rest of a long event need not be read for it. */
function typeOf(data: string): string {
  const [, type] = /^\{\s*"type"\s*:\s*"([a-z_]+)"/.exec(data) ?? [];
  return type ?? (JSON.parse(data) as { readonly type: string }).type;
}

function errorOf(data: string): ProviderError {
  const { error } = JSON.parse(data) as { readonly error?: { readonly type?: string; readonly message?: string } };
  return new ProviderError(error?.message ?? 'the provider broke the stream off', { status: error?.type === 'overloaded_error' ? 529 : undefined, type: error?.type });
}
