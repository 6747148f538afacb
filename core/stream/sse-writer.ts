// Hot: runs for each event of a transformed stream.
// Event -> the text of an event stream (WHATWG HTML, section 9.2.6). A line break in the data begins a further data line, so that nothing
// in it can end the event or forge a field.

import { writeJson, type AnswerEvent } from '@gateway/plugin-sdk';

const lineBreak = /\r\n|\r|\n/;

export function writeEvent(event: AnswerEvent): string {
  const { event: name, data } = event;
  const head = name === undefined || name === '' ? 'data: ' : `event: ${hasLineBreak(name) ? name.split(lineBreak).join(' ') : name}\ndata: `;
  // JSON has no line breaks.
  if (typeof data !== 'string') return `${head}${writeJson(data)}\n\n`;
  return hasLineBreak(data) ? `${head}${data.split(lineBreak).join('\ndata: ')}\n\n` : `${head}${data}\n\n`;
}

const hasLineBreak = (text: string): boolean => text.indexOf('\n') !== -1 || text.indexOf('\r') !== -1;
