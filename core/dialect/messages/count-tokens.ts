// A local estimate of the input tokens of a Messages request, for providers that have no token counter.
// Runs once for a call of count_tokens. Deterministic, reads the body once, knows no tokenizer's tables: the figures are averages of what is
// publicly known of today's tokenizers (English: about 1.3 tokens a word; Han: about one a character; numbers: two to three digits each).
// Expect prose to be right within some 15 percent, code and rare scripts within 30; images and files are flat figures.

import { isList, isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { isSignatureData } from './signature.js';

/** About a picture of 1.2 megapixels, to which larger ones are scaled down. */
const tokensOfImage = 1600;
const tokensOfPage = 2000;
/** Base64 characters of a page of PDF, roughly. */
const lengthOfPage = 100_000;
const perMessage = 4;
const perTool = 12;
const perBlock = 3;
const perRequest = 3;

export function estimateTokens(body: JsonObject): number {
  const messages = isList(body.messages) ? body.messages.filter(isObject) : [];
  const turn = lastTurn(messages);
  let tokens = perRequest + contentTokens(body.system, true) + (body.system === undefined || body.system === null ? 0 : perMessage);
  messages.forEach((message, index) => {
    tokens += perMessage + contentTokens(message.content, index >= turn);
  });
  if (isList(body.tools)) for (const tool of body.tools) tokens += perTool + toolTokens(tool);
  if (isObject(body.output_config) && isObject(body.output_config.format)) tokens += jsonTokens(body.output_config.format.schema);
  return Math.ceil(tokens);
}

/** Where the turn begins that the model is in: behind the last thing a user said, tool results aside. Earlier thinking is not sent again. */
function lastTurn(messages: readonly JsonObject[]): number {
  return messages.findLastIndex((message) => message.role === 'user'
    && !(isList(message.content) && message.content.every((block) => isObject(block) && block.type === 'tool_result')));
}

function contentTokens(content: Json | undefined, isInTurn: boolean): number {
  if (typeof content === 'string') return textTokens(content);
  if (!isList(content)) return 0;
  let tokens = 0;
  for (const block of content) if (isObject(block)) tokens += blockTokens(block, isInTurn);
  return tokens;
}

function blockTokens(block: JsonObject, isInTurn: boolean): number {
  switch (block.type) {
    case 'text': return textOrNone(block.text);
    case 'image': return tokensOfImage;
    case 'document': return perBlock + textOrNone(block.title) + textOrNone(block.context) + documentTokens(block.source);
    case 'search_result': return perBlock + textOrNone(block.title) + textOrNone(block.source) + contentTokens(block.content, isInTurn);
    case 'thinking': return isInTurn ? textOrNone(block.thinking) : 0;
    // Sealed: its length says roughly what it holds.
    case 'redacted_thinking': return isInTurn && typeof block.data === 'string' && !isSignatureData(block.data) ? block.data.length / 6 : 0;
    case 'tool_use': case 'server_tool_use': case 'mcp_tool_use': return perTool + textOrNone(block.name) + jsonTokens(block.input);
    case 'tool_result': return perTool + contentTokens(block.content, isInTurn);
    default: return jsonTokens(block);
  }
}

function documentTokens(source: Json | undefined): number {
  if (!isObject(source)) return 0;
  switch (source.type) {
    case 'text': return textOrNone(source.data);
    case 'content': return contentTokens(source.content, true);
    case 'base64': return tokensOfPage * Math.max(1, Math.ceil((typeof source.data === 'string' ? source.data.length : 0) / lengthOfPage));
    default: return tokensOfPage;
  }
}

function toolTokens(tool: Json): number {
  if (!isObject(tool)) return 0;
  const { cache_control: _, ...told } = tool;
  return jsonTokens(told);
}

const jsonTokens = (value: Json | undefined): number => (value === undefined || value === null ? 0 : textTokens(JSON.stringify(value)));
const textOrNone = (value: Json | undefined): number => (typeof value === 'string' ? textTokens(value) : 0);

/** Letters go by words, with a word also where lower case turns to upper: so keys and base64 count for what they are. */
function textTokens(text: string): number {
  let tokens = 0;
  let word = 0;
  let previous = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isLatin(code)) {
      if (word > 0 && isUpper(code) && !isUpper(previous)) word = 0;
      // The first token of a word, and one more for every six letters.
      if (word % 6 === 0) tokens += 1;
      // Accented letters break words up.
      if (code > 0x7f) tokens += 0.3;
      word += 1;
    } else {
      word = 0;
      tokens += weightOf(code, previous);
    }
    previous = code;
  }
  return tokens;
}

const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a;
const isLatin = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || isUpper(code) || (code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7);

function weightOf(code: number, previous: number): number {
  if (code === 0x20) return previous === 0x20 ? 0.15 : 0;
  if (code === 0x0a) return previous === 0x0a ? 0.2 : 0.6;
  if (code < 0x20) return 0.3;
  if (code >= 0x30 && code <= 0x39) return 0.42;
  // Punctuation is often merged with its neighbours: `":{"` is one token or two.
  if (code < 0xc0 || (code >= 0x2000 && code <= 0x206f)) return previous === code ? 0.3 : 0.65;
  // Greek, Cyrillic, Armenian, Hebrew, Arabic.
  if (code < 0x700) return 0.42;
  // Indic scripts, Thai, Lao, Tibetan, Georgian, Ethiopic, Khmer.
  if (code < 0x2000) return 0.75;
  if (code >= 0x3040 && code <= 0x30ff) return 0.85;
  // Hangul.
  if (code >= 0xac00 && code <= 0xd7af) return 0.95;
  // Han, and the wide forms and marks that go with it.
  if ((code >= 0x2e80 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff) || code >= 0xff00) return 1.05;
  // Each half of a character beyond the basic plane: emoji, rare Han.
  if (code >= 0xd800 && code <= 0xdfff) return 1.2;
  return 1;
}
