// The file and line of a syntax error in a module or in what it imports from its own package: Node's error for modules does not tell. The files
// are compiled as scripts, which tell, and never run. Runs when a plugin is refused.

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Script } from 'node:vm';
import { reasonOf } from '../errors/gateway-error.js';

const filesMax = 500;

export interface SyntaxPlace {
  readonly file: string;
  readonly line: number;
}

/** Where the error with this message is; undefined when no file below `module` has it. */
export function placeOfSyntaxFault(message: string, module: string): SyntaxPlace | undefined {
  const files = [module];
  const seen = new Set(files);
  for (let index = 0; index < files.length && index < filesMax; index += 1) {
    const file = files[index] ?? '';
    const text = textOf(file);
    if (text === undefined) continue;
    const line = faultyLine(text, message);
    if (line !== undefined) return { file, line };
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom|\bimport|\bimport\s*\()\s*['"](\.{1,2}\/[^'"\n]+)['"]/g)) {
      const imported = resolve(dirname(file), specifier);
      if (!seen.has(imported)) files.push(imported);
      seen.add(imported);
    }
  }
  return undefined;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // That it is missing is a fault of its own, which the import has told.
    return undefined;
  }
}

function faultyLine(text: string, message: string): number | undefined {
  const script = asScript(text);
  // Modules may wait at their top level, which scripts may not; what is wrapped hides a brace too many.
  return lineToldBy(script, message) ?? lineToldBy(`async () => {${script}\n}`, message);
}

function lineToldBy(script: string, message: string): number | undefined {
  try {
    void new Script(`'use strict'; ${script}`, { filename: 'module' });
    return undefined;
  } catch (thrown) {
    const line = thrown instanceof Error && reasonOf(thrown) === message ? /^module:(\d+)/.exec(thrown.stack ?? '')?.[1] : undefined;
    return line === undefined ? undefined : Number(line);
  }
}

const blank = (statement: string): string => statement.replace(/[^\n]/g, ' ');

/** The same lines without what only modules may hold. */
function asScript(text: string): string {
  return text
    .replace(/^#!.*/, '')
    .replace(/^[ \t]*import\s*(?:[\w*${}\s,]+?\s*from\s*)?(['"])[^'"\n]*\1[ \t]*;?/gm, blank)
    .replace(/^[ \t]*export\s*(?:\*(?:\s*as\s+\w+)?|\{[^}]*\})\s*(?:from\s*(['"])[^'"\n]*\1)?[ \t]*;?/gm, blank)
    .replace(/^([ \t]*)export\s+default\b/gm, '$1void')
    .replace(/^([ \t]*)export\s+(?=(?:const|let|var|function|class|async)\b)/gm, '$1')
    .replace(/\bimport\.meta\b/g, 'undefined');
}
