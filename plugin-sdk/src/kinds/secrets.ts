import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Json, Maybe } from '../shared.js';

/** What stands at a path: a text, or members of which a reference names one. */
export type SecretDocument = string | { readonly [name: string]: Json };

/**
 * Reads secrets of one manager, with one set of credentials. One instance for each reference and thread, asked once at a time, when a call first needs
 * the value and every few minutes from then on: what was read is kept by the host, never by the source. Sessions with the manager may be kept.
 */
export interface SecretSource extends Closable {
  /** Why nothing can stand at this path, or nothing that may be read; undefined when it may. Asked when a reference is stored; looks at nothing outside. */
  pathFault?(path: string): string | undefined;
  /** Rejects when there is no value. A `SecretError` tells callers why, any other error the log alone. */
  read(path: string, signal: AbortSignal): Promise<SecretDocument>;
}

export interface SecretsPlugin<S extends ObjectSchema = any> extends Common<'secrets', S> {
  /** Values of a reference's `manager_type` that mean this plugin, beside its id; dashes and underscores are the same. */
  readonly managerTypes?: readonly string[];
  /**
   * `params` are the `auth_config` of a reference; members with `secret: true` are stored sealed and shown masked. Whoever may store references chooses
   * them, so what belongs to the machine (its files, variables, tokens) may be read, or sent to an address, only where `allowed` says so: the rules that
   * the operator's setting `secret_sources` has for this plugin, in its own words. Throw `ParameterError` for what can never work.
   */
  create(params: FromSchema<S>, host: Host, allowed: readonly string[]): Maybe<SecretSource>;
}
