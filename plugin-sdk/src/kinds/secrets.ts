import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Json, Maybe } from '../shared.js';

/** The content at a path: a text, or an object, of which a reference names one member. */
export type SecretDocument = string | { readonly [name: string]: Json };

/**
 * Reads secrets of one manager, with one set of credentials. One instance for each reference and thread, read by one call at a time: when a call first needs
 * the value, and every few minutes from then on. The host keeps the value; the source must not. It may keep its session with the manager.
 */
export interface SecretSource extends Closable {
  /** Why this path is wrong or may not be read; undefined when it is fine. Called when a reference is stored; must not access the manager. */
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
