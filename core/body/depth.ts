// How deep parsed JSON nests. The parser takes any depth, but whatever walks, writes or stores the value afterwards calls itself for each level
// and runs out of stack some thousands of levels down. Looks at objects and lists only, and calls itself no deeper than the limit.

/** Far more than schemas of tools need, which nest two or three levels for each of their own. */
export const levelsMax = 128;

export function isTooDeep(value: unknown, levels = levelsMax): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const element: unknown = value[index];
      if (typeof element === 'object' && element !== null && isTooDeep(element, levels - 1)) return true;
    }
    return false;
  }
  for (const name in value) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof member === 'object' && member !== null && isTooDeep(member, levels - 1)) return true;
  }
  return false;
}

/** What text inside JSON parsed to (arguments of tools) was never looked at: whoever walks it may run out of stack. */
export const isStackOverflow = (thrown: unknown): boolean => thrown instanceof RangeError && thrown.message.includes('call stack');
