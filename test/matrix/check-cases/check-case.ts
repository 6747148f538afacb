// What the table of checks knows of a check: parameters, what is said, and what has to become of the call.

import type { ReplyCall } from '../family.js';

export type DialectName = 'chat' | 'messages' | 'responses';

/** Servers beside the gateway that checks call, and tokens that they vouch for. */
export interface Surroundings {
  /** `/accept`, `/reject` and `/rewrite` judge as webhooks; `/collect` takes logs; `/broken` answers 503; `/page` is there, `/gone` is not; `/image.png`; `/keys`. */
  readonly url: string;
  readonly keys: object;
  readonly token: string;
  readonly expiredToken: string;
  /** Signed with a key that nobody knows. */
  readonly forgedToken: string;
  readonly image: Buffer;
  /** What `/collect` and the webhooks were sent since the call began. */
  readonly posted: any[];
}

type Given<T> = T | ((surroundings: Surroundings) => T);

export interface CheckCase {
  readonly name: string;
  /** Absent: every side that the check has. */
  readonly side?: 'input' | 'output';
  /** Both sides of an `error` are that it says `failOnError`: the call is refused. `pass` leaves the text as it is. */
  readonly outcome: 'pass' | 'fail' | 'change' | 'error';
  readonly params: Given<object>;
  /** What the user says, or the model; absent for a model that says nothing. */
  readonly text?: Given<string | undefined>;
  /** What the model thinks before. */
  readonly thinking?: string;
  /** What the model calls. */
  readonly calls?: readonly ReplyCall[];
  /** The text after the check; of one that fails, too, where it changes and does not deny. */
  readonly changed?: Given<string>;
  /** What the client gets of the arguments of `calls`, where the check changes them. */
  readonly changedCalls?: readonly unknown[];
  readonly metadata?: object;
  readonly headers?: Given<Record<string, string>>;
  /** Members of the request in place of the usual ones. */
  readonly request?: (dialect: DialectName, surroundings: Surroundings) => Record<string, unknown>;
  /** Members that the check's data must have, among others. */
  readonly data?: Given<Record<string, unknown>>;
  /** What else must be true: of the body that the provider got, or of what the services were sent. */
  readonly verify?: (provider: any, surroundings: Surroundings) => void;
}

/** By the check's folder. */
export type CheckCases = Readonly<Record<string, readonly CheckCase[]>>;

export const given = <T>(value: Given<T>, surroundings: Surroundings): T => (typeof value === 'function' ? (value as (from: Surroundings) => T)(surroundings) : value);
