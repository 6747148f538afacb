// `gateway check`: everything `start` would find wrong, and every plugin and stored config loaded. For deployments and CI.

import { isGatewayError } from '../errors/gateway-error.js';
import { readSettings, type Settings } from '../settings/read.js';
import type { CheckedSubject, Surroundings } from './app-contract.js';

/** Resolves with the exit code: 1 when anything is at fault. */
export async function check(around: Surroundings): Promise<number> {
  let settings: Settings;
  try {
    settings = readSettings(around.environment, around.cwd);
  } catch (thrown) {
    if (!isGatewayError(thrown)) throw thrown;
    return report([{ subject: 'settings', fault: thrown.message }], around);
  }
  const app = await around.loadApp();
  return report([{ subject: 'settings' }, ...await app.checkGateway(settings)], around);
}

function report(results: readonly CheckedSubject[], around: Surroundings): number {
  const width = Math.max(...results.map(({ subject }) => subject.length));
  const faults = results.filter(({ fault }) => fault !== undefined);
  for (const { subject, fault } of results) around.out(`${fault === undefined ? 'ok   ' : 'FAULT'}  ${subject.padEnd(width)}${fault === undefined ? '' : `  ${fault}`}`.trimEnd());
  around.out(`\n${results.length} checked, ${faults.length} at fault`);
  for (const { subject, fault } of faults) around.error(`gateway: ${subject}: ${fault ?? ''}`);
  return faults.length === 0 ? 0 : 1;
}
