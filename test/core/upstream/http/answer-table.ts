// The table of answers as the README beside the parser shows it. Run this file to write it anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerCases, type AnswerCase } from './answer-cases.js';

export const readmePath = resolve(fileURLToPath(new URL('../../../../..', import.meta.url)), 'core/upstream/http/README.md');
const open = '<!-- answers -->';
const close = '<!-- /answers -->';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = ({ name, ours, undici, nginx, why }: AnswerCase): string => `| ${[name, ours, undici === ours ? '=' : undici, nginx === ours ? '=' : nginx, why ?? ''].map(cell).join(' | ')} |`;

export function withTable(text: string): string {
  const from = text.indexOf(open);
  const to = text.indexOf(close);
  if (from === -1 || to === -1) throw new Error(`${readmePath} has no place for the table`);
  const rows = ['| Answer | Ours | undici | nginx | Why |', '| --- | --- | --- | --- | --- |', ...answerCases.map(row)];
  return `${text.slice(0, from)}${open}\n\n${rows.join('\n')}\n\n${text.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(readmePath, withTable(readFileSync(readmePath, 'utf8')));
