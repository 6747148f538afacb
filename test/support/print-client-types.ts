// Prints the types of the API for clients; with --write puts them into their file. Run it when the test of them says that they are stale.

import { writeFileSync } from 'node:fs';
import { root } from '../tidy/sources.js';
import { clientTypesFile, makeClientTypes } from './client-types.js';

const text = await makeClientTypes();
if (process.argv.includes('--write')) writeFileSync(`${root}/${clientTypesFile}`, text);
else process.stdout.write(text);
