// Rows of a reply as columns of text, for eyes; scripts take --json.

const cellCharsMax = 60;

/** Columns that are empty in every row are left out. */
export function tableOf(rows: readonly unknown[], columns: readonly string[]): string {
  const cells = rows.map((row) => columns.map((column) => cellOf(Object(row)[column])));
  const shown = columns.map((_, index) => index).filter((index) => index === 0 || cells.some((row) => row[index] !== ''));
  const lines = [columns, ...cells].map((row) => shown.map((index) => row[index] ?? ''));
  const widths = shown.map((_, index) => Math.max(...lines.map((line) => [...line[index] ?? ''].length)));
  return lines.map((line) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd()).join('\n');
}

/** One reply, a line for each member. */
export function membersOf(reply: unknown): string {
  const entries = Object.entries(Object(reply)).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${plain(typeof value === 'object' ? JSON.stringify(value) : typeof value === 'number' ? numberText(value) : String(value))}`).join('\n');
}

/** Sums of prices have digits that only the machine made. */
const digitsMax = 12;
const numberText = (value: number): string => String(Number(value.toPrecision(digitsMax)));

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = plain(Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : typeof value === 'number' ? numberText(value) : String(value));
  return text.length > cellCharsMax ? `${text.slice(0, cellCharsMax - 1)}…` : text;
}

/** What steers a terminal, or turns around what is read. */
const steering = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Names are others' texts: none of them may steer a terminal. */
export const plain = (text: string): string => text.replace(steering, '?');

/** With escapes, as the strings of JSON and of YAML in double quotes have them; line breaks stay. */
export const escaped = (text: string): string => text.replace(steering, (character) => (character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`));

/** The same text to whoever parses it. */
export const plainJson = (value: unknown): string => escaped(JSON.stringify(value, null, 2));
