// Hot: runs for each translated answer that is not streamed.
// Chat completion -> Response object. May not fail on a malformed answer: what is missing makes a failed response.

import { isObject, listOf, textOf, thoughtSignatureOf, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { incompleteReason, responseObject, type ResponseContext } from './envelope.js';
import { ResponseOutput } from './output.js';
import { annotationOf, argumentsText, contentText, logprobsOf, plainReasoning } from './pieces.js';

export type { ResponseContext } from './envelope.js';

export function chatToResponse(answer: JsonObject, context: ResponseContext): JsonObject {
  const choice = listOf(answer.choices)[0];
  const common = { usage: answer.usage, serviceTier: typeof answer.service_tier === 'string' ? answer.service_tier : undefined };
  if (!isObject(choice) || !isObject(choice.message)) {
    return responseObject(context, { ...common, status: 'failed', output: [], error: { code: 'server_error', message: 'the provider gave no answer' } });
  }
  if (choice.finish_reason === 'error') {
    return responseObject(context, { ...common, status: 'failed', output: [], error: { code: 'server_error', message: errorMessage(choice.error ?? answer.error) } });
  }
  const output = new ResponseOutput(context.id, null);
  writeMessage(choice.message, choice, output);
  const incomplete = incompleteReason(textOf(choice.finish_reason));
  const items = output.close(incomplete !== undefined);
  return responseObject(context, { ...common, status: incomplete === undefined ? 'completed' : 'incomplete', output: items, incomplete });
}

const errorMessage = (error: Json | undefined): string => (isObject(error) && typeof error.message === 'string' ? error.message : 'the provider broke off with an error');

function writeMessage(message: JsonObject, choice: JsonObject, output: ResponseOutput): void {
  const text = contentText(message.content);
  for (const annotation of listOf(message.annotations)) {
    const told = annotationOf(annotation);
    if (told !== undefined) output.annotation(told);
  }
  const blocks = listOf(message.content_blocks);
  if (blocks.length === 0) {
    const reasoning = plainReasoning(message);
    if (reasoning !== '') output.reasoning(reasoning, 0);
  }
  const logprobs = logprobsOf(choice);
  // The content is what counts: something between the provider and here may have changed it, and then it is told after the reasoning.
  const isSplit = text !== '' && blocksText(blocks) === text;
  let isFirstText = true;
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    if (block.type === 'text' && isSplit && block.text !== '') {
      output.text(textOf(block.text), isFirstText ? logprobs : null);
      isFirstText = false;
    } else if (block.type === 'thinking') {
      const signature = textOf(block.signature);
      if (textOf(block.thinking) !== '') output.reasoning(textOf(block.thinking), index);
      if (signature !== '') output.signature(signature, index);
    } else if (block.type === 'redacted_thinking') {
      output.redacted(textOf(block.data));
    }
  }
  if (!isSplit && text !== '') output.text(text, logprobs);
  const refusal = textOf(message.refusal);
  if (refusal !== '') output.refusal(refusal);
  for (const toolCall of listOf(message.tool_calls)) {
    if (!isObject(toolCall)) continue;
    const called = isObject(toolCall.function) ? toolCall.function : {};
    output.call(output.newCall(), textOf(toolCall.id), textOf(called.name), argumentsText(called.arguments), thoughtSignatureOf(toolCall) ?? '');
  }
}

function blocksText(blocks: readonly Json[]): string {
  let text = '';
  for (const block of blocks) if (isObject(block) && block.type === 'text') text += textOf(block.text);
  return text;
}
