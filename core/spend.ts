// Budgets of the process, put together: the journal of each serving thread, and the ledger that the control thread keeps.

import type { LogReader, LogRecord } from '@gateway/plugin-sdk';
import { join } from 'node:path';
import { uptime } from 'node:process';
import { SpendAlerts } from './control-plane/spend-alerts.js';
import type { SpendService } from './control-plane/spend-service.js';
import { reasonOf } from './errors/gateway-error.js';
import { Counters } from './limits/counters.js';
import { journalFolder } from './limits/journal-layout.js';
import { SpendJournal, type SpendWriter } from './limits/journal.js';
import { Keeper } from './limits/keeper.js';
import { Ledger, toldExhausted, toldThreshold, type LedgerCharge, type OpenCall } from './limits/ledger.js';
import { isOwnerGone, limitOwner } from './limits/limit-owners.js';
import { MemoryJournal } from './limits/memory-journal.js';
import { periodAt } from './limits/periods.js';
import { verifyLedger, type LedgerVerdict } from './limits/verify-ledger.js';
import { makeLogReader } from './log-reader.js';
import { hasOthers, isGatewayAlive } from './storage/presence.js';
import type { Settings } from './settings/read.js';
import { microCentsOf } from './snapshot/limit-specs.js';
import { Repository } from './storage/repository.js';
import { organisations } from './storage/tables/organisations.js';
import { controlStore, requireDirectory, ThreadServices } from './thread-services.js';
import { fetchBytes } from './upstream/fetch-bytes.js';

/** Name of the store of the ledger. */
export const spendStore = 'spend';
const answerBytesMax = 64 * 1024;
const alertCaller = 'gateway/alerts';

export interface SpendMemory {
  readonly counters: SharedArrayBuffer;
  /** The name of this start of the process. */
  readonly process: string;
}

/** Of one thread that serves calls. */
export function spendJournal(services: ThreadServices, { process }: SpendMemory, thread: number): SpendWriter {
  const faults = services.faultReport('error', { message: 'spending could not be written down; what a kill of the process would forget is more for as long', metric: 'spend.unwritten', subject: 'at' });
  if (!services.isStorageShared) return services.fedSpending = new MemoryJournal((reason) => faults.add('memory', reason));
  const { dataDir, isBudgetStrict } = services.settings;
  return new SpendJournal({ folder: join(dataDir, journalFolder), process, thread, isStrict: isBudgetStrict, faults });
}

/** Before the first call: what a process left that has died is put in, and the counters hold what is used. */
export async function recoverSpending(services: ThreadServices, repository: Repository, memory: SpendMemory): Promise<void> {
  const { keeper, close } = await keeperOf(services, repository, memory, undefined);
  try {
    await keeper.recover();
  } finally {
    keeper.abandon();
    await close();
  }
}

/** On the control thread. Ends with the services. */
export async function keepSpending(services: ThreadServices, repository: Repository, memory: SpendMemory, logs: LogReader | undefined): Promise<SpendKeeping> {
  const { keeper, ledger, counters, close } = await keeperOf(services, repository, memory, logs);
  services.writers.push({
    stop: async () => {
      await keeper.stop();
      await close();
    },
  });
  keeper.start();
  const onFault = (thrown: unknown): void => services.logger.error('the ledger of spending could not be looked at', { reason: reasonOf(thrown) });
  return {
    service: {
      // Set from the ledger at the start: what is not there has not been used.
      used: (key) => counters.usage(key)?.count ?? 0,
      reset: (key) => keeper.reset(key, Date.now()),
      entitiesOf: async function* (policyId) {
        const prefix = `policy/${policyId}/`;
        await keeper.look();
        for await (const { key, period, told } of ledger.counters(prefix)) {
          const used = counters.usage(key)?.count ?? (await ledger.sum(key, period)).amount;
          if (used > 0) yield { valueKey: key.slice(prefix.length), used, isThresholdTold: (told & toldThreshold) !== 0, isExhaustedTold: (told & toldExhausted) !== 0 };
        }
      },
    },
    untilObeyed: () => keeper.look().catch(onFault),
  };
}

export interface SpendKeeping {
  readonly service: SpendService;
  /** Resolves when limits are counted by the rows as they are now. Never rejects. */
  untilObeyed(): Promise<void>;
}

async function keeperOf(services: ThreadServices, repository: Repository, memory: SpendMemory, logs: LogReader | undefined) {
  const { settings, storage, logger } = services;
  if (storage === undefined) throw new Error('storage is not open');
  const ledger = new Ledger(await storage.open(spendStore), {
    now: Date.now,
    startOf: async (key, atMs) => {
      const owner = await limitOwner(repository, key);
      return owner === undefined ? 0 : Math.max(periodAt(owner.rule, owner.level, atMs, owner.madeAtMs).startMs, owner.lastResetAtMs <= atMs ? owner.lastResetAtMs : 0);
    },
  });
  const counters = new Counters(memory.counters);
  const unposted = services.faultReport('error', { message: 'alerts could not be posted', metric: 'spend.alertsLost', subject: 'to' });
  const faults = services.faultReport('error', { message: 'the ledger of spending could not be kept; it is tried again', metric: 'spend.faults', subject: 'what' });
  const webhookUrl = settings.alertWebhookUrl;
  const alerts = new SpendAlerts({
    repository, webhookUrl, now: Date.now,
    notify: (message, details) => logger.warn(message, details),
    onFault: (reason) => unposted.add(webhookUrl === undefined ? '' : new URL(webhookUrl).host, reason),
    post: (url, body, timeoutMs, signal) => fetchBytes(services.upstream, { url, method: 'POST', headers: { 'content-type': 'application/json' }, body, timeoutMs, isHeadEnough: true, signal }, answerBytesMax, alertCaller, 'operator'),
  });
  let sequence = await repository.sequence();
  const keeper = new Keeper({
    ledger, counters, process: memory.process, now: Date.now,
    folder: services.isStorageShared ? join(settings.dataDir, journalFolder) : null,
    takeFed: () => services.fedSpending?.take() ?? [],
    isAlive: (process) => isGatewayAlive(settings.dataDir, process),
    startedAtMs: Date.now() - uptime() * 1000,
    owner: (counter) => limitOwner(repository, counter),
    isGone: (counter) => isOwnerGone(repository, counter, Date.now()),
    isAlone: () => !hasOthers(settings.dataDir, memory.process),
    changedRows: async () => {
      const changes = await repository.changes(sequence);
      ({ sequence } = changes);
      return changes.touched === null ? null : new Set([...changes.touched].flatMap(([table, ids]) => [...ids].map((id) => `${table}/${id}`)));
    },
    recorded: async (call) => (logs === undefined ? undefined : recordedOf(call, repository, logs)),
    alert: (alert) => alerts.tell(alert),
    onFault: (what, thrown) => faults.add(what, reasonOf(thrown)),
  });
  return { keeper, ledger, counters, close: () => alerts.stop() };
}

/** The use of a call by its log record; undefined: there is none, or it does not tell enough. */
async function recordedOf(call: OpenCall, repository: Repository, logs: LogReader): Promise<((charge: LedgerCharge) => number | undefined) | undefined> {
  const [first] = call.charges;
  const owner = first === undefined ? undefined : await limitOwner(repository, first.key);
  if (owner === undefined) return undefined;
  const record = (await logs.read({ organisationId: owner.organisationId, workspaceIds: null }, call.id)).find(({ id }) => id === call.id);
  // Of a call that had more than one target the record says what the last one used.
  if (record === undefined || !record.isFinal || record.targetIndex > 0) return undefined;
  return ({ counted }) => {
    if (counted === 'requests') return 1;
    if (counted === 'tokens') return record.totalTokens >= 0 ? record.totalTokens : undefined;
    return record.cost >= 0 ? microCentsOf(record.cost) : undefined;
  };
}

/** For `gateway ledger verify`; a gateway may be running on the same data. */
export async function verifySpending(settings: Settings, now: () => number = Date.now): Promise<LedgerVerdict> {
  requireDirectory(settings);
  const services = new ThreadServices(settings);
  try {
    const storage = await services.openStorage();
    const repository = new Repository(await storage.open(controlStore));
    const ledger = new Ledger(await storage.open(spendStore), { now: Date.now, startOf: () => 0 });
    const logs = settings.exporters.length === 0 ? undefined : await makeLogReader(services);
    try {
      return await verifyLedger(ledger, { now, records: logs === undefined ? undefined : (fromMs, toMs) => recordsOf(repository, logs, fromMs, toMs) });
    } finally {
      await logs?.close?.();
    }
  } finally {
    await services.close();
  }
}

async function* recordsOf(repository: Repository, logs: LogReader, fromMs: number, toMs: number): AsyncGenerator<LogRecord> {
  for await (const { row } of repository.all(organisations)) {
    for await (const page of logs.export({ scope: { organisationId: row.id, workspaceIds: null }, fromMs, toMs }, new AbortController().signal)) yield* page;
  }
}
