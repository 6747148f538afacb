// What a regular expression of a client will cost, known before anybody compiles it.

const token = /\\Q[^]*?(?:\\E|$)|\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|[^])|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\{(\d{1,6})(?:,(\d{0,6}))?\}|[^]/g;

/**
 * About as many as the instructions that RE2 makes of the pattern, never much fewer; read off its text. For plugins that compile patterns of clients:
 * a repetition of repetitions hurts when it is compiled, so it has to be refused before.
 */
export function patternSize(pattern: string): number {
  let size = 2;
  /** Size of what a repetition would repeat. */
  let last = 0;
  const open: number[] = [];
  for (const [text, least, most] of pattern.matchAll(token)) {
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0));
      // Each repetition that may be left out is a branch more.
      size += last * Math.max(0, times - 1) + Math.max(0, times - Number(least));
      last *= Math.max(1, times);
    } else if (text === '(') {
      open.push(size);
      size += 2;
    } else if (text === ')') {
      last = size - (open.pop() ?? 0);
    } else if (text === '*' || text === '+' || text === '?') {
      size += 1;
      last += 1;
    } else {
      last = text.startsWith('\\Q') ? text.length : 1;
      size += last;
    }
  }
  return size;
}
