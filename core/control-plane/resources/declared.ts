// Every resource that may stand in a file, in the order of an export.

import type { Declared } from '../define-declared.js';
import { configsDeclared } from './configs/declared.js';
import { providersDeclared } from './providers/declared.js';

export const declared: readonly Declared[] = [providersDeclared, configsDeclared];
