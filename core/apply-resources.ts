// Applies the setting `resources` at the start, before the gateway accepts calls: a gateway that is ready obeys its settings. Loaded only where there are
// some. Several processes that start at once apply them one after the other; the later ones find nothing to do.

import { randomBytes } from 'node:crypto';
import { bootstrap } from './auth/bootstrap.js';
import { scopesOfType } from './auth/scopes.js';
import { ControlContext, type Caller } from './control-plane/context.js';
import type { Applied } from './control-plane/resources/declarations/apply.js';
import { Draft } from './control-plane/resources/declarations/draft.js';
import { applyAndRecord } from './control-plane/resources/declarations/resource.js';
import { declared } from './control-plane/resources/declared.js';
import type { ControlServices } from './control-plane/services.js';
import { controlServices } from './control-thread.js';
import { placeFinder } from './declare/read-documents.js';
import { fail, isGatewayError } from './errors/gateway-error.js';
import type { DeclaredSettings, Settings } from './settings/read.js';
import { CommitConflict } from './storage/change.js';
import { prepareStore } from './storage/prepare-store.js';
import { Repository } from './storage/repository.js';
import { Sealer } from './storage/sealer.js';
import { bootstraps } from './storage/tables/bootstraps.js';
import { tables } from './storage/tables/index.js';
import { controlStore, ThreadServices } from './thread-services.js';

/** Name of the source under which the objects of the settings are recorded. */
const source = 'settings';
/** Attempts to commit. A start that fails more often has another problem than other processes. */
const triesMax = 20;

/** Throws SETTINGS_INVALID, with file and line. */
export async function applyResources(threadServices: ThreadServices, repository: Repository, masterKey: Uint8Array): Promise<void> {
  const { logger, settings } = threadServices;
  const services = controlServices(threadServices, repository, new Sealer(masterKey), async () => {});
  const { changes, unchanged, left } = await applyOnce(services, settings.resources);
  logger.info('what the settings say is stored', { changed: changes.length, unchanged });
  for (const { section, name, workspace } of left) logger.warn('an object that the settings made is in them no more, and stays; resources_prune: on removes such', { section, name, workspace: workspace ?? '' });
}

/** Does the same work as a start, on the rows that are stored now, without writing anything. For `gateway check`. */
export async function checkResources(settings: Settings, masterKey: Uint8Array | undefined): Promise<void> {
  const threadServices = new ThreadServices({ ...settings, pluginsReload: false });
  try {
    const storage = await threadServices.openStorage();
    const { repository } = new Draft(new Repository(await storage.open(controlStore)));
    await prepareStore(repository, tables);
    await bootstrap(repository, { adminKey: settings.adminKey, apiKey: settings.apiKey });
    await applyOnce(controlServices(threadServices, repository, new Sealer(masterKey ?? randomBytes(masterKeyBytes)), async () => {}), settings.resources);
  } finally {
    await threadServices.close();
  }
}

const masterKeyBytes = 32;

async function applyOnce(services: ControlServices, { documents, files, isPruning }: DeclaredSettings): Promise<Applied> {
  const first = (await services.repository.get(bootstraps, 'first'))?.row;
  if (first === undefined) throw fail('SETTINGS_INVALID', { reason: 'resources: there is no organisation yet' });
  const caller: Caller = { keyId: first.adminKeyId, keyType: 'organisation-service', organisationId: first.organisationId, workspaceId: '', scopes: scopesOfType['organisation-service'] };
  for (let tries = 0; tries < triesMax; tries += 1) {
    const context = new ControlContext(caller, undefined, services.repository, services, services.now());
    try {
      const applied = await applyAndRecord(context, declared, { source, documents, isDryRun: false, isPruning }, 'gateway');
      const [key] = applied.keys;
      if (key !== undefined) throw fail('SETTINGS_INVALID', { reason: `resources: the API key ${key.name} needs a key, such as \${env:NAME}: nobody is shown one that is made at a start` });
      await services.repository.commit(context.change);
      return applied;
    } catch (thrown) {
      if (thrown instanceof CommitConflict) continue;
      if (!isGatewayError(thrown) || thrown.code === 'SETTINGS_INVALID') throw thrown;
      const place = thrown.param === null ? undefined : placeFinder(files)(thrown.param);
      throw fail('SETTINGS_INVALID', { reason: `resources: ${place === undefined ? '' : `${place}: `}${thrown.message}` }, thrown);
    }
  }
  throw fail('SETTINGS_INVALID', { reason: `resources: other processes changed what is stored ${triesMax} times; start again` });
}
