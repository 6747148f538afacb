// What the hooks of a call have said so far; made when the first one runs. The results go to the client with the answer, and to the log.

import type { HookDecision, Json } from '@gateway/plugin-sdk';

/** A hook's result, as JSON: whole for clients, short for the log when it had nothing to say. */
export interface HookResult {
  readonly text: string;
  readonly logged: string;
}

export class HookLog {
  readonly before: HookResult[] = [];
  /** Of the attempt whose answer is judged. */
  after: HookResult[] = [];
  /** Hooks that are not waited for; their results go to the log alone. */
  readonly background: HookResult[] = [];
  /** Hooks that ran before the request, and what they said. A hook that several targets inherit runs once. */
  readonly ran = new Map<object, HookDecision>();
  /** A hook of the running target failed without denying, before the request or after it. */
  hasFailedBefore = false;
  hasFailedAfter = false;
  /** The hook that denied the call says so in an answer of status 200. */
  isDeniedSoftly = false;
  /** Hooks in the background that have not ended. */
  readonly pending: Promise<void>[] = [];

  forgetAnswer(): void {
    this.after = [];
    this.hasFailedAfter = false;
  }

  get hasFailed(): boolean {
    return this.hasFailedBefore || this.hasFailedAfter;
  }

  /** A hook changed the answer before the client got it. */
  get hasChangedAnswer(): boolean {
    return this.after.some(({ text }) => text.includes('"transformed":true'));
  }

  get isEmpty(): boolean {
    return this.before.length === 0 && this.after.length === 0;
  }

  /** JSON, as the client reads it under `hook_results`. */
  text(): string {
    return `{"before_request_hooks":${listOf(this.before)},"after_request_hooks":${listOf(this.after)}}`;
  }

  /** The same as an object, for streams. */
  wire(): Json {
    return JSON.parse(this.text()) as Json;
  }

  /** For the log; empty when no hook ran. */
  logged(): string {
    if (this.isEmpty && this.background.length === 0) return '';
    return `{"before_request_hooks":${loggedList(this.before)},"after_request_hooks":${loggedList(this.after)},"async_hooks":${loggedList(this.background)}}`;
  }
}

function loggedList(results: readonly HookResult[]): string {
  let text = '[';
  for (let index = 0; index < results.length; index += 1) text += (index === 0 ? '' : ',') + (results[index] as HookResult).logged;
  return `${text}]`;
}

function listOf(results: readonly HookResult[]): string {
  let text = '[';
  for (let index = 0; index < results.length; index += 1) text += (index === 0 ? '' : ',') + (results[index] as HookResult).text;
  return `${text}]`;
}
