// Runs a scenario against its subjects in alternating rounds (A B, A B, …) and collects the figures.
import type { Figures } from './figures.js';
import type { Measure } from './measure.js';
import type { Scale, Scenario } from './scenarios.js';
import { direct, type Subject } from './subjects.js';

export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly title: string;
  /** Figures of each round, by subject. */
  readonly rounds: ReadonlyMap<string, readonly Figures[]>;
}

const figuresOfFailure = ['badStatus', 'failed', 'broken', 'unfinished'];

export async function runScenario(
  scenario: Scenario,
  measure: Measure,
  subjects: readonly Subject[],
  scale: Scale,
  say: (text: string) => void,
): Promise<ScenarioResult> {
  const title = scenario.title(scale);
  const all = scenario.needsDirect ? [direct(measure.around), ...subjects] : subjects;
  const rounds = new Map<string, Figures[]>(all.map((subject) => [subject.name, []]));
  const count = Math.min(scale.rounds, scale.isQuick ? scenario.quickRoundsMax : scenario.roundsMax);
  if (scenario.isCold === true) {
    for (const subject of subjects) {
      say(`${scenario.name}: warming up ${subject.name}`);
      await scenario.measure(measure, subject, { ...scale, seconds: scale.isQuick ? 1 : 2 });
    }
  }
  for (let round = 0; round < count; round++) {
    let directFigures: Figures = {};
    for (const subject of all) {
      say(`${scenario.name}: round ${round + 1} of ${count}, ${subject.name}`);
      const figures = await scenario.measure(measure, subject, scale);
      if (subject.child === null) directFigures = figures;
      else if (subject.child.hasEnded) throw new Error(`${subject.name} ended under load (${scenario.name}): ${subject.child.lastWords}`);
      else if (scenario.derive !== undefined) Object.assign(figures, scenario.derive(figures, directFigures));
      rounds.get(subject.name)?.push(figures);
    }
  }
  return { scenario, title, rounds };
}

/** True when a subject answered wrongly: not merely slowly, which a busy machine may be the cause of. */
export function hasWrongAnswers(result: ScenarioResult, subject: string): boolean {
  return (result.rounds.get(subject) ?? []).some((figures) => (figures['badStatus'] ?? 0) > 0 || (figures['broken'] ?? 0) > 0);
}

/** Failures that make the figures of a result worth less; empty when every answer was right. */
export function problemsOf(result: ScenarioResult): string[] {
  const problems: string[] = [];
  for (const [subject, rounds] of result.rounds) {
    rounds.forEach((figures, index) => {
      for (const name of figuresOfFailure) {
        const count = figures[name] ?? 0;
        if (count > 0) problems.push(`${result.scenario.name}, round ${index + 1}: ${subject} has ${name} = ${count}`);
      }
    });
  }
  return problems;
}
