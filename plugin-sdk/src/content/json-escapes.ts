const escape = /\\(?:u([\da-fA-F]{4})|[^])/g;

const firstPrintable = 0x20, quote = 0x22, backslash = 0x5c;

/**
 * JSON, or what a model took for it, with the characters that need no escape as themselves: it means the same, and who looks for a word finds it.
 */
export const withoutEscapes = (text: string): string => (text.includes('\\') ? text.replace(escape, (whole, digits: string | undefined) => {
  if (digits === undefined) return whole === '\\/' ? '/' : whole;
  const code = Number.parseInt(digits, 16);
  return code < firstPrintable || code === quote || code === backslash ? whole : String.fromCharCode(code);
}) : text);
