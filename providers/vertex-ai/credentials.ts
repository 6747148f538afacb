import type { JsonObject } from '@gateway/plugin-sdk';
import { ParameterError, isObject, pathSegment } from '@gateway/plugin-sdk';

/** A Google Cloud project, as a config names it. */
export interface VertexCredentials {
  readonly api_key?: string;
  readonly cloud2_auth_type?: 'basic' | 'serviceAccount';
  readonly cloud2_project_id?: string;
  readonly cloud2_region?: string;
  /** The object, or its text where credentials are texts. */
  readonly cloud2_service_account_json?: JsonObject | string;
}

export interface ServiceAccount {
  readonly email: string;
  readonly privateKey: string;
  readonly keyId: string | undefined;
  readonly tokenUri: string;
}

const accountPath = 'cloud2_service_account_json';

export function accountJson(credentials: VertexCredentials): JsonObject | undefined {
  const given = credentials.cloud2_service_account_json;
  if (typeof given !== 'string') return given;
  try {
    const parsed: unknown = JSON.parse(given);
    if (isObject(parsed)) return parsed;
  } catch {
    // Said below, without the text: it holds a private key.
  }
  throw new ParameterError(accountPath, 'must be the JSON object of a service account key');
}

export function serviceAccount(json: JsonObject): ServiceAccount {
  const text = (name: string): string => {
    const value = json[name];
    if (typeof value !== 'string' || value === '') throw new ParameterError(`${accountPath}.${name}`, 'must be a text, as in the key file that Google makes');
    return value;
  };
  return {
    email: text('client_email'),
    privateKey: text('private_key'),
    keyId: typeof json.private_key_id === 'string' ? json.private_key_id : undefined,
    tokenUri: typeof json.token_uri === 'string' ? json.token_uri : 'https://oauth2.googleapis.com/token',
  };
}

/** API keys go up in a header of their own; everything else is an access token. */
export const isApiKey = (key: string): boolean => /^(?:AIza|AQ\.)/.test(key);

/** The default of Google's own libraries. */
export const regionOf = (credentials: VertexCredentials): string => credentials.cloud2_region ?? 'global';

/** Undefined when an API key stands for the project: Google's express mode. */
function projectOf(credentials: VertexCredentials): string | undefined {
  if (credentials.cloud2_project_id !== undefined) return credentials.cloud2_project_id;
  const json = accountJson(credentials);
  if (typeof json?.project_id === 'string') return json.project_id;
  if (credentials.api_key !== undefined && isApiKey(credentials.api_key)) return undefined;
  throw new ParameterError('cloud2_project_id', 'must name the Google Cloud project; the service account key names none');
}

export function baseUrlOf(credentials: VertexCredentials): string {
  const region = regionOf(credentials);
  if (!/^[a-z0-9-]+$/.test(region)) throw new ParameterError('cloud2_region', 'must be a location such as global, eu or us-central1');
  if (projectOf(credentials) === undefined || region === 'global') return 'https://aiplatform.googleapis.com/v1';
  // Jurisdictions of several regions have hosts of their own.
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com/v1`;
  return `https://${region}-aiplatform.googleapis.com/v1`;
}

/** The path in front of `/publishers/...` and `/endpoints/...`. */
export function parentPath(credentials: VertexCredentials): string {
  const project = projectOf(credentials);
  return project === undefined ? '' : `/projects/${pathSegment(project, 'cloud2_project_id')}/locations/${pathSegment(regionOf(credentials), 'cloud2_region')}`;
}
