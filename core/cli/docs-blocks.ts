// The generated parts of the documentation: the settings table of README.md and the error table of core/README.md. The tidy tests compare
// them with what is written; print-docs.ts prints or writes them.

import { errorCodes } from '../errors/codes.js';
import { describeSettings } from '../settings/describe.js';

export interface DocsBlock {
  /** From the repository root. */
  readonly file: string;
  /** The block stands between `<!-- name -->` and `<!-- /name -->`. */
  readonly name: string;
  readonly text: string;
}

const escaped = (cell: string): string => cell.replaceAll('|', '\\|');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');

export function docsBlocks(): readonly DocsBlock[] {
  return [
    {
      file: 'README.md',
      name: 'settings',
      text: table(['Environment', 'File key', 'Default', 'Meaning'], describeSettings().map((row) =>
        [`\`${row.name}\``, row.key === '' ? '' : `\`${row.key}\``, row.default, row.meaning])),
    },
    {
      file: 'core/README.md',
      name: 'errors',
      text: table(['Code', 'Status', 'Type', 'At fault', 'Retried', 'Message'], Object.entries(errorCodes).map(([code, entry]) =>
        [`\`${code}\``, String(entry.status), `\`${entry.type}\``, entry.source, entry.retryable ? 'yes' : 'no', entry.message])),
    },
  ];
}

const startOf = (name: string): string => `<!-- ${name} -->`;
const endOf = (name: string): string => `<!-- /${name} -->`;

/** The text between the markers now; undefined without both markers. */
export function readBlock(content: string, name: string): string | undefined {
  const start = content.indexOf(startOf(name));
  const end = content.indexOf(endOf(name), start);
  return start === -1 || end === -1 ? undefined : content.slice(start + startOf(name).length, end).trim();
}

/** `content` with the block between its markers replaced; undefined without both markers. */
export function replaceBlock(content: string, block: DocsBlock): string | undefined {
  if (readBlock(content, block.name) === undefined) return undefined;
  const start = content.indexOf(startOf(block.name)) + startOf(block.name).length;
  return `${content.slice(0, start)}\n\n${block.text}\n\n${content.slice(content.indexOf(endOf(block.name), start))}`;
}
