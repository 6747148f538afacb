// Where in which file a module is at fault: read from what its import threw. Runs when a plugin is refused.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineOfText } from './member-line.js';
import { placeOfSyntaxFault } from './syntax-fault.js';

export interface FaultPlace {
  readonly file: string;
  /** From 1; undefined when nothing tells it. */
  readonly line: number | undefined;
}

/** The place that an import's fault names, preferably below `folder`; the module itself when it names none. */
export function placeOfImportFault(thrown: unknown, module: string, folder: string): FaultPlace {
  if (!(thrown instanceof Error)) return { file: module, line: undefined };
  const stack = thrown.stack ?? '';
  // A syntax error, or an export that is not there: the engine writes the place above the message.
  const head = /^(file:\/\/\S+|\/[^\n:]+):(\d+)$/m.exec(stack.split('\n', 1)[0] ?? '');
  if (head !== null) return { file: pathOf(head[1] ?? ''), line: Number(head[2]) };
  const syntax = thrown instanceof SyntaxError ? placeOfSyntaxFault(thrown.message, module) : undefined;
  if (syntax !== undefined) return syntax;
  const missing = /^Cannot find (?:package|module) '([^']+)' imported from (\S+)$/m.exec(thrown.message);
  if (missing !== null) {
    const file = pathOf(missing[2] ?? '');
    return { file, line: lineIn(file, basename(missing[1] ?? '')) };
  }
  const frames = [...stack.matchAll(/^ +at .*?\(?((?:file:\/\/)?\/[^\s()]+):(\d+):\d+\)?$/gm)].map((frame) => ({ file: pathOf(frame[1] ?? ''), line: Number(frame[2]) }));
  return frames.find(({ file }) => file.startsWith(folder)) ?? { file: module, line: undefined };
}

/** Where the definition stands that a module exports. */
export const placeOfDefinition = (module: string): FaultPlace => ({ file: module, line: lineIn(module, 'export default') ?? lineIn(module, 'as default') ?? lineIn(module, 'export') });

/** The line of a file that first holds `text`. */
export function lineIn(file: string, text: string): number | undefined {
  try {
    return lineOfText(readFileSync(file, 'utf8'), text);
  } catch {
    // The place is a courtesy: the fault itself has been told.
    return undefined;
  }
}

const pathOf = (place: string): string => (place.startsWith('file:') ? fileURLToPath(place) : place);
