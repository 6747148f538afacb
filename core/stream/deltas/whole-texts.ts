// Hot: runs for each block or item of a checked stream that comes whole.
// Texts that a stream does not send in pieces: results of tools, the input of a tool that is known at once. Each is judged by itself.

import { applyEdits, isObject, type Json, type JsonObject, type TextEdit, type TextPiece } from '@gateway/plugin-sdk';
import { isList } from './deltas.js';
import type { TextGate } from './text-gate.js';

/** `body` has one entry in its member `list`, and `pieces` are the texts of it. Gives the changed entry, or undefined when nothing in it changes. */
export function editWhole(gate: TextGate, key: string, body: JsonObject, pieces: readonly TextPiece[], list: string): Json | undefined {
  if (pieces.length === 0) return undefined;
  const edits: TextEdit[] = [];
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    const text = gate.whole(gate.passing(`${key}.${piece.at.slice(2).join('.')}`, piece.kind, piece.group), piece.text);
    if (text !== piece.text) edits.push({ piece: index, from: 0, to: piece.text.length, text });
  }
  if (edits.length === 0 || gate.isDenied) return undefined;
  const changed = applyEdits(body, pieces, edits);
  const entries = isObject(changed) ? changed[list] : undefined;
  return isList(entries) ? entries[0] : undefined;
}
