/** A fenced block of Markdown. */
export interface CodeFence {
  /** First word behind the fence, in lower case; empty when there is none. */
  readonly tag: string;
  readonly content: string;
  /** Of the whole block, fences included. */
  readonly from: number;
  readonly to: number;
}

/** Up to how many fenced blocks of one text are looked at. */
const fencesMax = 1000;
const opening = /^(?:[ \t>]|[-*+] |\d{1,9}[.)] ){0,20}(`{3,}|~{3,})[ \t]*([^\n]{0,200})$/;

/**
 * Fenced blocks in order. A fence may be indented, quoted or stand in a list; it is closed by the same characters, at least as many, alone on a
 * line. A block that is not closed goes up to the end: models stop in the middle of one.
 */
export function codeFences(text: string): CodeFence[] {
  const fences: CodeFence[] = [];
  if (!text.includes('```') && !text.includes('~~~')) return fences;
  let open: { readonly mark: string; readonly tag: string; readonly from: number; readonly contentFrom: number } | undefined;
  for (let at = 0; at <= text.length && fences.length < fencesMax;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    // Long lines open or close nothing.
    const line = end - at > 260 ? '' : text.slice(at, text.charAt(end - 1) === '\r' ? end - 1 : end);
    if (open !== undefined) {
      if (isClosing(line, open.mark)) {
        fences.push({ tag: open.tag, content: text.slice(open.contentFrom, at), from: open.from, to: end });
        open = undefined;
      }
    } else if (line.includes('```') || line.includes('~~~')) {
      const [, mark, info] = opening.exec(line) ?? [];
      // Backticks behind backticks are code in a line, no block.
      if (mark !== undefined && info !== undefined && !(mark.startsWith('`') && info.includes('`'))) {
        open = { mark, tag: tagOf(info), from: at, contentFrom: Math.min(end + 1, text.length) };
      }
    }
    if (newline < 0) break;
    at = newline + 1;
  }
  if (open !== undefined) fences.push({ tag: open.tag, content: text.slice(open.contentFrom), from: open.from, to: text.length });
  return fences;
}

function isClosing(line: string, mark: string): boolean {
  const trimmed = line.replace(/^[ \t>]{0,20}/, '').trimEnd();
  if (trimmed.length < mark.length) return false;
  const character = mark.charAt(0);
  for (let index = 0; index < trimmed.length; index += 1) if (trimmed.charAt(index) !== character) return false;
  return true;
}

/** `python {linenos=true}`, `{r echo=FALSE}`, `js{1,3}`, `language-css`, `c++`. */
const tagOf = (info: string): string => (/^\{?[ \t]*\.?(?:lang(?:uage)?-)?([^\s{},;:=]*)/i.exec(info.trim())?.[1] ?? '').toLowerCase();
