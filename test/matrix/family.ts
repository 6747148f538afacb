// What the matrix knows of a provider family: how to be that provider. Written from the providers' documentation alone.

import type { Json } from '@gateway/plugin-sdk';

export const features = ['plain', 'stream', 'tools', 'parallel tools', 'image', 'JSON schema', 'thinking', 'usage', 'error'] as const;
export type Feature = (typeof features)[number];

export interface Thinking { readonly text: string; readonly signature?: string }
export interface ReplyCall { readonly id: string; readonly name: string; readonly args: Record<string, Json> }
export interface Usage { readonly input: number; readonly output: number; readonly cached?: number; readonly reasoning?: number }

/** What the model says. */
export interface Reply {
  readonly thinking?: { readonly text: string; readonly signature: string };
  readonly text?: string;
  readonly toolCalls?: readonly ReplyCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly usage: Usage;
  readonly error?: { readonly status: number; readonly message: string };
  readonly streamError?: { readonly afterText: string; readonly message: string };
}

export interface Turn {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly images: number;
  readonly thinking?: Thinking;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  readonly toolCallId?: string;
  readonly toolName?: string;
}

/** What the provider understood of a request, in neutral words. */
export interface Seen {
  readonly isStream: boolean;
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly string[];
  /** auto, none, required, or the name of a tool. */
  readonly toolChoice?: string;
  readonly schema?: unknown;
  readonly maxTokens?: number;
  /** 0: thinking is on, without a budget of its own. */
  readonly thinkingBudget?: number;
  readonly temperature?: number;
  /** Which of the family's wire forms the request came in; the answer takes the same. */
  readonly wire?: string;
  /** The client asked for usage in the stream, where it has to be asked for. */
  readonly wantsUsage?: boolean;
}

export interface Call { readonly method: string; readonly url: string; readonly headers: Record<string, string>; readonly body: Buffer }
export interface Answered { readonly status: number; readonly headers: Record<string, string>; readonly chunks: Buffer[] }

export interface Family {
  readonly name: string;
  readonly features: ReadonlySet<Feature>;
  /** Why a feature is not in `features`. */
  readonly lacks?: Partial<Record<Feature, string>>;
  /** The dialects in which it shows its thinking; absent: all. */
  readonly thinkingIn?: ReadonlySet<'chat' | 'messages' | 'responses'>;
  readonly model: string;
  /** What its usage tells beyond input and output. */
  readonly usageParts: ReadonlySet<'cached' | 'reasoning'>;
  readonly hasSignature: boolean;
  readonly hasBudget: boolean;
  readonly hasToolChoice: boolean;
  /** Members of a config target: provider, custom_host, credentials. */
  target(origin: string): Record<string, unknown>;
  /** Answers what is not a call of the model, such as the endpoint for tokens. */
  serve?(call: Call): Answered | undefined;
  /** Throws where the signature is wrong. */
  verify?(call: Call): Promise<void>;
  /** Throws where the real provider would answer 400. */
  parse(call: Call): Seen;
  answer(reply: Reply, seen: Seen): Answered;
}

/** The fault of a request, as the provider would tell it. */
export class Refused extends Error {}
export function need(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Refused(message);
}

/** Strict providers answer 400 to members that they do not know. */
export function onlyKnown(body: object, known: readonly string[], where: string): void {
  for (const key of Object.keys(body)) need(known.includes(key), `${where}: unknown field ${key}`);
}

/** Awkward pieces: seeded, so that a failure comes again. */
export function cut(bytes: Buffer, seed = 7): Buffer[] {
  const chunks: Buffer[] = [];
  let state = seed;
  for (let at = 0; at < bytes.length;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const size = 1 + (state >> 8) % 97;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** Text in small pieces, none of them cut inside a character. */
export function pieces(text: string, size = 4): string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) => characters.slice(index * size, (index + 1) * size).join(''));
}

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Answered => ({
  status, headers: { 'content-type': 'application/json', ...headers }, chunks: cut(Buffer.from(JSON.stringify(value))),
});
export const sse = (events: readonly { readonly event?: string; readonly data: unknown }[], lineEnd = '\n'): Answered => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  chunks: cut(Buffer.from(events.map(({ event, data }) =>
    `${event === undefined ? '' : `event: ${event}${lineEnd}`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}${lineEnd}${lineEnd}`).join(''))),
});
export const bodyOf = (call: Call): any => {
  try {
    return JSON.parse(call.body.toString('utf8'));
  } catch {
    throw new Refused('the body is not JSON');
  }
};
export const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } => (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
