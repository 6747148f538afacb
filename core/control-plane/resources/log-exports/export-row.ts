// One line of an export: the members that were asked for, without those that the organisation denies.

import type { LogRecord } from '@gateway/plugin-sdk';
import type { LogSight } from '../common/log-services.js';
import { exchangeView, metadataOf, metricsView, type LogNames } from '../logs/log-view.js';

export const exportFields = [
  'id', 'trace_id', 'created_at', 'request', 'response', 'is_success', 'ai_org', 'ai_model', 'req_units', 'res_units', 'total_units', 'request_url', 'cost', 'cost_currency', 'response_time', 'response_status_code', 'mode', 'config', 'prompt_slug', 'metadata',
] as const;

export const needsBodies = (fields: readonly string[]): boolean => fields.includes('request') || fields.includes('response');
/** Headers of requests have metadata, too. */
export const needsMetadata = (fields: readonly string[]): boolean => fields.includes('metadata') || fields.includes('request');

/** `export_settings.deniedFields` of an organisation: members of a line, or members below them such as `request.body`. */
export function deniedFieldsOf(settings: Readonly<Record<string, unknown>>): readonly string[] {
  const { deniedFields }: { readonly deniedFields?: unknown } = Object(settings.export_settings);
  return Array.isArray(deniedFields) ? deniedFields.filter((each) => typeof each === 'string') : [];
}

export interface LineRules {
  readonly fields: readonly string[];
  readonly denied: readonly string[];
  readonly sight: LogSight;
}

/** With its line feed. */
export function exportLine(record: LogRecord, names: LogNames, { fields, denied, sight }: LineRules): string {
  // Headers say again what is denied as metadata.
  const { request, response } = exchangeView(record, names, { ...sight, metadata: sight.metadata && !denied.some((each) => each === 'metadata' || each.startsWith('metadata.')) });
  const all: Readonly<Record<string, unknown>> = { ...metricsView(record, names, sight), request, response, metadata: sight.metadata ? metadataOf(record) : {} };
  const line: Record<string, unknown> = {};
  for (const field of fields) if (!denied.includes(field)) line[field] = all[field];
  for (const path of denied) if (path.includes('.')) removeAt(line, path.split('.'));
  return `${JSON.stringify(line)}\n`;
}

/**
 * Members of members are copied before they are changed: they belong to the record. Of a list, it is the members of each that is in it. A text where members were expected,
 * such as a body that was cut or is a stream, may hold what is denied, so it goes.
 */
function removeAt(target: Record<string, unknown>, [name = '', ...rest]: readonly string[]): void {
  if (!Object.hasOwn(target, name)) return;
  if (rest.length === 0 || typeof target[name] === 'string') delete target[name];
  else target[name] = without(target[name], rest);
}

function without(value: unknown, path: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => without(each, path));
  const copy: Record<string, unknown> = { ...value };
  removeAt(copy, path);
  return copy;
}
