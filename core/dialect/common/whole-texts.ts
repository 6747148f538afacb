// Hot: runs for each block or item of a checked stream that comes whole.
// Texts that a stream does not send in pieces: results of tools, the input of a tool that is known at once. Each is judged by itself.

import { applyEdits, isHarmless, isList, isObject, otherPieces, spelledText, type Json, type JsonObject, type TextEdit, type TextPiece } from '@gateway/plugin-sdk';
import type { TextGate } from './text-gate.js';

/** `body` has one entry in its member `list`, and `pieces` are the texts of it. Gives the changed entry, or undefined when nothing in it changes. */
export function editWhole(gate: TextGate, key: string, body: JsonObject, pieces: readonly TextPiece[], list: string): Json | undefined {
  if (pieces.length === 0) return undefined;
  const changed = edited(gate, key, body, pieces);
  const entries = isObject(changed) ? changed[list] : undefined;
  return isList(entries) ? entries[0] : undefined;
}

/** The object with its other texts as they may go: of all members but those that `known` names. The same object when nothing in it changes. */
export function editOthers(gate: TextGate, key: string, object: JsonObject, known: ReadonlySet<string>, group: number): JsonObject {
  let hasOthers = false;
  for (const name in object) {
    const value = object[name];
    if (typeof value === 'string' ? value !== '' && !known.has(name) && !isHarmless(name, '', value) : typeof value === 'object' && value !== null && !known.has(name)) hasOthers = true;
  }
  if (!hasOthers) return object;
  const pieces = otherPieces(object, known, group);
  if (pieces.length === 0) return object;
  const changed = edited(gate, key, object, pieces);
  return isObject(changed) ? changed : object;
}

/** Whether a list of probabilities may go, as far as it tells more than the text beside it. */
export function mayGo(gate: TextGate, key: string, logprobs: Json, said: Json | undefined, group: number): boolean {
  const text = spelledText(logprobs, said);
  return text === '' || (gate.whole(gate.passing(`${key}.logprobs`, 'field', group), text) === text && !gate.isDenied);
}

function edited(gate: TextGate, key: string, body: JsonObject, pieces: readonly TextPiece[]): Json {
  const edits: TextEdit[] = [];
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    const text = gate.whole(gate.passing(`${key}.${piece.at.join('.')}`, piece.kind, piece.group), piece.text);
    if (text !== piece.text) edits.push({ piece: index, from: 0, to: piece.text.length, text });
  }
  return edits.length === 0 || gate.isDenied ? body : applyEdits(body, pieces, edits);
}
