// Every table of the control store, for what goes over all of them: migration, backup, the snapshot.

import type { Table } from '../define-table.js';
import { apiKeys } from './api-keys.js';
import { bootstraps } from './bootstraps.js';
import { configVersions } from './config-versions.js';
import { configs } from './configs.js';
import { idempotency } from './idempotency.js';
import { integrations } from './integrations.js';
import { jobStates } from './job-states.js';
import { organisations } from './organisations.js';
import { providers } from './providers.js';
import { workspaces } from './workspaces.js';

export const tables: readonly Table[] = [organisations, workspaces, apiKeys, bootstraps, integrations, providers, configs, configVersions, idempotency, jobStates];
