// Turns results into what people read (a table for each scenario) and what programs read (JSON).
import { median, type Figures } from './load/figures.js';
import type { ScenarioResult } from './load/rounds.js';

export interface Ratio {
  readonly name: string;
  readonly pairs: readonly number[];
  readonly median: number;
}

/** Below this the reference's figure is noise, and a ratio to it says nothing. */
const smallestDenominator = 0.5;

/** subject / reference for each row that has a ratio, round by round. */
export function ratiosOf(result: ScenarioResult, subject: string, reference: string): Ratio[] {
  const above = result.rounds.get(subject) ?? [];
  const below = result.rounds.get(reference) ?? [];
  return result.scenario.rows.flatMap((row) => {
    if (row.ratio === undefined) return [];
    const pairs = above.map((figures, round) => {
      const denominator = below[round]?.[row.figure] ?? NaN;
      return denominator >= smallestDenominator ? (figures[row.figure] ?? NaN) / denominator : NaN;
    });
    return [{ name: row.ratio, pairs, median: median(pairs) }];
  });
}

function show(value: number): string {
  if (Number.isNaN(value)) return 'n/a';
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toString();
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

const medianOf = (rounds: readonly Figures[], figure: string): number => median(rounds.map((figures) => figures[figure] ?? NaN));

const signed = (value: number): string => `${value > 0 ? '+' : ''}${show(value)}`;

/** Of the pairs of each round, as the ratio is. */
function differenceOf(result: ScenarioResult, figure: string, subject: string, reference: string): number {
  const below = result.rounds.get(reference) ?? [];
  return median((result.rounds.get(subject) ?? []).map((figures, round) => (figures[figure] ?? NaN) - (below[round]?.[figure] ?? NaN)));
}

export function table(result: ScenarioResult, subject: string, reference: string): string {
  const names = [...result.rounds.keys()];
  const ratios = new Map(ratiosOf(result, subject, reference).map((ratio) => [ratio.name, ratio]));
  const lines = [[result.title, ...names, `${subject} / ${reference}`, 'each round']];
  for (const row of result.scenario.rows) {
    const values = names.map((name) => medianOf(result.rounds.get(name) ?? [], row.figure));
    // Rows of failures are shown only when there are any.
    if (row.better === 'lower' && row.unit === '' && values.every((value) => value === 0 || Number.isNaN(value))) continue;
    const ratio = row.ratio === undefined ? undefined : ratios.get(row.ratio);
    lines.push([
      `  ${row.label}${row.unit === '' ? '' : `, ${row.unit}`}`,
      ...values.map(show),
      ratio === undefined ? '' : `${show(ratio.median)}${row.hasDifference === true ? ` (${signed(differenceOf(result, row.figure, subject, reference))})` : ''}`,
      ratio === undefined || ratio.pairs.length < 2 ? '' : ratio.pairs.map(show).join(' '),
    ]);
  }
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => [...(line[column] ?? '')].length))) ?? [];
  const pad = (text: string, column: number): string => {
    const width = widths[column] ?? 0;
    return column === 0 ? text.padEnd(width) : text.padStart(width);
  };
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

export function asJson(results: readonly ScenarioResult[], subject: string, reference: string): Record<string, unknown> {
  return Object.fromEntries(
    results.map((result) => [
      result.scenario.name,
      {
        title: result.title,
        rounds: Object.fromEntries(result.rounds),
        median: Object.fromEntries(
          [...result.rounds].map(([name, rounds]) => [name, Object.fromEntries(result.scenario.rows.map((row) => [row.figure, medianOf(rounds, row.figure)]))]),
        ),
        ratios: Object.fromEntries(ratiosOf(result, subject, reference).map((ratio) => [ratio.name, { median: ratio.median, pairs: ratio.pairs }])),
      },
    ]),
  );
}
