const beginning = /\bhttps?:\/\//gi;
/** Where a URL in running text ends at the latest: white space, quotes, brackets that no URL has unescaped, and punctuation of other scripts. */
const ending = /[\s"'<>`{}|\\^\u0000-\u001f\u3000-\u303f\uff00-\uff65\u201c\u201d\u2018\u2019\u00ab\u00bb]/;
const urlCharactersMax = 2048;
const trailing: ReadonlySet<string> = new Set(['.', ',', ';', ':', '!', '?', '*', '_', '~']);

/** The URLs of a text in order, each once, as they stand there; linear in the text. A beginning without anything usable behind it counts too. */
export function findUrls(text: string, found: Set<string> = new Set()): Set<string> {
  beginning.lastIndex = 0;
  for (let match = beginning.exec(text); match !== null; match = beginning.exec(text)) {
    const begin = match.index + match[0].length;
    let end = endOf(text, begin);
    beginning.lastIndex = end;
    // The punctuation of the sentence around it.
    while (end > begin && trailing.has(text.charAt(end - 1))) end -= 1;
    found.add(text.slice(match.index, end));
  }
  return found;
}

/** The first character from `at` on that is not of the URL. A closing bracket belongs to it only when it was opened in it: [text](url) */
function endOf(text: string, at: number): number {
  let round = 0;
  let square = 0;
  const limit = Math.min(text.length, at + urlCharactersMax);
  for (let index = at; index < limit; index += 1) {
    const character = text.charAt(index);
    if (character === '(') round += 1;
    else if (character === '[') square += 1;
    else if (character === ')' && (round -= 1) < 0) return index;
    else if (character === ']' && (square -= 1) < 0) return index;
    else if (ending.test(character)) return index;
  }
  return limit;
}
