// The rest of the gateway, as far as handlers need it.

import type { LogReader } from '@gateway/plugin-sdk';
import type { HookServices } from '../plan/compile-hooks.js';
import type { OidcClient } from '../auth/oidc.js';
import type { Registry } from '../registry/registry.js';
import type { SecretSourceRule } from '../settings/read.js';
import type { Repository } from '../storage/repository.js';
import type { Sealer } from '../storage/sealer.js';
import type { SpendService } from './spend-service.js';

export interface LogExportRunner {
  /** No more jobs are taken for now. */
  readonly isFull: boolean;
  /** Of a row that says so already. Returns at once. */
  begin(exportId: string, runId: string): void;
  /** Of a row that says so already. A job of another process ends by itself. */
  cancel(exportId: string): void;
}

export interface ControlServices {
  readonly repository: Repository;
  readonly sealer: Sealer;
  readonly registry: Registry;
  /** For checks that a trial of a guardrail runs away from this thread. */
  readonly poolCheck: HookServices['poolCheck'];
  /** Address under which browsers reach the gateway; undefined: as they ask for it. */
  readonly publicUrl?: string | undefined;
  readonly isTls?: boolean;
  /** People sign in by it; absent: nobody does. */
  readonly oidc?: OidcClient | undefined;
  /** Rules of the setting `secret_sources`: the files and variables of this machine that secret references may read. Absent: none. */
  readonly secretSources?: readonly SecretSourceRule[];
  /** Headers that the setting `headers_to_metadata` makes metadata of, in lower case. Absent: none. */
  readonly metadataHeaders?: ReadonlySet<string>;
  /** Records of calls, read off this thread; absent: no exporter keeps any that can be read. */
  readonly logs?: LogReader | undefined;
  /** The counts of usage limits; absent: nothing counts. */
  readonly spend?: SpendService | undefined;
  /** Runs the jobs that write logs into files; absent: nobody does. */
  readonly exports?: LogExportRunner | undefined;
  /** Resolves when calls obey the commit, or soon after. Never rejects. */
  untilObeyed(sequence: number): Promise<void>;
  /** JSON of the description of the API. */
  apiDescription(): Promise<string>;
  now(): number;
  /** Something that nobody expected was thrown; `callId` names the call in the log. */
  onFault(callId: string, thrown: unknown): void;
}
