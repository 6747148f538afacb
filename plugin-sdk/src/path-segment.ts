import { ParameterError } from './errors.js';

/**
 * One segment of a URL's path, or a value of its query, made of what a client or a config gave: percent-encoded, slashes too. Throws a
 * ParameterError that names `parameter` for what no path can hold, or what would lead out of it: nothing, `.` and `..`, control
 * characters, half a surrogate pair. Every provider that puts input into a path uses this, or `pathSegments`.
 */
export function pathSegment(text: string, parameter = 'model'): string {
  const becomes = 'becomes part of the provider\'s path';
  if (text === '') throw new ParameterError(parameter, `${becomes}, so it must not be empty`);
  if (text === '.' || text === '..') throw new ParameterError(parameter, `${becomes}, so it must not be or hold a dot segment`);
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new ParameterError(parameter, `${becomes}, so it must not hold control characters`);
  if (/\p{Surrogate}/u.test(text)) throw new ParameterError(parameter, `${becomes}, so it must not hold half a surrogate pair`);
  return encodeURIComponent(text);
}

/** The same for input whose slashes part segments: `publishers/meta/models/llama`. */
export const pathSegments = (text: string, parameter = 'model'): string => text.split('/').map((segment) => pathSegment(segment, parameter)).join('/');
