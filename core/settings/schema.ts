// The one schema of the bootstrap settings: file keys are its property names, environment names follow from them (`port`, GATEWAY_PORT).
// Used once at start, by `gateway --help` and by the table in README.md. `expected` says what a good value looks like where the
// keywords alone do not; `secret` values never reach a message.

import { timerMsMax } from './timer-limit.js';

const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Signed with a private key: whoever can verify a token cannot make one. */
const tokenAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

/** Facts that a token states, and the claims for them unless `jwt_claims` names others. */
export const tokenClaims = { organisation: 'oid', workspace: 'workspace', scopes: 'scope', user: 'sub', defaults: 'defaults', usage_limits: 'usage_limits', rate_limits: 'rate_limits' } as const;
export type TokenFact = keyof typeof tokenClaims;
export const tokenFacts = Object.keys(tokenClaims).filter((name): name is TokenFact => Object.hasOwn(tokenClaims, name));

export interface SettingSchema {
  readonly type: 'string' | 'integer' | 'array' | readonly ('string' | 'integer' | 'object')[];
  readonly description: string;
  readonly default?: string | number | readonly string[];
  /** Shown instead of the default, or where there is none. */
  readonly defaultText?: string;
  readonly expected?: string;
  readonly secret?: true;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly uniqueItems?: true;
  readonly minItems?: number;
  readonly items?: Readonly<Record<string, unknown>>;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
/** Times are added to it; and no process manager waits for a day. */
const shutdownMsMax = 86_400_000;

const bytes = (byDefault: number, minimum: number, maximum: number, description: string): SettingSchema =>
  ({ type: 'integer', default: byDefault, minimum, maximum, description });
const milliseconds = (byDefault: number, minimum: number, description: string): SettingSchema =>
  ({ type: 'integer', default: byDefault, minimum, maximum: timerMsMax, description });
const count = (byDefault: number, maximum: number, description: string): SettingSchema =>
  ({ type: 'integer', default: byDefault, minimum: 1, maximum, description });
const key = (defaultText: string, description: string): SettingSchema =>
  ({ type: 'string', secret: true, pattern: '^[\\x21-\\x7e]{16,256}$', expected: '16 to 256 printable ASCII characters without spaces', defaultText, description });
const path = (description: string): SettingSchema => ({ type: 'string', minLength: 1, expected: 'the path of a file', defaultText: 'no TLS', description });

/** Order is the order of the help and the docs. */
const settingProperties = {
  host: { type: 'string', default: '127.0.0.1', pattern: '^[^\\s/]+$', expected: 'a host name or an IP address', description: 'Address to listen on; `0.0.0.0` or `::` for all.' },
  port: { type: 'integer', default: 8787, minimum: 0, maximum: 65_535, description: 'Port to listen on; 0 takes any free one.' },
  data_dir: { type: 'string', default: './data', minLength: 1, expected: 'the path of a directory', description: 'Directory of the databases and the master key file; made when missing.' },
  threads: { type: ['integer', 'string'], default: 'auto', minimum: 1, maximum: 256, pattern: '^auto$', expected: 'a number from 1 to 256, or auto', description: 'Event-loop threads that serve calls; `auto` is one for each core.' },
  admin_key: key('generated once', 'Organisation admin key of the first organisation, instead of a generated one.'),
  api_key: key('generated once', 'API key of the first workspace, instead of a generated one.'),
  master_key: {
    type: 'string', secret: true, pattern: '^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$', expected: '32 bytes as 64 hex digits or as base64',
    defaultText: 'file `master.key` in the data directory, generated', description: 'Key that encrypts stored credentials.',
  },
  owner_email: {
    type: 'string', pattern: '^[^\\s@]+@[^\\s@]+$', expected: 'an e-mail address', defaultText: 'nobody signs in as the owner',
    description: 'E-mail address of the owner of the organisation, who signs in with it.',
  },
  public_url: {
    type: 'string', pattern: '^https?://[^\\s/?#@]+/?$', expected: 'an address such as https://gateway.example.com, without a path', defaultText: 'as asked for, on loopback alone',
    description: 'Address under which browsers reach the gateway. Sign-in needs it, unless the browser runs on this machine.',
  },
  oidc_issuer: {
    type: 'string', pattern: '^(?:https://[^\\s?#@]+|http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::\\d+)?(?:/[^\\s?#@]*)?)$', expected: 'the https address of an OpenID Connect issuer (http on loopback alone)', defaultText: 'nobody signs in',
    description: 'OpenID Connect issuer that people sign in with; what it is and offers is read from `/.well-known/openid-configuration` below it.',
  },
  oidc_client_id: { type: 'string', minLength: 1, expected: 'a text', defaultText: 'none', description: 'Client id of the gateway at the issuer; its redirect address there is `/auth/callback` below `public_url`.' },
  oidc_client_secret: { type: 'string', secret: true, minLength: 1, expected: 'a text', defaultText: 'none: a public client', description: 'Client secret of the gateway at the issuer.' },
  oidc_scopes: {
    type: 'array', default: ['openid', 'email', 'profile'], uniqueItems: true, items: { type: 'string', pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }, expected: 'a list of scopes',
    description: 'Scopes that a sign-in asks the issuer for; `openid` is always among them.',
  },
  oidc_groups_claim: { type: 'string', default: 'groups', minLength: 1, expected: 'the name of a claim', description: 'Claim with the groups of a person, which workspace mappings name.' },
  oidc_email_domains: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', pattern: '^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$' }, defaultText: 'all', expected: 'a list of domains such as example.com',
    description: 'Domains of the e-mail addresses of people who may sign in.',
  },
  oidc_unknown_people: { type: 'string', default: 'refuse', enum: ['refuse', 'member'], description: 'People who sign in without being users or invited: `refuse` them, or make them `member`s of the organisation.' },
  oidc_unverified_emails: { type: 'string', default: 'refuse', enum: ['refuse', 'accept'], description: 'E-mail addresses of which the issuer does not say that they are verified: `accept` them only where the issuer lets nobody choose theirs.' },
  jwt_jwks_url: {
    type: 'string', pattern: '^https?://[^\\s]+$', expected: 'an http:// or https:// URL', defaultText: 'none',
    description: 'Where the public keys are (JWKS) that sign tokens which are taken in place of API keys; fetched through the address rules that hold for upstreams. Without it, and without `jwt_jwks`, no tokens are taken.',
  },
  jwt_jwks: {
    type: ['string', 'object'], pattern: '^\\s*\\{', expected: 'a JSON Web Key Set, {"keys": [...]}', defaultText: 'none',
    description: 'The same keys themselves, as JSON; instead of `jwt_jwks_url`.',
  },
  jwt_algorithms: {
    type: 'array', default: ['RS256'], uniqueItems: true, minItems: 1, items: { type: 'string', enum: tokenAlgorithms }, expected: `a list of ${tokenAlgorithms.join(', ')}`,
    description: 'Signature algorithms that tokens may have. Those with a shared secret are not taken.',
  },
  jwt_issuer: { type: 'string', minLength: 1, expected: 'the iss of the tokens', defaultText: 'any', description: 'What the `iss` of a token must be.' },
  jwt_audience: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', minLength: 1 }, defaultText: 'any', expected: 'a list of texts',
    description: 'What the `aud` of a token must be, or name one of. Set it where the issuer makes tokens for others as well.',
  },
  jwt_clock_skew_seconds: { type: 'integer', default: 30, minimum: 0, maximum: 300, description: 'How far the clock of the issuer may be off.' },
  jwt_claims: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', pattern: `^(?:${tokenFacts.join('|')})=\\S+$` }, defaultText: Object.entries(tokenClaims).map((each) => each.join('=')).join(', '),
    expected: `a list of fact=claim pairs, the fact one of ${tokenFacts.join(', ')}`,
    description: 'Names of the claims that say what a token is for, where they are others.',
  },
  secret_sources: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9.-]*=\\S+$' }, defaultText: 'none', expected: 'a list of source=rule pairs, such as env=OPENAI_API_KEY or file=/run/secrets',
    description: 'What of this machine plugins for secrets may read for secret references, as `<plugin>=<rule>`; what a rule is stands in the readme of the plugin.',
  },
  resources: {
    type: 'array', default: [], secret: true, items: { type: ['string', 'object'], minLength: 1 }, defaultText: 'none', expected: 'a list of paths of files, as of gateway apply; in the file also what would stand in them',
    description: 'What is to be stored (see [Declarative](#declarative)), applied before the gateway accepts calls: paths of files, relative to the settings file; from the environment to the working directory. In the settings file the lists may stand there themselves.',
  },
  resources_prune: {
    type: 'string', default: 'off', enum: ['on', 'off'], description: 'Whether what `resources` made at an earlier start and does not have any more is removed.',
  },
  trusted_hosts: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', pattern: '^(?!.*://)[^\\s,/]+(?:/\\d{1,3})?$' }, defaultText: 'none', expected: 'a list of hosts, host:port pairs or CIDR ranges, without a scheme or path',
    description: 'Hosts, host:port pairs or CIDR ranges that upstreams named in a request may have though they are private.',
  },
  cors_origins: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', pattern: '^(?:\\*|[a-z][a-z0-9+.-]*://[^\\s,/]+)$' }, defaultText: 'none', expected: 'a list of origins such as https://app.example.com, or *',
    description: 'Origins of web pages whose scripts may call the gateway (CORS), such as `https://app.example.com`; `*` for all. Whoever can read the page can read the key in it.',
  },
  headers_to_metadata: {
    type: 'array', default: [], uniqueItems: true,
    items: { type: 'string', pattern: "^(?!(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api-key|x-gateway-[^:]*)(?::|$))[!#$%&'*+.^_`|~0-9a-z-]+(?::[^\\s,:]{1,128})?$" },
    defaultText: 'none', expected: 'a list of headers in lower case, each alone or with the name of its metadata: x-team, x-team:team, baggage; no credentials',
    description: 'Headers of requests that count as metadata, such as `x-team` or `x-team:team`; `baggage` takes all that W3C baggage says. `x-gateway-metadata`, the key and the workspace win.',
  },
  log_level: { type: 'string', default: 'info', enum: logLevels, description: 'Least severe log line that is written: `error`, `warn`, `info` or `debug`.' },
  tls_key_file: path('PEM file of the private key; serves HTTPS together with the certificate.'),
  tls_cert_file: path('PEM file of the certificate chain.'),
  plugins: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', pattern: '^[^\\s,]+$' }, defaultText: 'none', expected: 'a list of package names or of paths that begin with ./, ../ or /',
    description: 'Third-party plugins: package names, or paths of package folders, relative to the settings file; from the environment to the working directory.',
  },
  plugins_reload: {
    type: 'string', default: 'on', enum: ['on', 'off'],
    description: 'Whether plugins that are given by path are taken over anew when their files change: `on` watches their folders, `off` reads them once. Packages given by name are never reloaded.',
  },
  cost_header: {
    type: 'string', default: 'off', enum: ['on', 'off'],
    description: 'Whether plain answers have their cost in US cents in the header `x-gateway-cost`. `on` holds JSON answers whole before they go, up to `collected_bytes_max`. Without it where the price is not known yet; streams have none.',
  },
  storage: { type: 'string', default: 'lmdb', pattern: '^[A-Za-z0-9][A-Za-z0-9.-]*$', expected: 'the id of a storage plugin', description: 'Storage plugin that holds keys, configs and logs.' },
  exporters: {
    type: 'array', default: ['store'], expected: 'a list of exporter ids; in the file also {id, params} objects', description: 'Exporters that finished calls are written to.',
    items: {
      type: ['string', 'object'], pattern: '^[A-Za-z0-9][A-Za-z0-9.-]*$', required: ['id'], additionalProperties: false,
      properties: { id: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9.-]*$' }, params: { type: 'object' } },
    },
  },
  header_bytes_max: bytes(64 * KiB, 4 * KiB, MiB, 'Largest header block of a request, in bytes; beyond it 431.'),
  body_bytes_max: bytes(100 * MiB, KiB, 64 * GiB, 'Largest request body, in bytes; beyond it 413.'),
  held_body_bytes_max: bytes(GiB, 8 * MiB, 1024 * GiB, 'Most bytes of request bodies that all threads together hold; beyond it 503. An eighth of it is kept for bodies up to 64 KiB, and a longer one that has to be held whole is 413 above the rest. What hooks and translations make of bodies comes on top.'),
  collected_bytes_max: bytes(64 * MiB, KiB, 2 * GiB, 'Largest answer that a route has to hold whole, in bytes; answers relayed as they come have no limit.'),
  connect_timeout_ms: milliseconds(10_000, 1, 'Longest wait for a connection to a provider.'),
  first_byte_timeout_ms: milliseconds(300_000, 1, 'Longest wait for the first byte of an answer; `request_timeout` in a config is the tighter one.'),
  idle_timeout_ms: milliseconds(300_000, 1, 'Longest gap between two chunks of an answer.'),
  body_timeout_ms: milliseconds(8_000, 1, 'Longest pause of a client that is sending its body, then 408; beyond 10 s the edge closes the connection without an answer.'),
  body_deadline_ms: milliseconds(60_000, 1, 'Time for a whole request body, then 408; one that brings `body_rate_min` on average may go on for as long again, and so on. Waiting for a provider that reads slowly does not count.'),
  body_rate_min: bytes(4 * KiB, 0, GiB, 'Least bytes a second of a request body that takes longer than `body_deadline_ms`.'),
  shutdown_deadline_ms: { ...milliseconds(30_000, 0, 'How long open answers may go on after SIGTERM or SIGINT.'), maximum: shutdownMsMax },
  retry_delay_ms: milliseconds(500, 0, 'First delay of the retry back-off; it doubles with each retry.'),
  connections_max: count(10_000, 1_000_000, 'Most open connections to one upstream origin, for each thread.'),
  requests_max: count(20_000, 1_000_000, 'Most open requests for each thread; beyond it 503.'),
  client_connections_max: count(20_000, 1_000_000, 'Most open connections of clients for each thread, and never more than half of the file descriptors the process may have; further ones are closed at once.'),
  client_connections_per_address_max: count(5_000, 1_000_000, 'Most open connections of one client address (of an IPv6 /64) for each thread, and never more than half of all; further ones are closed at once. Counted on Linux only.'),
  trusted_proxies: {
    type: 'array', default: [], uniqueItems: true, items: { type: 'string', pattern: '^[0-9a-fA-F.:]+(?:/\\d{1,3})?$' }, defaultText: 'none', expected: 'a list of IP addresses or CIDR ranges',
    description: 'Addresses or CIDR ranges of reverse proxies in front of the gateway, which bring the connections of many clients: `client_connections_per_address_max` does not apply to them, and the metrics are not open to them without a key.',
  },
  spin_us: { type: 'integer', default: 200, minimum: 0, maximum: 10_000, description: 'Microseconds an idle thread stays awake for the next event while that pays (back-to-back calls to a fast upstream); 0 switches it off.' },
  responses_days: { type: 'integer', default: 30, minimum: 0, maximum: 36_500, description: 'Days a response is kept for GET and previous_response_id when its provider has no Responses API; 0 keeps none.' },
  cache_memory_bytes: bytes(64 * MiB, MiB, 64 * GiB, 'Most bytes of answers that a cache keeps in memory, for each thread.'),
  cache_disk_bytes: bytes(GiB, MiB, 1024 * GiB, 'Most bytes of answers that a cache keeps on disk, all threads together.'),
  log_store_bytes_max: bytes(GiB, MiB, 1024 * GiB, 'Most bytes the stored log may take; the oldest records go first.'),
  log_store_days: count(30, 36_500, 'Days a log record is kept.'),
  limit_counters: count(262_144, 1_048_576, 'Most counters of rate limits and budgets at a time, each in 32 bytes of memory; a power of two, else the next one. A limit that finds no room for its counter refuses its calls.'),
  limit_output_tokens: count(1_024, 10_000_000, 'Tokens that a call which says no max_tokens is expected to answer with, until it has: so many are reserved of limits by tokens or cost, or what these leave.'),
  budget_durability: {
    type: 'string', default: 'relaxed', enum: ['relaxed', 'strict'],
    description: 'When a call under a budget goes out: `relaxed` at once, its reservation is written at the end of the turn and a kill of the process loses the very last ones; `strict` when its reservation is on the disk, and without that it is refused with 503.',
  },
  alert_webhook_url: {
    type: 'string', pattern: '^https?://[^\\s/?#@]+(?:[/?][^\\s#]*)?$', expected: 'an http:// or https:// URL', defaultText: 'none', secret: true,
    description: 'Where it is posted that a usage limit has reached its alert threshold, or is used up (see [Budgets](#budgets)). It may be in a private network without being among `trusted_hosts`.',
  },
} as const satisfies Readonly<Record<string, SettingSchema>>;

export type SettingKey = keyof typeof settingProperties;

export const settingKeys = Object.keys(settingProperties).filter(isSettingKey);

export function isSettingKey(name: string): name is SettingKey {
  return Object.hasOwn(settingProperties, name);
}

export const settingSchema = (name: SettingKey): SettingSchema => settingProperties[name];

export const settingsSchema = { type: 'object', additionalProperties: false, properties: settingProperties };

export const environmentPrefix = 'GATEWAY_';
/** Names the settings file; the only variable that is not a key of it. */
export const fileVariable = 'GATEWAY_SETTINGS';
export const fileNames = ['gateway.yaml', 'gateway.yml', 'gateway.json'] as const;

/** `port` -> `GATEWAY_PORT`. */
export const environmentName = (name: SettingKey): string => environmentPrefix + name.toUpperCase();

/** The settings that the schema lets through, with its defaults filled in. */
export interface CheckedSettings {
  host: string;
  port: number;
  data_dir: string;
  threads: number | 'auto';
  admin_key?: string;
  api_key?: string;
  master_key?: string;
  owner_email?: string;
  public_url?: string;
  oidc_issuer?: string;
  oidc_client_id?: string;
  oidc_client_secret?: string;
  oidc_scopes: string[];
  oidc_groups_claim: string;
  oidc_email_domains: string[];
  oidc_unknown_people: 'refuse' | 'member';
  oidc_unverified_emails: 'refuse' | 'accept';
  jwt_jwks_url?: string;
  jwt_jwks?: string | Record<string, unknown>;
  jwt_algorithms: string[];
  jwt_issuer?: string;
  jwt_audience: string[];
  jwt_clock_skew_seconds: number;
  jwt_claims: string[];
  secret_sources: string[];
  resources: (string | Record<string, unknown>)[];
  resources_prune: 'on' | 'off';
  trusted_hosts: string[];
  cors_origins: string[];
  headers_to_metadata: string[];
  log_level: LogLevel;
  tls_key_file?: string;
  tls_cert_file?: string;
  plugins: string[];
  plugins_reload: 'on' | 'off';
  cost_header: 'on' | 'off';
  storage: string;
  exporters: (string | { id: string; params?: Record<string, unknown> })[];
  header_bytes_max: number;
  body_bytes_max: number;
  held_body_bytes_max: number;
  collected_bytes_max: number;
  connect_timeout_ms: number;
  first_byte_timeout_ms: number;
  idle_timeout_ms: number;
  body_timeout_ms: number;
  body_deadline_ms: number;
  body_rate_min: number;
  shutdown_deadline_ms: number;
  retry_delay_ms: number;
  connections_max: number;
  requests_max: number;
  client_connections_max: number;
  client_connections_per_address_max: number;
  trusted_proxies: string[];
  spin_us: number;
  responses_days: number;
  cache_memory_bytes: number;
  cache_disk_bytes: number;
  log_store_bytes_max: number;
  log_store_days: number;
  limit_counters: number;
  limit_output_tokens: number;
  budget_durability: 'relaxed' | 'strict';
  alert_webhook_url?: string;
}
