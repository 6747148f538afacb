// Prices where records are: on the log thread, and for the commands `prices` and `reprice`, which read the data directory themselves, also beside a running gateway.

import type { LogReader, LogScope } from '@gateway/plugin-sdk';
import type { PriceQuestion, RepriceQuestion, ShownModel, UnpricedModel } from './cli/app-contract.js';
import { tableNameOf } from './control-plane/resources/model-configs/model-facts.js';
import { fail, reasonOf } from './errors/gateway-error.js';
import { undated } from './limits/call-price.js';
import { Ledger } from './limits/ledger.js';
import { priceTable } from './limits/prices.js';
import { RecordPricer } from './limits/record-pricer.js';
import { Repricing, type RepriceReport } from './limits/repricing.js';
import { makeLogReader } from './log-reader.js';
import type { Settings } from './settings/read.js';
import { spendStore } from './spend.js';
import { Repository } from './storage/repository.js';
import { integrations } from './storage/tables/integrations.js';
import { organisations } from './storage/tables/organisations.js';
import { providers } from './storage/tables/providers.js';
import { workspaces } from './storage/tables/workspaces.js';
import { controlStore, requireDirectory, ThreadServices } from './thread-services.js';

const dayMs = 86_400_000;
/** Of one data directory. */
const organisationsMax = 1_000;
/** An interrupt ends the command; nothing else does. */
const never = new AbortController().signal;

/** `revision` moves when rows change. */
export function recordPricerOf(services: ThreadServices, repository: Repository, revision: () => number): RecordPricer {
  const faults = services.faultReport('warn', { message: 'calls could not be priced', metric: 'log.recordsUnpriced', subject: 'at' });
  return new RecordPricer({
    loadTable: priceTable,
    tableName: (provider) => tableNameOf(services.registry, provider),
    integration: async (workspaceId, slug) => {
      const provider = await repository.find(providers, 'slug', [workspaceId, slug]);
      return (provider === undefined ? undefined : await repository.get(integrations, provider.row.integrationId))?.row ?? null;
    },
    revision,
    onFault: (thrown) => faults.add('rows', reasonOf(thrown)),
    now: Date.now,
  });
}

/** Undefined: the table does not have it. */
export async function showModel(settings: Settings, { provider, model }: PriceQuestion): Promise<ShownModel | undefined> {
  const services = new ThreadServices(settings);
  try {
    const table = await priceTable();
    const name = await tableNameOf(services.registry, provider);
    const found = table.find(name, model, Date.now()) ?? table.find(name, undated(model), Date.now());
    return found === undefined ? undefined : { id: found.id, name: found.name, contextLength: found.contextLength, isDeprecated: found.isDeprecated, isTimely: found.isTimely, ...found.rates };
  } finally {
    await services.close();
  }
}

/** Models whose calls used tokens that nobody had a price for, most used first. */
export function unpricedModels(settings: Settings, days: number): Promise<readonly UnpricedModel[]> {
  return withReader(settings, async ({ reader, scopes }) => {
    const found: UnpricedModel[] = [];
    for (const scope of scopes) {
      const { rows } = await reader.aggregate({ filter: { scope, fromMs: Date.now() - days * dayMs, records: 'all' }, bucket: null, groupBy: 'providerModel', measures: ['unpriced', 'count', 'totalTokens', 'lastSeenMs'] });
      for (const { group, values: [unpriced = 0, count = 0, totalTokens = 0, lastSeenMs = 0] } of rows) {
        if (unpriced === 0) continue;
        const [provider = '', ...model] = group.split('__');
        found.push({ organisationId: scope.organisationId, provider, model: model.join('__'), unpriced, count, totalTokens, lastSeenMs });
      }
    }
    return found.toSorted((left, right) => right.totalTokens - left.totalTokens);
  });
}

/** Budgets stay as they have counted, since calls were let through and refused by that. */
export function repriceHistory(settings: Settings, { fromMs, toMs, workspace, isWriting, onFound }: RepriceQuestion): Promise<RepriceReport> {
  return withReader(settings, async ({ reader, scopes, services, repository, ledger }) => {
    const repricing = new Repricing(reader, recordPricerOf(services, repository, () => 0));
    const named = workspace === undefined ? undefined : await workspaceOf(repository, workspace);
    for (const scope of named === undefined ? scopes : [named]) await repricing.look({ scope, fromMs, toMs }, never);
    onFound(repricing.report(false));
    const found = repricing.report(isWriting);
    if (isWriting && found.changed > 0) {
      await ledger.noteRepricing(fromMs, toMs);
      await repricing.write();
    }
    return found;
  });
}

interface Readers {
  readonly reader: LogReader;
  /** All organisations. */
  readonly scopes: readonly LogScope[];
  readonly services: ThreadServices;
  readonly repository: Repository;
  readonly ledger: Ledger;
}

/** Throws SETTINGS_INVALID. */
async function withReader<T>(settings: Settings, work: (readers: Readers) => Promise<T>): Promise<T> {
  requireDirectory(settings);
  const services = new ThreadServices(settings);
  try {
    const storage = await services.openStorage();
    if (!services.isStorageShared) throw fail('SETTINGS_INVALID', { reason: `records in the storage ${settings.storage} are in the memory of the gateway alone` });
    const repository = new Repository(await storage.open(controlStore));
    const reader = await makeLogReader(services).catch((thrown: unknown) => { throw fail('SETTINGS_INVALID', { reason: reasonOf(thrown) }, thrown); });
    try {
      const scopes = (await repository.list(organisations, { limit: organisationsMax })).map(({ row }) => ({ organisationId: row.id, workspaceIds: null }));
      return await work({ reader, scopes, services, repository, ledger: new Ledger(await storage.open(spendStore), { now: Date.now, startOf: () => 0 }) });
    } finally {
      await reader.close?.();
    }
  } finally {
    await services.close();
  }
}

/** By id or slug. Throws SETTINGS_INVALID. */
async function workspaceOf(repository: Repository, name: string): Promise<LogScope> {
  for await (const { row } of repository.all(workspaces)) if (row.id === name || row.slug === name) return { organisationId: row.organisationId, workspaceIds: [row.id] };
  throw fail('SETTINGS_INVALID', { reason: `there is no workspace ${name}; give its id or slug as --workspace` });
}
