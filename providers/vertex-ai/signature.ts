import type { Host, Maybe, Outgoing, SigningKeys } from '@gateway/plugin-sdk';
import { ParameterError } from '@gateway/plugin-sdk';
import { accessToken } from './access-token.js';
import type { VertexCredentials } from './credentials.js';
import { accountJson, isApiKey, serviceAccount } from './credentials.js';

/** A key of the config first, then its service account, then what the client brought along. */
export function sign(outgoing: Outgoing, keys: SigningKeys<VertexCredentials>, host: Host): Maybe<void> {
  const json = keys.credentials.api_key === undefined ? accountJson(keys.credentials) : undefined;
  if (json === undefined) return authorise(outgoing, keys.credentials.api_key ?? keys.apiKey);
  const token = accessToken(serviceAccount(json), host);
  return typeof token === 'string' ? authorise(outgoing, token) : token.then((value) => authorise(outgoing, value));
}

function authorise(outgoing: Outgoing, key: string | undefined): void {
  if (key === undefined || key === '') throw new ParameterError('api_key', 'give a service account key, an access token or an API key');
  if (isApiKey(key)) outgoing.headers.push('x-goog-api-key', key);
  else outgoing.headers.push('authorization', `Bearer ${key}`);
}
