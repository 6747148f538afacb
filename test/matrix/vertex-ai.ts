import { createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';
import { bodyOf, features, json, need, sse, type Answered, type Call, type Family } from './family.js';
import { answerGemini, geminiError, parseGemini } from './gemini-wire.js';
import { messageBody, messageError, messageEvents, parseMessages } from './messages-wire.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const email = 'matrix@matrix-project.iam.gserviceaccount.com';
const tokens = new Set<string>();
const part = (text: string): any => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));

/** Google's token endpoint: the assertion is a JWT signed with the service account's key. */
function serveToken(call: Call): Answered | undefined {
  if (call.method !== 'POST' || call.url !== '/google/token') return undefined;
  const form = new URLSearchParams(call.body.toString('utf8'));
  const assertion = form.get('assertion') ?? '';
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  try {
    need(form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'unsupported grant type');
    need(part(head).alg === 'RS256' && part(head).kid === 'key-1', 'the header names RS256 and the key');
    need(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, Buffer.from(signature, 'base64url')), 'invalid JWT signature');
    const { iss, aud, iat, exp, scope } = part(claims);
    need(iss === email && /\/google\/token$/.test(aud), 'invalid issuer or audience');
    need(exp > Date.now() / 1000 && exp - iat <= 3600 && iat <= Date.now() / 1000 + 5, 'invalid lifetime');
    need(String(scope).includes('https://www.googleapis.com/auth/cloud-platform'), 'invalid scope');
  } catch (error) {
    return json(400, { error: 'invalid_grant', error_description: String(error) });
  }
  const token = `ya29.${randomBytes(12).toString('hex')}`;
  tokens.add(token);
  return json(200, { access_token: token, expires_in: 3599, token_type: 'Bearer' });
}

const target = (origin: string): Record<string, unknown> => ({
  provider: 'vertex-ai', custom_host: `${origin}/v1`, cloud2_project_id: 'matrix-project', cloud2_region: 'us-central1',
  cloud2_service_account_json: {
    type: 'service_account', project_id: 'matrix-project', private_key_id: 'key-1', client_email: email, client_id: '1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }), token_uri: `${origin}/google/token`,
  },
});
const parent = '/v1/projects/matrix-project/locations/us-central1/publishers';
const checkToken = (call: Call): void => need(tokens.has((call.headers.authorization ?? '').replace(/^Bearer /, '')), 'request had invalid authentication credentials');

export const vertexGemini: Family = {
  name: 'vertex-ai (Gemini)', features: new Set(features), model: 'gemini-2.5-pro', usageParts: new Set(['cached', 'reasoning']), hasSignature: true, hasBudget: true, hasToolChoice: true,
  target, serve: serveToken,
  parse(call) {
    checkToken(call);
    const isStream = call.url === `${parent}/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`;
    need(isStream || call.url === `${parent}/google/models/gemini-2.5-pro:generateContent`, `unknown path ${call.url}`);
    return parseGemini(call.url, bodyOf(call));
  },
  answer: answerGemini,
};

export const vertexClaude: Family = {
  name: 'vertex-ai (Claude)', features: new Set(features), model: 'claude-sonnet-4-5@20250929', usageParts: new Set(['cached']), hasSignature: true, hasBudget: true, hasToolChoice: true,
  target: (origin) => target(origin), serve: serveToken,
  parse(call) {
    checkToken(call);
    const path = /^(.*)\/anthropic\/models\/claude-sonnet-4-5(?:@|%40)20250929:(rawPredict|streamRawPredict)$/.exec(call.url);
    need(path?.[1] === parent, `unknown path ${call.url}`);
    const body = bodyOf(call);
    need(body.anthropic_version === 'vertex-2023-10-16', 'anthropic_version: field required');
    need(body.model === undefined, 'model: extra inputs are not permitted');
    need((body.stream === true) === (path[2] === 'streamRawPredict'), 'stream and the path disagree');
    return parseMessages(body, body.stream === true);
  },
  answer(reply, seen) {
    if (reply.error !== undefined) return json(reply.error.status, reply.error.status === 429 ? geminiError(reply.error.message, 429) : messageError(reply.error.message, reply.error.status));
    return seen.isStream ? sse(messageEvents(reply)) : json(200, messageBody(reply));
  },
};
