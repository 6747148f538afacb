import type { Tail } from '../common/spans/span.js';

// The first line of a private key in PEM, and enough of what follows to tell a key from talk about keys.
const head = /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\\[nr]|[\s"'+]){0,8}(?:[A-Za-z0-9+/=]{16}|Proc-Type:|Version:|Comment:)/y;
const headCharsMax = 132;
const foot = /-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/y;
const footCharsMax = 64;
const bodyRun = /[A-Za-z0-9+/=\s\\:,"'.()<>@]*/y;

/** The end of the head that begins at `at`; 0 when there is none, undefined when more text has to come to tell. */
export function privateKeyHead(text: string, at: number, isLast: boolean): number | undefined {
  head.lastIndex = at;
  if (head.test(text)) return head.lastIndex;
  return isLast || text.length - at >= headCharsMax ? 0 : undefined;
}

/** Up to the last line, or to what cannot be part of a key. */
export const privateKeyTail: Tail = (text, from, isLast) => {
  let at = from;
  for (;;) {
    bodyRun.lastIndex = at;
    bodyRun.test(text);
    at = Math.max(at, bodyRun.lastIndex);
    if (at === text.length) return { to: at, isOpen: !isLast };
    if (text.charCodeAt(at) !== 45) return { to: at, isOpen: false };
    foot.lastIndex = at;
    if (foot.test(text)) return { to: foot.lastIndex, isOpen: false };
    if (!isLast && text.length - at < footCharsMax) return { to: at, isOpen: true };
    // A single hyphen, as in a header line, goes on; a row of them is the begin of something else.
    if (text.startsWith('-----', at)) return { to: at, isOpen: false };
    at += 1;
  }
};
