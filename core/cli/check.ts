// `gateway check`: everything `start` would find wrong, and every plugin loaded. All of it at once. For deployments and CI.

import { inspectSettings } from '../settings/read.js';
import type { CheckedSubject, Surroundings } from './app-contract.js';

/** Resolves with the exit code: 1 when anything is at fault. */
export async function check(around: Surroundings): Promise<number> {
  const { faults, faulty, settings } = inspectSettings(around.environment, around.cwd);
  const own: readonly CheckedSubject[] = faults.length === 0 ? [{ subject: 'settings' }] : faults.map((fault) => ({ subject: 'settings', fault }));
  const app = await around.loadApp();
  return report([...own, ...await app.checkGateway(settings, faulty)], around);
}

function report(results: readonly CheckedSubject[], around: Surroundings): number {
  const width = Math.max(...results.map(({ subject }) => subject.length));
  const faults = results.filter(({ fault }) => fault !== undefined);
  for (const { subject, fault } of results) around.out(`${fault === undefined ? 'ok   ' : 'FAULT'}  ${subject.padEnd(width)}${fault === undefined ? '' : `  ${fault}`}`.trimEnd());
  around.out(`\n${results.length} checked, ${faults.length} at fault`);
  for (const { subject, fault } of faults) around.error(`gateway: ${subject}: ${fault ?? ''}`);
  return faults.length === 0 ? 0 : 1;
}
