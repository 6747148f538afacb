// What each check is given in its bench: parameters that make it read everything, and a body of a size with nothing in it that would end it early.

import type { EndpointName, Json } from '@gateway/plugin-sdk';
import type { FakeHostOptions } from '@gateway/plugin-sdk/testing';
import { bodyWithText } from '@gateway/plugin-sdk/testing';

/** By the check's folder. */
export interface Workload {
  readonly params: Readonly<Record<string, Json>>;
  /** Default: input, where the check has it. */
  readonly stage?: 'input' | 'output';
  /** Around the prose. */
  readonly text?: (prose: string) => string;
  /** The whole request in place of one with the text. */
  readonly body?: (prose: string) => Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, Json>>;
  readonly host?: FakeHostOptions;
  /** Parameters for streams, where they differ. */
  readonly streamParams?: Readonly<Record<string, Json>>;
}

const chat = (prose: string, members: Readonly<Record<string, Json>> = {}): Json => ({ ...bodyWithText('chatCompletions', prose) as Record<string, Json>, ...members });
const asJson = (prose: string): string => JSON.stringify({ name: 'Ann', notes: prose.match(/[^.]+\./g) ?? [prose] });
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const lowerCase = (prose: string): string => prose.toLowerCase();

export const endpoint: EndpointName = 'chatCompletions';

export const workloads: Readonly<Record<string, Workload>> = {
  'add-prefix': { params: { prefix: 'Be brief. ' } },
  alllowercase: { params: {}, text: lowerCase },
  'allowed-request-types': { params: { allowedTypes: ['chatComplete', 'embed'] } },
  alluppercase: { params: {}, text: (prose) => prose.toUpperCase() },
  'character-count': { params: { maxCharacters: 200_000 } },
  contains: { params: { words: ['confidential', 'internal only', 'do not share', 'password', 'project zebra'], operator: 'none', caseSensitive: false } },
  'contains-code': { params: { format: 'SQL' }, text: (prose) => `${prose}\n\`\`\`sql\nselect 1\n\`\`\`` },
  'ends-with': { params: { suffix: 'the end' }, text: (prose) => `${prose} the end.` },
  gibberish: { params: {} },
  'inline-image-urls': {
    params: {},
    body: (prose) => ({ model: 'mock-1', messages: [{ role: 'user', content: [{ type: 'text', text: prose }, { type: 'image_url', image_url: { url: 'https://images.example/a.png' } }] }] }),
    host: { fetch: () => ({ headers: { 'content-type': 'image/png' }, body: Buffer.from(pixel, 'base64') }) },
  },
  'is-all-lower-case': { params: {}, text: lowerCase },
  'json-keys': { params: { keys: ['name', 'notes'], operator: 'all' }, stage: 'output', text: asJson },
  'json-schema': {
    params: { schema: { type: 'object', required: ['name', 'notes'], properties: { name: { type: 'string', pattern: '^[A-Z]' }, notes: { type: 'array', items: { type: 'string', minLength: 1 } } } } },
    stage: 'output', text: asJson,
  },
  jwt: { params: { headerKey: 'x-user-token' } },
  language: { params: { language: ['en'] } },
  log: { params: { logURL: 'https://log.example/in' }, host: { fetch: () => ({ status: 202 }) } },
  'model-rules': { params: { rules: { defaults: ['other'], metadata: { plan: { pro: ['mock-*'] } } } }, metadata: { plan: 'pro' } },
  'model-whitelist': { params: { models: ['gpt-4o*', 'claude-*', 'mock-1'] } },
  'not-null': { params: {}, stage: 'output' },
  pii: { params: {} },
  'prompt-injection': { params: {} },
  // No letter or digit that has to be there: the text is read by the automaton.
  'regex-match': { params: { rule: '(?i)\\b(?:order|invoice|ticket)\\s+[0-9]{4,}\\b', not: true } },
  'regex-replace': { params: { rule: '(?i)\\b(?:order|invoice|ticket)\\s+[0-9]{4,}\\b' } },
  'request-parameters-check': {
    params: { tools: { blockedTypes: ['mcp'], allowedFunctionNames: ['look'] }, params: { blockedKeys: ['logit_bias'], values: { n: { allowedValues: [1] } } } },
    body: (prose) => chat(prose, { n: 1, tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }] }),
  },
  'required-metadata-key-pairs': { params: { metadataPairs: { team: ['a', 'b'], plan: '^pr' }, matchType: 'regex' }, metadata: { team: 'b', plan: 'pro' } },
  'required-metadata-keys': { params: { metadataKeys: ['team', 'plan'] }, metadata: { team: 'b', plan: 'pro' } },
  secrets: { params: { entropy: true } },
  'sentence-count': { params: {} },
  'size-limit': { params: { maxBytes: 1_000_000, maxMessages: 100, maxImages: 4, maxTools: 10, maxCharactersPerMessage: 500_000 } },
  'token-limit': { params: { maxTokens: 60_000, minTokens: 150, tokensPerMessage: 4 } },
  'valid-urls': { params: {}, text: (prose) => `${prose} See https://docs.example/a and https://docs.example/b.`, host: { fetch: () => ({}) } },
  webhook: { params: { webhookURL: 'https://judge.example/check' }, host: { fetch: () => ({ body: '{"verdict":true}' }) } },
  'word-count': { params: {} },
};
