// Every resource of the control plane.

import type { Resource } from '../define-resource.js';
import { apiKeysResource } from './api-keys/resource.js';
import { configsResource } from './configs/resource.js';
import { organisationResource } from './organisation/resource.js';
import { workspacesResource } from './workspaces/resource.js';

export const resources: readonly Resource[] = [apiKeysResource, configsResource, organisationResource, workspacesResource];
