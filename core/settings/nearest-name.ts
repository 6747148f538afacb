// Finds the known name that a misspelt one most likely meant. Runs only when a fault is being reported.

/** Edits between two words: insert, remove, replace, swap neighbours. */
export function editDistance(from: string, to: string): number {
  const width = to.length + 1;
  const costs = new Array<number>((from.length + 1) * width).fill(0);
  const at = (row: number, column: number): number => costs[row * width + column] ?? 0;
  for (let row = 0; row <= from.length; row += 1) {
    for (let column = 0; column <= to.length; column += 1) {
      let cost: number;
      if (row === 0 || column === 0) {
        cost = row + column;
      } else {
        cost = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1));
        const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
        if (isSwap) cost = Math.min(cost, at(row - 2, column - 2) + 1);
      }
      costs[row * width + column] = cost;
    }
  }
  return at(from.length, to.length);
}

const nameLengthMax = 100;

/** Undefined when nothing is near: a wrong suggestion is worse than none. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > nameLengthMax) return undefined;
  const wanted = name.toLowerCase().replaceAll('-', '_');
  let nearest: string | undefined;
  let least = Infinity;
  for (const candidate of known) {
    const plain = candidate.toLowerCase().replaceAll('-', '_');
    const distance = editDistance(wanted, plain);
    const limit = Math.max(1, Math.floor(Math.min(wanted.length, plain.length) / 3));
    if (distance <= limit && distance < least) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** `; did you mean port?`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}
