// Places in a config as the client reads them in an error: `config.targets[1].retry.attempts`. Runs only when something is wrong.

/** Longest property name quoted in a message. */
const nameCharactersMax = 64;

/** A fault found in a config: where, and what to do about it. */
export interface ConfigFault {
  readonly path: string;
  readonly reason: string;
}

/** `path` one step deeper. */
export function placeBelow(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return /^[A-Za-z_][\w-]{0,63}$/.test(step) ? `${path}.${step}` : `${path}[${quoteName(step)}]`;
}

/** A property name of the client's, cut and escaped so that it can stand in a message. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax)}...` : name);
}
