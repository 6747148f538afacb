import { isObject, listOf, type EndpointName, type Json } from '@gateway/plugin-sdk';

export interface ChoiceContent {
  readonly isEmpty: boolean;
  /** Text, parts or blocks, as the answer has them; undefined when there is no such member. */
  readonly content: Json | undefined;
}

/** Each choice of an answer. A dialect without choices has one. */
export function choicesOf(endpoint: EndpointName, answer: Json): readonly ChoiceContent[] {
  if (!isObject(answer)) return [{ isEmpty: isBlank(answer), content: answer }];
  switch (endpoint) {
    case 'chatCompletions': return listOf(answer.choices).map((choice) => messageContent(isObject(choice) ? choice.message : undefined));
    case 'completions': return listOf(answer.choices).map((choice) => textContent(isObject(choice) ? choice.text : undefined));
    case 'messages': return [textContent(answer.content)];
    case 'responses': return [{ isEmpty: listOf(answer.output).every(isBlankItem), content: answer.output }];
    // Vectors, images, results of a moderation: whatever the list of results is called.
    default: return [textContent(answer.data ?? answer.results ?? answer.text ?? (Object.keys(answer).length === 0 ? undefined : 'other'))];
  }
}

function messageContent(message: Json | undefined): ChoiceContent {
  if (!isObject(message)) return { isEmpty: true, content: undefined };
  const { content } = message;
  // A call of a tool is an answer, as are a refusal, audio and images.
  const isEmpty = isBlank(content) && isBlank(message.refusal)
    && listOf(message.tool_calls).length === 0 && !isObject(message.function_call)
    && !isObject(message.audio) && listOf(message.images).length === 0;
  return { isEmpty, content };
}

const textContent = (content: Json | undefined): ChoiceContent => ({ isEmpty: isBlank(content), content });

/** Nothing, white space, or a list of nothing but that. */
function isBlank(content: Json | undefined): boolean {
  if (content === undefined || content === null) return true;
  if (typeof content === 'string') return content.trim() === '';
  if (Array.isArray(content)) return content.every((part: Json) => isBlankPart(part));
  return false;
}

/** Thinking is not content; a part of any kind that has no text is. */
function isBlankPart(part: Json): boolean {
  if (!isObject(part)) return isBlank(part);
  switch (part.type) {
    case 'thinking': case 'redacted_thinking': return true;
    case 'text': case 'output_text': return isBlank(part.text);
    case 'refusal': return isBlank(part.refusal);
    default: return false;
  }
}

function isBlankItem(item: Json): boolean {
  if (!isObject(item)) return true;
  if (item.type === 'reasoning') return true;
  return item.type === 'message' || item.type === undefined ? isBlank(item.content) : false;
}
