// What one measurement says: named numbers. They pass between processes as one line of JSON.
export type Figures = Record<string, number>;

export function parseFigures(text: string): Figures {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error('figures are not an object');
  const figures: Figures = {};
  for (const [name, figure] of Object.entries(value)) {
    // JSON has no NaN: a figure that could not be measured travels as null.
    if (figure !== null && typeof figure !== 'number') throw new Error(`figure ${name} is not a number`);
    figures[name] = figure ?? NaN;
  }
  return figures;
}

export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}
