// The records of a gateway, as an exporter got them: from the file of the JSON lines exporter, once the gateway has stopped.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '@gateway/plugin-sdk';

/** Settings of a gateway whose records `recordsIn` reads; in `folder` the settings file and the records come to lie. `exporters`: others beside. */
export function loggedInto(folder: string, exporters: readonly string[] = []): Record<string, string> {
  const path = join(folder, 'settings.json');
  writeFileSync(path, JSON.stringify({ exporters: [{ id: 'jsonl', params: { path: fileIn(folder) } }, ...exporters] }));
  return { GATEWAY_SETTINGS: path };
}

export const recordsIn = (folder: string): LogRecord[] => readFileSync(fileIn(folder), 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as LogRecord);

const fileIn = (folder: string): string => join(folder, 'records.jsonl');
