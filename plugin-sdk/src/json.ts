import type { JsonObject } from './chat/types.js';
import type { Json } from './shared.js';

/** Whether a value is an object of JSON: neither null nor a list. */
export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** As `Array.isArray`, which does not narrow to a list that may only be read. */
export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** The text; empty when it is not a text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The text; undefined when it is not a text. */
export const textOrUndefined = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The list; empty when it is not a list. */
export const listOf = (value: unknown): readonly Json[] => (isList(value) ? value : []);
