// The bench's end of the probe in a gateway: begins and ends its measurements with a signal and reads what it wrote.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { sleep } from './children.js';
import { parseFigures, type Figures } from './figures.js';
import type { Subject } from './subjects.js';

const answerTimeoutMs = 10_000;
const pollMs = 5;

async function ask(pid: number, file: string): Promise<Figures> {
  process.kill(pid, 'SIGUSR2');
  const untilMs = performance.now() + answerTimeoutMs;
  while (!existsSync(file)) {
    if (performance.now() > untilMs) throw new Error(`the probe in process ${pid} did not answer within ${answerTimeoutMs} ms`);
    await sleep(pollMs);
  }
  const figures = parseFigures(readFileSync(file, 'utf8'));
  rmSync(file);
  return figures;
}

/** Figures of the probe while `work` runs; none where the subject has no probe. */
export async function probed(subject: Subject, work: () => Promise<Figures>): Promise<{ readonly figures: Figures; readonly probe: Figures }> {
  const { child, probeFile } = subject;
  if (child === null || probeFile === null) return { figures: await work(), probe: {} };
  await ask(child.pid, probeFile);
  const figures = await work();
  return { figures, probe: await ask(child.pid, probeFile) };
}
