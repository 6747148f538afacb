// Secrets of HashiCorp Vault by its HTTP API: https://developer.hashicorp.com/vault/api-docs. One source has one token, its own or one that it got by
// logging in, and gets another when that one ends or is refused.

import { isObject, ParameterError, SecretError, type Host, type Json, type SecretSource } from '@gateway/plugin-sdk';

export interface VaultParams {
  readonly vault_auth_type: 'token' | 'approle' | 'kubernetes';
  readonly vault_addr: string;
  readonly vault_token?: string;
  readonly vault_role_id?: string;
  readonly vault_secret_id?: string;
  readonly vault_role?: string;
  readonly vault_namespace?: string;
}

const timeoutMs = 4_000;
const bytesMax = 256 * 1024;
/** A token is not used any more so long before its end. */
const marginMs = 10_000;
/** A mount and a path below it. Plain segments only, since they become parts of a URL. */
const pathShape = /^[A-Za-z0-9_.~-]+(?:\/[A-Za-z0-9_.~ -]+)+$/;

type Members = Readonly<Record<string, unknown>>;

export class VaultSource implements SecretSource {
  readonly #params: VaultParams;
  readonly #host: Host;
  readonly #address: string;
  /** The machine's own token for its cluster. */
  readonly #readMachineToken: () => Promise<string>;
  #token: { readonly text: string; readonly untilMs: number } | null = null;

  /** `allowed`: addresses that may be shown the machine's token. Throws ParameterError. */
  constructor(params: VaultParams, host: Host, allowed: readonly string[], readMachineToken: () => Promise<string>) {
    const needed: Readonly<Record<string, readonly (keyof VaultParams)[]>> = { token: ['vault_token'], approle: ['vault_role_id', 'vault_secret_id'], kubernetes: ['vault_role'] };
    const own: readonly (keyof VaultParams)[] = ['vault_token', 'vault_role_id', 'vault_secret_id', 'vault_role'];
    const names = needed[params.vault_auth_type] ?? [];
    for (const name of own) {
      if (names.includes(name) && params[name] === undefined) throw new ParameterError(name, `is required with vault_auth_type ${params.vault_auth_type}`);
      if (!names.includes(name) && params[name] !== undefined) throw new ParameterError(name, `has no place with vault_auth_type ${params.vault_auth_type}; leave it out`);
    }
    const url = addressOf(params.vault_addr);
    if (url === undefined) throw new ParameterError('vault_addr', 'must be an http:// or https:// address without user name, query or fragment');
    if (params.vault_auth_type === 'kubernetes' && !allowed.some((rule) => addressOf(rule) === url)) {
      throw new ParameterError('vault_addr', "would be shown this machine's own token: the setting secret_sources needs hashicorp-vault=<this address> for it");
    }
    this.#params = params;
    this.#host = host;
    this.#address = url;
    this.#readMachineToken = readMachineToken;
  }

  pathFault(path: string): string | undefined {
    const isPlain = pathShape.test(path) && !path.split('/').some((segment) => /\.$|^ | $/.test(segment));
    return isPlain ? undefined : 'must be the path of the API below /v1/: mount/name, or mount/data/name where the engine is of version 2';
  }

  async read(path: string, signal: AbortSignal): Promise<{ readonly [name: string]: Json }> {
    signal.throwIfAborted();
    const fault = this.pathFault(path);
    if (fault !== undefined) throw new SecretError(`its path ${fault}`);
    const hadToken = this.#token !== null;
    let answer = await this.#get(path, signal);
    // A token that Vault revoked meanwhile; one's own does not change by asking again.
    if (answer.status === 403 && hadToken && this.#params.vault_auth_type !== 'token') {
      this.#token = null;
      answer = await this.#get(path, signal);
    }
    if (answer.status === 404) throw new SecretError('Vault has nothing at its path; where the engine is of version 2, data/ stands behind the mount');
    if (answer.status !== 200) throw faultOf(answer.status);
    return membersOf(answer.body);
  }

  close(): void {
    this.#token = null;
  }

  async #get(path: string, signal: AbortSignal): Promise<Answer> {
    const token = await this.#tokenNow(signal);
    return this.#send({ path: path.split('/').map(encodeURIComponent).join('/'), token, signal });
  }

  async #tokenNow(signal: AbortSignal): Promise<string> {
    const { vault_auth_type: way, vault_token: own } = this.#params;
    if (way === 'token') return own ?? '';
    if (this.#token !== null && this.#token.untilMs > this.#host.now()) return this.#token.text;
    const body = way === 'approle' ? { role_id: this.#params.vault_role_id, secret_id: this.#params.vault_secret_id } : { role: this.#params.vault_role, jwt: await this.#machineToken() };
    const answer = await this.#send({ path: `auth/${way}/login`, body: JSON.stringify(body), signal });
    if (answer.status !== 200) throw new SecretError(`Vault lets the gateway not in: the login by ${way} was answered with status ${answer.status}`);
    const auth = isObject(answer.body) && isObject(answer.body.auth) ? answer.body.auth : {};
    const { client_token: text, lease_duration: seconds } = auth;
    if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text)) throw new SecretError('Vault answered the login with something else than a token');
    // Zero: it does not end.
    const leaseMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Infinity;
    this.#token = { text, untilMs: this.#host.now() + leaseMs - Math.min(marginMs, leaseMs / 2) };
    return text;
  }

  async #machineToken(): Promise<string> {
    try {
      return (await this.#readMachineToken()).trim();
    } catch {
      throw new SecretError('this machine has no token of a Kubernetes service account');
    }
  }

  async #send({ path, token, body, signal }: { readonly path: string; readonly token?: string; readonly body?: string; readonly signal: AbortSignal }): Promise<Answer> {
    const { vault_namespace: namespace } = this.#params;
    const answer = await this.#host.fetch({
      url: `${this.#address}/v1/${path}`, method: body === undefined ? 'GET' : 'POST', timeoutMs, bytesMax, signal,
      headers: {
        accept: 'application/json', 'x-vault-request': 'true', ...(token === undefined ? {} : { 'x-vault-token': token }), ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, body: parsed(await answer.bytes()) };
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Without a slash at its end. */
function addressOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function parsed(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}

function faultOf(status: number): SecretError {
  if (status === 403) return new SecretError('Vault refuses the credentials of the reference, or they may not read its path (403)');
  if (status === 503) return new SecretError('Vault is sealed or down for maintenance (503)');
  return new SecretError(`Vault answered with status ${status}`);
}

/** The members of a secret. Version 2 of the engine wraps them in an object with metadata. */
function membersOf(body: unknown): { readonly [name: string]: Json } {
  const data: Members | undefined = isObject(body) && isObject(body.data) ? body.data : undefined;
  if (data === undefined) throw new SecretError('Vault answered with something else than a secret');
  // As JSON.parse gave it.
  const members = (isObject(data.data) && isObject(data.metadata) ? data.data : data) as { readonly [name: string]: Json };
  return members;
}
