import { createHash } from 'node:crypto';
import { isObject, ParameterError, pathSegment, ProviderError, type Host, type Maybe, type Outgoing } from '@gateway/plugin-sdk';

/** Credentials that every Azure service takes, for the `params` of its provider. */
export const entraParams = {
  cloud3_auth_mode: { type: 'string', enum: ['default', 'entra'], description: 'Which credentials are meant; the others here say it themselves.' },
  cloud3_entra_tenant_id: { type: 'string', description: 'Microsoft Entra tenant (directory) of the application: its id or domain name.' },
  cloud3_entra_client_id: { type: 'string', description: 'Microsoft Entra application (client) id.' },
  cloud3_entra_client_secret: { type: 'string', secret: true, description: 'Client secret of the application.' },
  cloud3_entra_scope: { type: 'string', description: 'Scope that the token is asked for, when not the usual one of the service.' },
  cloud3_ad_token: { type: 'string', secret: true, description: 'A Microsoft Entra access token that was got elsewhere.' },
} as const;

/** What clients of Azure call them, and where they put the address. */
export const azureAliases = {
  ...Object.fromEntries(Object.keys(entraParams).map((name) => [name, [name.replace('cloud3_', 'azure_')]])),
  resource_name: ['azure_resource_name', 'cloud3_resource_name'],
  custom_host: ['azure_foundry_url', 'cloud3_foundry_url', 'foundry_url'],
};

export interface EntraCredentials {
  readonly cloud3_auth_mode?: 'default' | 'entra' | undefined;
  readonly cloud3_entra_tenant_id?: string | undefined;
  readonly cloud3_entra_client_id?: string | undefined;
  readonly cloud3_entra_client_secret?: string | undefined;
  readonly cloud3_entra_scope?: string | undefined;
  readonly cloud3_ad_token?: string | undefined;
}

/** An application that signs in as itself (OAuth 2.0 client credentials). */
export interface EntraApplication {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

interface Entry {
  token: string;
  refreshAtMs: number;
  expiresAtMs: number;
  /** The exchange that runs; all who need a token wait for the same one. */
  pending: Promise<string> | null;
}

const entriesMax = 1000;
const earlyMs = 5 * 60_000;
/** How long a failed early refresh is left alone while the old token still holds. */
const retryMs = 30_000;
const timeoutMs = 10_000;

/** By a digest of the whole application, its secret included: who does not know the secret never gets the token. */
const entries = new Map<string, Entry>();

/** A valid access token; asks Entra only when none is kept or the kept one soon ends. A failure is not kept. */
export function entraToken(application: EntraApplication, host: Host): Promise<string> {
  const { tenantId, clientId, clientSecret, scope } = application;
  const key = createHash('sha256').update(JSON.stringify([tenantId, clientId, clientSecret, scope])).digest('base64');
  const known = entries.get(key);
  const nowMs = host.now();
  if (known !== undefined && nowMs < known.refreshAtMs) return Promise.resolve(known.token);
  const entry: Entry = known ?? { token: '', refreshAtMs: 0, expiresAtMs: 0, pending: null };
  if (entry.pending === null) {
    entry.pending = refresh(key, entry, application, host);
    // The newest last: what was asked for longest ago goes first.
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > entriesMax) removeOldest();
  }
  if (nowMs >= entry.expiresAtMs) return entry.pending;
  // Nobody waits for an early refresh, so nobody hears of its failure either; the next one after `retryMs` may succeed.
  entry.pending.catch(() => undefined);
  return Promise.resolve(entry.token);
}

async function refresh(key: string, entry: Entry, application: EntraApplication, host: Host): Promise<string> {
  try {
    const { token, lifetimeMs } = await exchange(application, host);
    const nowMs = host.now();
    entry.token = token;
    entry.expiresAtMs = nowMs + lifetimeMs;
    // A token that lives shorter than the usual margin is renewed at half its life.
    entry.refreshAtMs = nowMs + Math.max(lifetimeMs - earlyMs, lifetimeMs / 2);
    return token;
  } catch (thrown) {
    const nowMs = host.now();
    if (nowMs < entry.expiresAtMs) entry.refreshAtMs = Math.min(nowMs + retryMs, entry.expiresAtMs);
    else if (entries.get(key) === entry) entries.delete(key);
    throw thrown;
  } finally {
    entry.pending = null;
  }
}

function removeOldest(): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}

async function exchange({ tenantId, clientId, clientSecret, scope }: EntraApplication, host: Host): Promise<{ readonly token: string; readonly lifetimeMs: number }> {
  const answer = await host.fetch({
    url: `https://${authorityOf(scope)}/${pathSegment(tenantId, 'cloud3_entra_tenant_id')}/oauth2/v2.0/token`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope }).toString(),
    timeoutMs,
  });
  const said = parse(await answer.bytes());
  const token = said.access_token;
  if (answer.status === 200 && typeof token === 'string' && token !== '') {
    const seconds = Number(said.expires_in);
    return { token, lifetimeMs: (Number.isFinite(seconds) && seconds > 0 ? seconds : 300) * 1000 };
  }
  const code = typeof said.error === 'string' ? said.error : '';
  // The lines after the first are trace ids and times.
  const reason = typeof said.error_description === 'string' ? said.error_description.split(/\r?\n/, 1)[0] ?? '' : '';
  const words = [code, reason].filter((text) => text !== '').join(': ') || `status ${answer.status}`;
  // What Entra refuses is a fault of the credentials; the rest is a fault of Entra.
  const isRefused = answer.status >= 400 && answer.status < 500 && answer.status !== 429;
  throw new ProviderError(`microsoft entra gave no token: ${words}`, {
    status: isRefused ? 401 : 502,
    type: isRefused ? 'authentication_error' : 'api_error',
    ...(code === '' ? {} : { code }),
  });
}

/** The sign-in address of the cloud that the scope belongs to. */
function authorityOf(scope: string): string {
  if (/\.azure\.us(?:\/|$)/.test(scope)) return 'login.microsoftonline.us';
  return /\.azure\.cn(?:\/|$)/.test(scope) ? 'login.partner.microsoftonline.cn' : 'login.microsoftonline.com';
}

function parse(bytes: Uint8Array): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** An access token of Entra rather than a key of the service: a signed JSON web token. */
export const isAccessToken = (key: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(key);

export interface AzureAuth {
  /** Where the service expects its own keys; `authorization` writes them as a bearer token. */
  readonly keyHeader: 'api-key' | 'x-api-key' | 'authorization';
  /** Of the tokens that the service takes. */
  readonly scope: string;
}

/**
 * Writes the credential into the request: a given token, else a token got with client credentials, else the API key. Without any of them a
 * request to Azure itself is refused; a host of one's own may do without. Waits only where a token has to be asked for.
 */
export function authorizeAzure(
  outgoing: Outgoing, keys: { readonly apiKey: string | undefined; readonly credentials: EntraCredentials }, host: Host, auth: AzureAuth,
): Maybe<void> {
  const { headers } = outgoing;
  const { apiKey, credentials } = keys;
  if (credentials.cloud3_ad_token !== undefined) return writeKey(headers, 'authorization', `Bearer ${credentials.cloud3_ad_token}`);
  const application = applicationOf(credentials, auth.scope);
  if (application !== undefined) return entraToken(application, host).then((token) => writeKey(headers, 'authorization', `Bearer ${token}`));
  if (apiKey === undefined) {
    if (isAzureHost(outgoing.url.hostname)) throw new ParameterError('api_key', 'give api_key, cloud3_ad_token or the credentials of an entra application');
    return undefined;
  }
  if (auth.keyHeader === 'authorization' || isAccessToken(apiKey)) return writeKey(headers, 'authorization', `Bearer ${apiKey}`);
  return writeKey(headers, auth.keyHeader, apiKey);
}

/** Whatever credential was there before is the client's, and not for Azure. */
function writeKey(headers: string[], keyHeader: string, value: string): void {
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    const name = headers[index];
    if (name === 'authorization' || name === 'api-key' || name === 'x-api-key') headers.splice(index, 2);
  }
  headers.push(keyHeader, value);
}

const isAzureHost = (name: string): boolean => /\.azure\.(?:com|us|cn)$/i.test(name);

function applicationOf(credentials: EntraCredentials, scope: string): EntraApplication | undefined {
  const { cloud3_entra_tenant_id: tenantId, cloud3_entra_client_id: clientId, cloud3_entra_client_secret: clientSecret } = credentials;
  if (tenantId === undefined && clientId === undefined && clientSecret === undefined) return undefined;
  // Half of an application must not fall back to a key that somebody else pays for.
  if (tenantId === undefined) throw new ParameterError('cloud3_entra_tenant_id', 'an entra application needs its tenant as well');
  if (clientId === undefined) throw new ParameterError('cloud3_entra_client_id', 'an entra application needs its client id as well');
  if (clientSecret === undefined) throw new ParameterError('cloud3_entra_client_secret', 'an entra application needs its client secret as well');
  return { tenantId, clientId, clientSecret, scope: credentials.cloud3_entra_scope ?? scope };
}

/** Keys are sent there: any other host has to be named as such. */
const azureDomain = /\.(?:azure\.(?:com|us|cn)|azure-api\.net)$/;

/** A host name from the name of a resource, or from a host name or URL that the client gave in its place. */
export function azureHost(given: string, param: string, suffix: string): string {
  const bare = given.trim().replace(/^https:\/\//i, '').replace(/\/+$/, '').toLowerCase();
  if (!/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(bare)) throw new ParameterError(param, 'must be a name of letters, digits and hyphens, or a host name');
  if (!bare.includes('.')) return `${bare}.${suffix}`;
  if (!azureDomain.test(bare)) throw new ParameterError(param, 'is a host name outside of Azure; give it as custom_host');
  return bare;
}
