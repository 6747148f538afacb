// The size of a value that is made of plain data, without cloning it.

/** A value with more parts than this is measured by serialising it. */
const partsMax = 20_000;
const depthMax = 64;
const bytesOfPart = 8;

/**
 * About how many bytes a clone takes; some number above `bytesMax` when it is more. Undefined when there is anything but lists, plain objects and
 * simple values in it, or too many of them to look at.
 */
export function plainBytes(value: unknown, bytesMax: number): number | undefined {
  const count = { parts: 0, bytes: 0 };
  return add(value, 0, count, bytesMax) ? count.bytes : undefined;
}

function add(value: unknown, depth: number, count: { parts: number; bytes: number }, bytesMax: number): boolean {
  count.parts += 1;
  count.bytes += bytesOfPart;
  if (count.parts > partsMax || depth > depthMax) return false;
  switch (typeof value) {
    case 'string': count.bytes += value.length; return true;
    case 'number': case 'boolean': case 'undefined': return true;
    case 'object': break;
    default: return false;
  }
  if (value === null) return true;
  if (Array.isArray(value)) {
    // A list without items can still be long.
    if (value.length > partsMax) return false;
    for (let index = 0; index < value.length; index += 1) if (count.bytes <= bytesMax && !add(value[index], depth + 1, count, bytesMax)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const [name, member] of Object.entries(value)) {
    count.bytes += name.length;
    if (count.bytes <= bytesMax && !add(member, depth + 1, count, bytesMax)) return false;
  }
  return true;
}
