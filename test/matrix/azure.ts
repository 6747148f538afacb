import { need, type Family } from './family.js';
import { answerOpenai, noThinking, openaiFeatures, ownMember, parseOpenai } from './openai.js';

const key = 'azure-matrix-key';
const common = {
  features: openaiFeatures, lacks: { thinking: noThinking }, usageParts: new Set(['cached', 'reasoning'] as const), hasSignature: false, hasBudget: false,
  hasToolChoice: true,
};

/** The deployment is in the path; the version of the API in the query. */
export const azureOpenai: Family = {
  ...common, name: 'azure-openai', model: 'gpt-5-mini', thinkingIn: new Set(['responses']),
  answer: (reply, seen) => answerOpenai(reply, seen),
  target: (origin) => ({ provider: 'azure-openai', api_key: key, custom_host: `${origin}/openai`, resource_name: 'matrix', deployment_id: 'my-deployment', api_version: '2024-10-21' }),
  parse(call) {
    need(call.headers['api-key'] === key, 'access denied due to invalid subscription key');
    const url = new URL(call.url, 'http://x');
    need(url.searchParams.get('api-version') === '2024-10-21', 'api-version is missing');
    need(url.pathname === '/openai/deployments/my-deployment/chat/completions' || url.pathname === '/openai/responses', `resource not found: ${url.pathname}`);
    return parseOpenai(call);
  },
};

/** The model inference API of a Foundry resource. */
export const azureAi: Family = {
  ...common, name: 'azure-ai', model: 'DeepSeek-R1-0528', thinkingIn: new Set(['messages', 'responses']), lacks: { thinking: ownMember },
  answer: (reply, seen) => answerOpenai(reply, seen, 'reasoning_content'),
  target: (origin) => ({ provider: 'azure-ai', api_key: key, custom_host: `${origin}/models`, cloud3_api_version: '2024-05-01-preview' }),
  parse(call) {
    need(call.headers['api-key'] === key || call.headers.authorization === `Bearer ${key}`, 'access denied due to invalid subscription key');
    const url = new URL(call.url, 'http://x');
    need(url.pathname === '/models/chat/completions', `resource not found: ${url.pathname}`);
    need(url.searchParams.get('api-version') === '2024-05-01-preview', 'api-version is missing');
    return parseOpenai(call);
  },
};
