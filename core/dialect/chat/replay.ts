// A stored chat completion as the chunks of a streamed one: the roles of all choices, so that a stream that breaks off between two of them
// is known to have broken off; then for each choice thinking and text in their order, refusal, what else the message has, tool calls, and
// a chunk with the finish reason.

import { isObject, listOf, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { ChunkWriter, choicesOf } from './chunk-writer.js';
import { slices, tokenSlices } from '../common/slices.js';

/** A multiple of four, so that each piece of base64 can be read by itself. */
const audioLength = 16_384;

interface Piece {
  readonly delta: JsonObject;
  readonly logprobs?: JsonObject;
}

export function* replayChat(answer: JsonObject, includesUsage: boolean): Generator<AnswerEvent> {
  const writer = new ChunkWriter(answer, 'chat.completion.chunk');
  const choices = choicesOf(answer);
  for (const { index, choice } of choices) yield writer.chunk(choiceOf(index, choice, startPiece(messageOf(choice), choice.logprobs)));
  for (const [place, { index, choice }] of choices.entries()) {
    for (const piece of pieces(messageOf(choice), choice.logprobs)) yield writer.chunk(choiceOf(index, choice, piece));
    const { index: _, delta: __, message, logprobs, finish_reason: finish, ...rest } = choice;
    const none = logprobs === undefined ? {} : { logprobs: null };
    const last = { index, delta: {}, ...none, finish_reason: finish ?? null, ...rest };
    yield place === choices.length - 1 ? writer.lastChunk(last) : writer.chunk(last);
  }
  yield* writer.usage(includesUsage);
}

const messageOf = (choice: JsonObject): JsonObject => (isObject(choice.message) ? choice.message : {});

function choiceOf(index: number, { logprobs }: JsonObject, piece: Piece): JsonObject {
  const told = piece.logprobs === undefined ? (logprobs === undefined ? {} : { logprobs: null }) : { logprobs: piece.logprobs };
  return { index, delta: piece.delta, ...told, finish_reason: null };
}

function startPiece({ role, content, refusal, audio, function_call: functionCall }: JsonObject, logprobs: Json | undefined): Piece {
  const start: Record<string, Json> = { role: role ?? 'assistant', content: contentText(content) === null ? null : '' };
  if (refusal !== undefined) start.refusal = refusal === '' ? '' : null;
  if (audio === null) start.audio = null;
  if (functionCall === null) start.function_call = null;
  return isObject(logprobs) ? { delta: start, logprobs: emptied(logprobs) } : { delta: start };
}

function* pieces(message: JsonObject, logprobs: Json | undefined): Generator<Piece> {
  const { role, content, refusal, content_blocks: blocks, tool_calls: calls, function_call: functionCall, audio, ...rest } = message;
  const probabilities = isObject(logprobs) ? logprobs : undefined;
  for (const [name, value] of Object.entries(rest)) {
    // Reasoning comes before the text, all else behind it.
    if (!isReasoning(name)) continue;
    if (typeof value === 'string') yield* growing(value, (piece) => ({ [name]: piece }));
    else yield { delta: { [name]: value } };
  }
  yield* textPieces(contentText(content), blocks, probabilities);
  if (typeof refusal === 'string') {
    for (const piece of tokenSlices(refusal, listOf(probabilities?.refusal))) yield withTokens({ refusal: piece.text }, probabilities, 'refusal', piece.tokens);
  }
  for (const [name, value] of Object.entries(rest)) if (!isReasoning(name)) yield { delta: { [name]: value } };
  if (isObject(audio)) yield* audioPieces(audio);
  if (isObject(functionCall)) yield* called(functionCall, 'arguments', (piece) => ({ function_call: piece }));
  if (Array.isArray(calls)) {
    if (calls.length === 0) yield { delta: { tool_calls: [] } };
    for (const [index, call] of calls.entries()) if (isObject(call)) yield* toolCall(index, call);
  }
}

const isReasoning = (name: string): boolean => name === 'reasoning_content' || name === 'reasoning' || name === 'reasoning_details';

/** Null: there is none. Deltas have text only, so that of a list of parts its text is told. */
function contentText(content: Json | undefined): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

/** What the lists begin with: nothing. */
function emptied(logprobs: JsonObject): JsonObject {
  const isList = (name: string, value: Json): boolean => (name === 'content' || name === 'refusal') && Array.isArray(value);
  return Object.fromEntries(Object.entries(logprobs).map(([name, value]): [string, Json] => [name, isList(name, value) ? [] : value]));
}

/** Both lists are told in each chunk, as far as the answer has them; null is none. */
function withTokens(delta: JsonObject, logprobs: JsonObject | undefined, of: 'content' | 'refusal', tokens: readonly Json[]): Piece {
  if (logprobs === undefined || tokens.length === 0) return { delta };
  const told: Record<string, Json> = {};
  for (const name of ['content', 'refusal'] as const) if (logprobs[name] !== undefined) told[name] = name === of ? tokens : null;
  return { delta, logprobs: told };
}

/** At least one piece, so that an empty text is told as well. */
function* growing(text: string, deltaOf: (piece: string) => JsonObject): Generator<Piece> {
  if (text === '') yield { delta: deltaOf('') };
  for (const piece of slices(text)) yield { delta: deltaOf(piece) };
}

/** Text, among the blocks where they tell the same text; `content` is told all the same, for it is what most clients read. */
function* textPieces(content: string | null, blocks: Json | undefined, logprobs: JsonObject | undefined): Generator<Piece> {
  const tokens = listOf(logprobs?.content);
  const text = content ?? '';
  const list = Array.isArray(blocks) ? blocks.filter(isObject) : [];
  const isSplit = text !== '' && list.map(textIn).join('') === text;
  // Log probabilities do not say which block they are of: with several, the text is told once more behind them.
  const isAmong = isSplit && (tokens.length === 0 || list.filter(({ type }) => type === 'text').length === 1);
  for (const [index, block] of list.entries()) {
    if (isAmong && block.type === 'text') {
      yield* blockStart(index, block, 'text');
      for (const piece of tokenSlices(textIn(block), tokens)) {
        yield withTokens({ content: piece.text, content_blocks: [{ index, delta: { text: piece.text } }] }, logprobs, 'content', piece.tokens);
      }
    } else {
      yield* blockPieces(index, block);
    }
  }
  if (!isAmong) for (const piece of tokenSlices(text, tokens)) yield withTokens(content === null ? {} : { content: piece.text }, logprobs, 'content', piece.tokens);
}

const textIn = (block: JsonObject): string => (block.type === 'text' && typeof block.text === 'string' ? block.text : '');

function* blockPieces(index: number, block: JsonObject): Generator<Piece> {
  const kind = block.type === 'thinking' || block.type === 'text' ? block.type : undefined;
  const text = kind === undefined ? undefined : block[kind];
  if (kind === undefined || typeof text !== 'string') {
    yield { delta: { content_blocks: [{ index, content_block: block }] } };
    return;
  }
  yield* blockStart(index, block, kind);
  for (const piece of slices(text)) yield { delta: { content_blocks: [{ index, delta: { [kind]: piece } }] } };
  if (kind === 'thinking' && block.signature !== undefined) yield { delta: { content_blocks: [{ index, delta: { signature: block.signature } }] } };
}

/** Needed only for what deltas do not tell. */
function* blockStart(index: number, block: JsonObject, kind: 'text' | 'thinking'): Generator<Piece> {
  const { signature, ...rest } = block;
  const isPlain = Object.keys(rest).length === 2 && (kind === 'thinking' || signature === undefined);
  if (isPlain && block[kind] !== '') return;
  const start = kind === 'thinking' ? rest : block;
  yield { delta: { content_blocks: [{ index, content_block: { ...start, [kind]: '' } }] } };
}

function* audioPieces({ data, transcript, expires_at: expiresAt, ...rest }: JsonObject): Generator<Piece> {
  yield { delta: { audio: rest } };
  if (typeof transcript === 'string') yield* growing(transcript, (piece) => ({ audio: { transcript: piece } }));
  if (typeof data === 'string') {
    if (data === '') yield { delta: { audio: { data } } };
    for (const piece of slices(data, audioLength)) yield { delta: { audio: { data: piece } } };
  }
  const end: Record<string, Json> = {};
  if (expiresAt !== undefined) end.expires_at = expiresAt;
  if (transcript === null) end.transcript = null;
  if (data === null) end.data = null;
  if (Object.keys(end).length > 0) yield { delta: { audio: end } };
}

/** The name and whatever else, then the text that comes in pieces. */
function* called(object: JsonObject, member: 'arguments' | 'input', deltaOf: (piece: JsonObject) => JsonObject): Generator<Piece> {
  const given = object[member];
  const text = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : '';
  yield { delta: deltaOf({ ...object, [member]: '' }) };
  if (text !== '') yield { delta: deltaOf({ [member]: text }) };
}

function* toolCall(index: number, call: JsonObject): Generator<Piece> {
  const { index: _, function: func, custom, ...rest } = call;
  let isFirst = true;
  const deltaOf = (kind: string) => (piece: JsonObject): JsonObject => {
    const head = isFirst ? rest : {};
    isFirst = false;
    return { tool_calls: [{ index, ...head, [kind]: piece }] };
  };
  if (isObject(func)) yield* called(func, 'arguments', deltaOf('function'));
  else if (isObject(custom)) yield* called(custom, 'input', deltaOf('custom'));
  else yield { delta: { tool_calls: [{ index, ...rest }] } };
}
