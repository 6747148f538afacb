import { defineGuardrail, isObject, type CheckInput, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { anyValue } from '../common/request/any-value.js';
import { hookContext, postJson, readJson } from '../common/request/hook-context.js';
import { readForwardedNames, readHeaders } from '../common/request/outbound-headers.js';
import { readUrl } from '../common/request/outbound-url.js';

/** Largest answer of the service: a changed body may carry images. */
const answerBytesMax = 16 * 1024 * 1024;

export default defineGuardrail({
  title: 'Webhook',
  describe: 'Asks a service of yours for the verdict; its answer may also bring a new body.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json', changes: 'both' },
  params: {
    type: 'object',
    properties: {
      webhookURL: { type: 'string', minLength: 1, description: 'Address of the service, http or https.' },
      headers: anyValue('Headers for the service: an object of texts, or such an object as JSON text.', { secret: true }),
      timeout: { type: 'integer', minimum: 1, maximum: 120_000, default: 3000, description: 'Milliseconds until the service must have answered in full.' },
      forwardHeaders: {
        type: 'array', items: { type: 'string' }, maxItems: 50,
        description: 'Names of headers of the request that are passed on. Credentials, cookies and the gateway\'s own are refused.',
      },
    },
    required: ['webhookURL'],
  },
  create: (params, host) => {
    const url = readUrl(params.webhookURL, 'webhookURL');
    const own = readHeaders(params.headers, 'headers');
    const forwarded = readForwardedNames(params.forwardHeaders, 'forwardHeaders');
    return {
      async evaluate(input) {
        const answer = await postJson(host, {
          url, headers: { ...forwardedHeaders(input, forwarded), ...own }, body: hookContext(input), timeoutMs: params.timeout, bytesMax: answerBytesMax, signal: input.signal,
        });
        const reply = await readJson(answer, `the service at ${url.host}`);
        if (!isObject(reply) || typeof reply.verdict !== 'boolean') {
          throw new Error(`the service at ${url.host} answered with status ${answer.status} but without a verdict; it must answer {"verdict": true} or {"verdict": false}`);
        }
        const body = changedBody(reply, input.stage, url.host);
        const explanation = reply.verdict ? 'the webhook accepts it' : 'the webhook rejects it';
        const data: Json = {
          explanation, webhookUrl: url.origin, requestContext: { timeout: params.timeout }, ...(reply.data === undefined ? {} : { responseData: reply.data }),
        };
        return { pass: reply.verdict, ...(reply.verdict ? {} : { why: explanation }), data, ...(body === undefined ? {} : { body }) };
      },
    };
  },
});

function forwardedHeaders({ exchange: { request } }: CheckInput, names: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of names) {
    const value = request.header(name);
    // Whether it may stand in a header again is not for us to hope.
    if (value !== undefined && !/[^\t\x20-\x7e]/.test(value)) headers[name] = value;
  }
  return headers;
}

/** The new body of the side that is judged; what the answer says about the other side is not heard. */
function changedBody({ transformedData }: JsonObject, stage: CheckInput['stage'], service: string): Json | undefined {
  const side = isObject(transformedData) ? transformedData[stage === 'input' ? 'request' : 'response'] : undefined;
  const body = isObject(side) ? side.json : undefined;
  if (body === undefined || body === null) return undefined;
  if (!isObject(body)) throw new Error(`the service at ${service} answered with a transformed body that is not a JSON object`);
  return body;
}
