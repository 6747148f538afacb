// The control plane of the process: one thread runs every control call (control-thread-entry.ts), so that what it does costs calls to models nothing;
// the main thread does where the storage cannot be shared.

import { ControlPlane } from './control-plane/dispatch.js';
import { resources } from './control-plane/resources/index.js';
import { reasonOf } from './errors/gateway-error.js';
import { loadMasterKey } from './settings/master-key.js';
import type { Repository } from './storage/repository.js';
import { Sealer } from './storage/sealer.js';
import type { ThreadServices } from './thread-services.js';

export function startControlPlane(services: ThreadServices, repository: Repository): ControlPlane {
  return new ControlPlane({
    repository,
    sealer: new Sealer(loadMasterKey(services.settings)),
    registry: services.registry,
    now: Date.now,
    onFault: (callId, thrown) => services.logger.error('a control call failed', { call: callId, reason: reasonOf(thrown) }),
  }, resources);
}
