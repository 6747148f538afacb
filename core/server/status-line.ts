// Status code and reason phrase as the edge writes them (RFC 9110, section 15), made once for each code.

import { STATUS_CODES } from 'node:http';

const phrases: Readonly<Record<number, string | undefined>> = {
  ...STATUS_CODES,
  // Anthropic's for a provider without room.
  529: 'Overloaded',
  // Ours: a guardrail failed without denying, a guardrail denied.
  246: 'Hooks Failed', 446: 'Hooks Denied',
};

const lines: string[] = [];

export function statusLine(status: number): string {
  return lines[status] ??= `${status} ${phrases[status] ?? 'Unknown'}`;
}
