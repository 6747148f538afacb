// The control plane of the process: one thread runs every control call (control-thread-entry.ts), so that what it does costs calls to models nothing;
// the main thread does where the storage cannot be shared.

import type { LogReader } from '@gateway/plugin-sdk';
import { OidcClient } from './auth/oidc.js';
import { ControlPlane } from './control-plane/dispatch.js';
import type { ControlServices } from './control-plane/services.js';
import { JobRunner } from './control-plane/jobs.js';
import { resources } from './control-plane/resources/index.js';
import { jobs } from './control-plane/resources/jobs.js';
import { exportsFolder } from './control-plane/resources/log-exports/export-file.js';
import { ExportRunner } from './control-plane/resources/log-exports/export-runner.js';
import { modelsResource } from './control-plane/resources/models/resource.js';
import { ratesResource } from './control-plane/resources/rates/resource.js';
import { SlicedStore } from './control-plane/sliced-store.js';
import { reasonOf } from './errors/gateway-error.js';
import { Counters } from './limits/counters.js';
import { RateKeeper, rateStore } from './limits/rate-keeper.js';
import { logReaderOf } from './log-reader.js';
import { AppliedSequences } from './snapshot/applied-sequences.js';
import { keepSpending, type SpendKeeping } from './spend.js';
import { Repository } from './storage/repository.js';
import { Sealer } from './storage/sealer.js';
import { PoolCheck } from './workers/check-runner.js';
import type { ThreadServices } from './thread-services.js';
import type { SharedMemory } from './thread.js';
import { gatewayVersion } from './version.js';

/** How often what is due by the clock is looked for. */
const jobsEveryMs = 60_000;
/** A reply waits so long for every thread to obey what it tells of. */
const obeyedMsMax = 250;

/** Memory shared with the threads that serve calls. */
export type ControlMemory = Pick<SharedMemory, 'masterKey' | 'revision' | 'applied' | 'counters' | 'process'>;

/** `logs`: for tests, in place of what the exporters keep. */
export async function startControlPlane(services: ThreadServices, { store, onCommit }: Repository, memory: ControlMemory, logs?: LogReader): Promise<ControlPlane> {
  const repository = new Repository(new SlicedStore(store), onCommit);
  startJobs(services, repository);
  keepRates(services, new Counters(memory.counters));
  const applied = new AppliedSequences(memory.applied);
  let spending: SpendKeeping | undefined = undefined;
  const untilObeyed = async (sequence: number): Promise<void> => { await Promise.all([applied.waitUntilApplied(sequence, obeyedMsMax), spending?.untilObeyed()]); };
  const ofHandlers = { ...controlServices(services, repository, new Sealer(memory.masterKey), untilObeyed), ...(logs === undefined ? {} : { logs }) };
  spending = await keepSpending(services, repository, memory, ofHandlers.logs);
  return new ControlPlane({ ...ofHandlers, spend: spending.service, exports: startExports(services, ofHandlers) }, [...resources, modelsResource, ratesResource]);
}

function startExports({ settings, logger, writers }: ThreadServices, { repository, logs, now, metadataHeaders }: Pick<ControlServices, 'repository' | 'logs' | 'now' | 'metadataHeaders'>): ExportRunner {
  const runner = new ExportRunner({ repository, logs, metadataHeaders, folder: exportsFolder(settings.dataDir), now, onFault: (id, thrown) => logger.warn('an export of logs failed, or what old ones left could not be removed', { export: id, reason: reasonOf(thrown) }) });
  writers.push(runner);
  runner.start();
  return runner;
}

/** The services of handlers, on the control thread or on one that starts. */
export function controlServices(services: ThreadServices, repository: Repository, sealer: Sealer, untilObeyed: ControlServices['untilObeyed']): ControlServices {
  let description: Promise<string> | undefined = undefined;
  return {
    repository,
    sealer,
    registry: services.registry,
    secretSources: services.settings.secretSources,
    poolCheck: (module, params, timeoutMs) => new PoolCheck(services.workers, module, params, timeoutMs),
    metadataHeaders: new Set(services.settings.headersToMetadata.map((entry) => entry.replace(/:.*$/s, '').toLowerCase())),
    publicUrl: services.settings.publicUrl,
    isTls: services.settings.tls !== undefined,
    oidc: services.settings.oidc === undefined ? undefined : new OidcClient(services.settings.oidc, services.upstream),
    logs: logReaderOf(services),
    untilObeyed,
    apiDescription: () => (description ??= describe()),
    now: Date.now,
    onFault: (callId, thrown) => services.logger.error('a control call failed', { call: callId, reason: reasonOf(thrown) }),
  };
}

/** Loaded and made when somebody asks for it. */
async function describe(): Promise<string> {
  const { describeApi } = await import('./openapi/document.js');
  return JSON.stringify(describeApi(resources, gatewayVersion));
}

function startJobs({ logger, writers }: ThreadServices, repository: Repository): void {
  const runner = new JobRunner({
    repository,
    now: Date.now,
    notify: (message, details) => logger.warn(message, details),
    onFault: (job, thrown) => logger.error('a job of the control plane failed; it is tried again', { job, reason: reasonOf(thrown) }),
  }, jobs);
  writers.push(runner);
  runner.start(jobsEveryMs);
}

/** Counters of rate limits outlive the process. */
function keepRates(services: ThreadServices, counters: Counters): void {
  const faults = services.faultReport('warn', { message: 'counters of rate limits could not be written; a restart would begin with older ones', metric: 'limits.unwritten', subject: 'store' });
  const keeper = new RateKeeper({ counters, openStore: () => services.openStore(rateStore), onFault: (thrown) => faults.add(rateStore, reasonOf(thrown)) });
  services.writers.push(keeper);
  keeper.start();
}
