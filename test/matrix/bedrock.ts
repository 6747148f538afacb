// Bedrock: Converse, and Claude's own messages through InvokeModel. Requests are signed with SigV4; streams are binary frames.

import { AwsV4Signer } from 'aws4fetch';
import { crc32 } from 'node:zlib';
import { bodyOf, cut, features, json, need, onlyKnown, optional, pieces, type Answered, type Call, type Family, type Reply, type Seen, type Turn } from './family.js';
import { messageBody, messageEvents, parseMessages } from './messages-wire.js';

export const accessKeyId = 'AKIAMATRIX';
export const secretAccessKey = 'matrix/secret+key';
const region = 'us-east-1';

/** Signs what came once more and compares: the secret never travels. */
async function verifySignature(call: Call): Promise<void> {
  const given = call.headers.authorization ?? '';
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(given);
  need(parts, `missing authentication token: ${given.slice(0, 40)}`);
  need(parts[1] === accessKeyId && parts[3] === region && parts[4] === 'bedrock', 'the security token included in the request is invalid');
  const signed = (parts[5] ?? '').split(';');
  need(signed.includes('host') && signed.includes('x-amz-date'), 'host and x-amz-date must be signed');
  const headers = Object.fromEntries(signed.filter((name) => name !== 'host').map((name) => [name, call.headers[name] ?? '']));
  const again = new AwsV4Signer({
    method: call.method, url: `http://${call.headers.host}${call.url}`, headers, body: call.body, accessKeyId, secretAccessKey, service: 'bedrock', region,
    datetime: call.headers['x-amz-date'] ?? '', allHeaders: true,
  });
  const { headers: expected } = await again.sign();
  const signature = /Signature=([0-9a-f]+)/.exec(expected.get('authorization') ?? '')?.[1];
  need(signature === parts[6], 'the request signature we calculated does not match the signature you provided');
}

export function frame(headers: Record<string, string>, payload: Buffer): Buffer {
  const head = Buffer.concat(Object.entries(headers).flatMap(([name, value]) => {
    const size = Buffer.alloc(2);
    size.writeUInt16BE(Buffer.byteLength(value));
    return [Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([7]), size, Buffer.from(value)];
  }));
  const whole = Buffer.alloc(12 + head.length + payload.length + 4);
  whole.writeUInt32BE(whole.length, 0);
  whole.writeUInt32BE(head.length, 4);
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8);
  head.copy(whole, 12);
  payload.copy(whole, 12 + head.length);
  whole.writeUInt32BE(crc32(whole.subarray(0, whole.length - 4)), whole.length - 4);
  return whole;
}
const event = (type: string, payload: unknown): Buffer =>
  frame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, Buffer.from(JSON.stringify(payload)));
const exception = (type: string, message: string): Buffer =>
  frame({ ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }, Buffer.from(JSON.stringify({ message })));
const framed = (frames: readonly Buffer[]): Answered => ({
  status: 200, headers: { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'r-1' }, chunks: cut(Buffer.concat(frames), 5),
});

function parseConverse(body: any, isStream: boolean): Seen {
  onlyKnown(body, [
    'messages', 'system', 'inferenceConfig', 'toolConfig', 'guardrailConfig', 'additionalModelRequestFields', 'promptVariables', 'additionalModelResponseFieldPaths',
    'requestMetadata', 'performanceConfig', 'serviceTier', 'outputConfig',
  ], 'body');
  need(Array.isArray(body.messages) && body.messages.length > 0 && body.messages[0].role === 'user', 'a conversation must start with a user message');
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  let open = new Set<string>();
  let last = '';
  for (const { role, content } of body.messages) {
    need(role !== last, 'roles must alternate between user and assistant');
    last = role;
    need(Array.isArray(content) && content.length > 0, 'the content field in the message object is empty');
    for (const block of content) need(Object.keys(block).length === 1, 'a content block is a union of one member');
    for (const block of content) if (block.text !== undefined) need(block.text.trim() !== '', 'the text field in the ContentBlock object is blank');
    const text = content.map((block: any) => block.text ?? '').join('');
    if (role === 'assistant') {
      const reasoning = content.find((block: any) => block.reasoningContent?.reasoningText !== undefined)?.reasoningContent.reasoningText;
      const toolCalls = content.filter((block: any) => block.toolUse !== undefined).map(({ toolUse }: any) => {
        onlyKnown(toolUse, ['toolUseId', 'name', 'input', 'type'], 'toolUse');
        need(/^[a-zA-Z0-9_-]{1,64}$/.test(toolUse.toolUseId), 'toolUseId: invalid');
        need(typeof toolUse.input === 'object', 'toolUse.input must be an object');
        names.set(toolUse.toolUseId, toolUse.name);
        return { id: toolUse.toolUseId, name: toolUse.name, args: toolUse.input };
      });
      if (toolCalls.length > 0 || open.size > 0) need(body.toolConfig !== undefined, 'the toolConfig field must be defined when using toolUse and toolResult content blocks');
      open = new Set(toolCalls.map(({ id }: { id: string }) => id));
      turns.push({ role, text, images: 0, ...optional('thinking', reasoning), ...(toolCalls.length === 0 ? {} : { toolCalls }) });
      continue;
    }
    const results = content.filter((block: any) => block.toolResult !== undefined);
    for (const { toolResult } of results) {
      need(open.delete(toolResult.toolUseId), 'the number of toolResult blocks exceeds the number of toolUse blocks of previous turn');
      turns.push({
        role: 'tool', images: 0, toolCallId: toolResult.toolUseId, ...optional('toolName', names.get(toolResult.toolUseId)),
        text: toolResult.content.map((part: any) => part.text ?? JSON.stringify(part.json)).join(''),
      });
    }
    need(open.size === 0, 'expected toolResult blocks for all toolUse ids of the previous turn');
    const images = content.filter((block: any) => block.image !== undefined);
    for (const { image } of images) need(['png', 'jpeg', 'gif', 'webp'].includes(image.format) && typeof image.source.bytes === 'string', 'image: invalid');
    if (results.length < content.length) turns.push({ role: 'user', text, images: images.length });
  }
  const inference = body.inferenceConfig ?? {};
  onlyKnown(inference, ['maxTokens', 'temperature', 'topP', 'stopSequences'], 'inferenceConfig');
  const thinking = body.additionalModelRequestFields?.thinking;
  if (thinking?.type === 'enabled') need(inference.maxTokens === undefined || inference.maxTokens > thinking.budget_tokens, 'max_tokens must be greater than thinking.budget_tokens');
  const choice = body.toolConfig?.toolChoice;
  const format = body.outputConfig?.textFormat;
  const schema = format?.structure?.jsonSchema?.schema;
  if (format !== undefined) need(format.type === 'json_schema' && typeof schema === 'string', 'jsonSchema.schema must be text');
  return {
    isStream, turns, wire: 'converse', system: (body.system ?? []).map((part: any) => part.text ?? '').join(''),
    tools: (body.toolConfig?.tools ?? []).filter((tool: any) => tool.toolSpec !== undefined).map(({ toolSpec }: any) => {
      need(toolSpec.inputSchema?.json?.type === 'object', 'inputSchema.json.type must be object');
      return toolSpec.name;
    }),
    ...optional('toolChoice', choice === undefined ? undefined : choice.tool?.name ?? (choice.any === undefined ? 'auto' : 'required')),
    ...optional('schema', schema === undefined ? undefined : JSON.parse(schema)),
    ...optional('maxTokens', inference.maxTokens), ...optional('temperature', inference.temperature),
    ...optional('thinkingBudget', thinking?.type === 'enabled' ? thinking.budget_tokens : thinking?.type === 'adaptive' ? 0 : undefined),
  };
}

const stops = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'guardrail_intervened' };
function answerConverse(reply: Reply, seen: Seen): Answered {
  const usage = {
    inputTokens: reply.usage.input - (reply.usage.cached ?? 0), outputTokens: reply.usage.output, totalTokens: reply.usage.input + reply.usage.output,
    cacheReadInputTokens: reply.usage.cached ?? 0, cacheWriteInputTokens: 0,
  };
  if (!seen.isStream) {
    const content = [
      ...(reply.thinking === undefined ? [] : [{ reasoningContent: { reasoningText: reply.thinking } }]),
      ...(reply.text === undefined ? [] : [{ text: reply.text }]),
      ...(reply.toolCalls ?? []).map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } })),
    ];
    return json(200, { output: { message: { role: 'assistant', content } }, stopReason: stops[reply.finish], usage, metrics: { latencyMs: 12 } });
  }
  const frames = [event('messageStart', { role: 'assistant', p: 'abcd' })];
  let index = 0;
  const deltas = (list: readonly object[]): void => {
    for (const delta of list) frames.push(event('contentBlockDelta', { contentBlockIndex: index, delta, p: 'abcdefgh' }));
    frames.push(event('contentBlockStop', { contentBlockIndex: index, p: 'ab' }));
    index += 1;
  };
  if (reply.thinking !== undefined) deltas([...pieces(reply.thinking.text).map((text) => ({ reasoningContent: { text } })), { reasoningContent: { signature: reply.thinking.signature } }]);
  if (reply.streamError !== undefined) {
    frames.push(event('contentBlockDelta', { contentBlockIndex: index, delta: { text: reply.streamError.afterText } }));
    frames.push(exception('throttlingException', reply.streamError.message));
    return framed(frames);
  }
  if (reply.text !== undefined) deltas(pieces(reply.text).map((text) => ({ text })));
  for (const { id, name, args } of reply.toolCalls ?? []) {
    frames.push(event('contentBlockStart', { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name } } }));
    deltas(pieces(JSON.stringify(args)).map((input) => ({ toolUse: { input } })));
  }
  frames.push(event('messageStop', { stopReason: stops[reply.finish], p: 'abc' }), event('metadata', { usage, metrics: { latencyMs: 12 }, p: 'a' }));
  return framed(frames);
}

const family = (name: string, model: string, isClaude: boolean): Family => ({
  name, model, features: isClaude ? new Set(features) : new Set(features.filter((feature) => feature !== 'thinking' && feature !== 'JSON schema')),
  ...(isClaude ? {} : { lacks: { thinking: 'the model does not reason', 'JSON schema': 'the model has no structured output' } }),
  usageParts: new Set(['cached']), hasSignature: isClaude, hasBudget: true, hasToolChoice: true,
  target: (origin) => ({ provider: 'bedrock', custom_host: origin, cloud1_access_key_id: accessKeyId, cloud1_secret_access_key: secretAccessKey, cloud1_region: region }),
  verify: verifySignature,
  parse(call) {
    const path = /^\/model\/([^/]+)\/(converse|converse-stream|invoke|invoke-with-response-stream)$/.exec(call.url);
    need(path && decodeURIComponent(path[1] ?? '') === model, `unknown path ${call.url}`);
    const body = bodyOf(call);
    const operation = path[2] ?? '';
    if (operation.startsWith('converse')) return parseConverse(body, operation === 'converse-stream');
    need(isClaude, 'the model does not take messages');
    need(body.anthropic_version === 'bedrock-2023-05-31', 'anthropic_version: field required');
    need(body.model === undefined && body.stream === undefined, 'model, stream: extra inputs are not permitted');
    return parseMessages(body, operation !== 'invoke');
  },
  answer(reply, seen) {
    if (reply.error !== undefined) return json(reply.error.status, { message: reply.error.message }, { 'x-amzn-errortype': reply.error.status === 429 ? 'ThrottlingException' : 'ValidationException' });
    if (seen.wire === 'converse') return answerConverse(reply, seen);
    if (!seen.isStream) return json(200, messageBody(reply));
    const frames: Buffer[] = [];
    for (const { data } of messageEvents(reply)) {
      if (data.type === 'error') frames.push(exception('throttlingException', data.error.message));
      else frames.push(event('chunk', { bytes: Buffer.from(JSON.stringify(data)).toString('base64'), p: 'abc' }));
    }
    return framed(frames);
  },
});

export const bedrock = family('bedrock (Converse)', 'amazon.nova-pro-v1:0', false);
export const bedrockClaude = family('bedrock (Claude)', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', true);
