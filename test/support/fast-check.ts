// The library of property tests, with the seed of all tests.

import fc from 'fast-check';
import { testSeed } from './seed.js';

fc.configureGlobal({ seed: testSeed });

export type { Arbitrary } from 'fast-check';
export default fc;
