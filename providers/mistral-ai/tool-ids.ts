const valid = /^[A-Za-z0-9]{9}$/;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Mistral takes ids of tool calls of exactly nine letters and digits only. Ids from elsewhere (another provider answered earlier in the
 * conversation) become nine characters made from the id alone, so a call and its result still belong together, with nothing kept.
 */
export function mistralId(id: string): string {
  if (valid.test(id)) return id;
  // Two 32-bit hashes that mix differently: 53 bits, about as many as nine of 62 characters hold.
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  let rest = 4294967296 * (2097151 & two) + (one >>> 0);
  let text = '';
  for (let count = 0; count < 9; count += 1) {
    text += alphabet.charAt(rest % 62);
    rest = Math.floor(rest / 62);
  }
  return text;
}
