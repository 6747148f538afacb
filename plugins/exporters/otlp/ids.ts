// Ids of log records as OpenTelemetry has them: 16 bytes for a trace, 8 for a span, none all zero. Clients may name traces and spans as they like;
// the same name gives the same id, so that what belonged together does so there.

import { createHash } from 'node:crypto';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const traceIdOf = (id: string): string => idOf(uuidPattern.test(id) ? id.replaceAll('-', '') : id, 32);
export const spanIdOf = (id: string): string => idOf(id, 16);

function idOf(id: string, digits: number): string {
  const isId = id.length === digits && /^[0-9a-f]+$/i.test(id) && !/^0+$/.test(id);
  return isId ? id.toLowerCase() : createHash('sha256').update(id).digest('hex').slice(0, digits);
}
