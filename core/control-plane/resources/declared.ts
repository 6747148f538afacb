// Every resource that may stand in a file, in the order of an export.

import type { Declared } from '../define-declared.js';
import { apiKeysDeclared } from './api-keys/declared.js';
import { collectionsDeclared } from './collections/declared.js';
import { configsDeclared } from './configs/declared.js';
import { guardrailsDeclared } from './guardrails/declared.js';
import { integrationsDeclared } from './integrations/declared.js';
import { organisationDeclared } from './organisation/declared.js';
import { rateLimitsDeclared, usageLimitsDeclared } from './policies/declared.js';
import { promptPartialsDeclared } from './prompt-partials/declared.js';
import { promptsDeclared } from './prompts/declared.js';
import { providersDeclared } from './providers/declared.js';
import { secretReferencesDeclared } from './secret-references/declared.js';
import { virtualKeysDeclared } from './virtual-keys/declared.js';
import { workspacesDeclared } from './workspaces/declared.js';

export const declared: readonly Declared[] = [
  organisationDeclared,
  workspacesDeclared,
  secretReferencesDeclared,
  integrationsDeclared,
  providersDeclared,
  virtualKeysDeclared,
  guardrailsDeclared,
  configsDeclared,
  collectionsDeclared,
  promptPartialsDeclared,
  promptsDeclared,
  apiKeysDeclared,
  usageLimitsDeclared,
  rateLimitsDeclared,
];
