import { answerChat, parseChat } from './chat-wire.js';
import { bodyOf, need, type Call, type Family, type Feature, type Reply, type Seen } from './family.js';
import { answerResponses, parseResponses } from './responses-wire.js';

export const noThinking = 'its chat completions take no thinking and show none';
export const ownMember = 'its chat completions take no thinking; the reasoning they show in a member of their own is relayed as it is';

export const parseOpenai = (call: Call): Seen => {
  const path = call.url.replace(/\?.*/, '');
  need(call.method === 'POST', 'POST only');
  if (path.endsWith('/responses')) return parseResponses(bodyOf(call));
  need(path.endsWith('/chat/completions'), `unknown path ${path}`);
  return parseChat(bodyOf(call));
};
/** `reasoningMember`: where the family's chat completions show reasoning; OpenAI's own do not. */
export const answerOpenai = (reply: Reply, seen: Seen, reasoningMember?: string) => (seen.wire === 'responses' ? answerResponses(reply, seen) : answerChat(reply, seen, reasoningMember));
export const openaiFeatures: ReadonlySet<Feature> = new Set(['plain', 'stream', 'tools', 'parallel tools', 'image', 'JSON schema', 'thinking', 'usage', 'error']);
const key = 'sk-matrix';

const compatible = (name: string, provider: string, base: string, model: string, thinkingIn: NonNullable<Family['thinkingIn']>, reasoningMember?: string): Family => ({
  name, features: openaiFeatures, lacks: { thinking: reasoningMember === undefined ? noThinking : ownMember }, thinkingIn, model,
  usageParts: new Set(['cached', 'reasoning']), hasSignature: false, hasBudget: false, hasToolChoice: true,
  target: (origin) => ({ provider, api_key: key, custom_host: origin + base }),
  parse(call) {
    need(call.headers.authorization === `Bearer ${key}`, 'incorrect api key');
    return parseOpenai(call);
  },
  answer: (reply, seen) => answerOpenai(reply, seen, reasoningMember),
});

export const openai = compatible('openai', 'openai', '/v1', 'gpt-5-mini', new Set(['responses']));
export const groq = compatible('groq', 'groq', '/openai/v1', 'openai/gpt-oss-120b', new Set(['messages', 'responses']), 'reasoning');
