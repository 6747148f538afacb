import { bodyOf, features, need, type Family } from './family.js';
import { answerGemini, parseGemini } from './gemini-wire.js';

const key = 'AIza-matrix';

export const google: Family = {
  name: 'google', features: new Set(features), model: 'gemini-2.5-pro', usageParts: new Set(['cached', 'reasoning']), hasSignature: true, hasBudget: true, hasToolChoice: true,
  target: (origin) => ({ provider: 'google', api_key: key, custom_host: `${origin}/v1beta` }),
  parse(call) {
    need(call.headers['x-goog-api-key'] === key || new URL(call.url, 'http://x').searchParams.get('key') === key, 'API key not valid');
    const path = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)(\?.*)?$/.exec(call.url);
    need(path, `unknown path ${call.url}`);
    if (path[2] === 'streamGenerateContent') need(path[3]?.includes('alt=sse'), 'without alt=sse the stream is a JSON list');
    const body = bodyOf(call);
    delete body.model;
    return parseGemini(call.url, body);
  },
  answer: answerGemini,
};
