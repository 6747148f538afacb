// Gemini's generateContent as the Gemini API and Vertex AI speak it. Function calls carry no ids: results are paired by name, in order.

import { json, need, onlyKnown, optional, pieces, sse, type Answered, type Reply, type Seen, type Turn } from './family.js';

const generation = [
  'temperature', 'topP', 'topK', 'candidateCount', 'maxOutputTokens', 'stopSequences', 'responseMimeType', 'responseSchema', 'responseJsonSchema', 'presencePenalty',
  'frequencyPenalty', 'seed', 'responseLogprobs', 'logprobs', 'thinkingConfig', 'responseModalities', 'mediaResolution', 'speechConfig', 'imageConfig',
];
const partMembers = ['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult', 'mediaResolution'];

const resultText = (response: any): string => {
  const values = Object.values(response);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(response);
};

export function parseGemini(path: string, body: any): Seen {
  onlyKnown(body, ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings', 'cachedContent', 'labels', 'serviceTier', 'store'], 'Invalid JSON payload received');
  need(Array.isArray(body.contents) && body.contents.length > 0, 'contents is not specified');
  const turns: Turn[] = [];
  let open: string[] = [];
  for (const [index, content] of body.contents.entries()) {
    need(content.role === 'user' || content.role === 'model', `contents[${index}]: please use a valid role: user, model`);
    need(Array.isArray(content.parts) && content.parts.length > 0, `contents[${index}].parts must not be empty`);
    for (const part of content.parts) {
      onlyKnown(part, partMembers, `contents[${index}].parts`);
      need(['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'].filter((key) => key in part).length === 1, `contents[${index}].parts: required oneof field 'data' must have one initialized field`);
    }
    const texts = content.parts.filter((part: any) => part.text !== undefined && part.thought !== true).map((part: any) => part.text).join('');
    if (content.role === 'model') {
      const thoughts = content.parts.filter((part: any) => part.thought === true).map((part: any) => part.text).join('');
      const signature = content.parts.find((part: any) => part.thoughtSignature !== undefined)?.thoughtSignature;
      const calls = content.parts.filter((part: any) => part.functionCall !== undefined);
      for (const call of calls.slice(1)) need(call.thoughtSignature === undefined || calls[0].thoughtSignature !== undefined, 'parallel calls carry the signature on the first');
      const toolCalls = calls.map((part: any) => ({ id: '', name: part.functionCall.name, args: part.functionCall.args ?? {} }));
      open = toolCalls.map(({ name }: { name: string }) => name);
      turns.push({
        role: 'assistant', text: texts, images: 0, ...(toolCalls.length === 0 ? {} : { toolCalls }),
        ...(thoughts === '' && signature === undefined ? {} : { thinking: { text: thoughts, ...optional('signature', signature) } }),
      });
      continue;
    }
    const results = content.parts.filter((part: any) => part.functionResponse !== undefined);
    need(results.length === open.length, 'please ensure that the number of function response parts is equal to the number of function call parts of the function call turn');
    for (const { functionResponse } of results) {
      need(open.includes(functionResponse.name), `function response for ${functionResponse.name}, which was not called`);
      need(typeof functionResponse.response === 'object' && !Array.isArray(functionResponse.response), 'function_response.response must be an object');
      turns.push({ role: 'tool', text: resultText(functionResponse.response), images: 0, toolName: functionResponse.name });
    }
    open = [];
    const images = content.parts.filter((part: any) => part.inlineData !== undefined || part.fileData !== undefined);
    for (const { inlineData } of images) if (inlineData !== undefined) need(/^image\//.test(inlineData.mimeType) && !inlineData.data.startsWith('data:'), 'inline_data: invalid');
    if (results.length < content.parts.length) turns.push({ role: 'user', text: texts, images: images.length });
  }
  const config = body.generationConfig ?? {};
  onlyKnown(config, generation, 'generation_config');
  if (config.responseSchema !== undefined || config.responseJsonSchema !== undefined) need(config.responseMimeType === 'application/json', 'response_schema needs response_mime_type application/json');
  const calling = body.toolConfig?.functionCallingConfig;
  const declared: any[] = (body.tools ?? []).flatMap((tool: any) => tool.functionDeclarations ?? []);
  for (const tool of declared) onlyKnown(tool, ['name', 'description', 'parameters', 'parametersJsonSchema', 'response', 'responseJsonSchema', 'behavior'], 'function_declarations');
  const budget = config.thinkingConfig?.thinkingBudget;
  const isThinking = config.thinkingConfig !== undefined && budget !== 0;
  return {
    isStream: path.includes(':streamGenerateContent'), wire: 'gemini',
    system: (body.systemInstruction?.parts ?? []).map((part: any) => part.text).join(''),
    turns, tools: declared.map((tool) => tool.name),
    ...optional('toolChoice', calling === undefined ? undefined : calling.mode !== 'ANY' ? calling.mode.toLowerCase()
      : calling.allowedFunctionNames?.length === 1 ? calling.allowedFunctionNames[0] : 'required'),
    ...optional('schema', config.responseJsonSchema ?? config.responseSchema),
    ...optional('maxTokens', config.maxOutputTokens), ...optional('temperature', config.temperature),
    ...(isThinking ? { thinkingBudget: typeof budget === 'number' && budget > 0 ? budget : 0 } : {}),
  };
}

const names: Record<number, string> = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 429: 'RESOURCE_EXHAUSTED', 500: 'INTERNAL', 503: 'UNAVAILABLE' };
export const geminiError = (message: string, status: number): unknown => ({ error: { code: status, message, status: names[status] ?? 'UNKNOWN' } });

export function answerGemini(reply: Reply, seen: Seen): Answered {
  if (reply.error !== undefined) return json(reply.error.status, geminiError(reply.error.message, reply.error.status));
  const { usage } = reply;
  const reasoning = usage.reasoning ?? 0;
  const usageMetadata = {
    promptTokenCount: usage.input, candidatesTokenCount: usage.output - reasoning, totalTokenCount: usage.input + usage.output,
    ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }), ...(usage.cached === undefined ? {} : { cachedContentTokenCount: usage.cached }),
  };
  const finishReason = reply.finish === 'length' ? 'MAX_TOKENS' : reply.finish === 'content_filter' ? 'SAFETY' : 'STOP';
  const calls = (reply.toolCalls ?? []).map(({ name, args }, index) =>
    ({ functionCall: { name, args }, ...(index === 0 && reply.thinking !== undefined ? { thoughtSignature: reply.thinking.signature } : {}) }));
  const whole = (parts: readonly unknown[], finish?: string): unknown => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...optional('finishReason', finish) }], usageMetadata, modelVersion: 'gemini-2025', responseId: 'r1',
  });
  const signatureOnText = calls.length === 0 && reply.thinking !== undefined ? { thoughtSignature: reply.thinking.signature } : {};
  if (!seen.isStream) {
    return json(200, whole([
      ...(reply.thinking === undefined ? [] : [{ text: reply.thinking.text, thought: true }]),
      ...(reply.text === undefined ? [] : [{ text: reply.text, ...signatureOnText }]), ...calls,
    ], finishReason));
  }
  const events: { data: unknown }[] = [];
  for (const text of pieces(reply.thinking?.text ?? '', 9)) events.push({ data: whole([{ text, thought: true }]) });
  for (const text of pieces(reply.streamError?.afterText ?? reply.text ?? '', 5)) events.push({ data: whole([{ text }]) });
  if (reply.streamError !== undefined) return sse([...events, { data: geminiError(reply.streamError.message, 503) }], '\r\n');
  for (const call of calls) events.push({ data: whole([call]) });
  events.push({ data: whole([{ text: '', ...signatureOnText }], finishReason) });
  return sse(events, '\r\n');
}
