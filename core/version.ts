// The version of the gateway, read once from its manifest.

import { readFileSync } from 'node:fs';

const manifest: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
export const gatewayVersion = manifest.version;
