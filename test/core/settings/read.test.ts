import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { inspectSettings, readSettings } from '../../../core/settings/read.js';
import { environmentName, settingKeys } from '../../../core/settings/schema.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-settings-'));
after(() => rmSync(directory, { recursive: true }));

let made = 0;
/** A new working directory with these files. */
function folder(files: Readonly<Record<string, string>> = {}): string {
  made += 1;
  const path = mkdtempSync(join(directory, `${made}-`));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

function reasonOfRefusal(environment: NodeJS.ProcessEnv, files: Readonly<Record<string, string>> = {}): string {
  try {
    readSettings(environment, folder(files));
  } catch (thrown) {
    assert.ok(isGatewayError(thrown), String(thrown));
    assert.equal(thrown.code, 'SETTINGS_INVALID');
    return thrown.message;
  }
  assert.fail('the settings were accepted');
}

describe('defaults', () => {
  test('hold when nothing is set', () => {
    const cwd = folder();
    assert.deepEqual({ ...readSettings({ PATH: '/bin' }, cwd) }, {
      host: '127.0.0.1', port: 8787, dataDir: join(cwd, 'data'), threads: availableParallelism(), adminKey: undefined, apiKey: undefined, masterKey: undefined,
      ownerEmail: undefined, publicUrl: undefined, oidc: undefined,
      tokens: null, secretSources: [], resources: { documents: [], files: [], isPruning: false }, trustedHosts: [], corsOrigins: [], headersToMetadata: [], logLevel: 'info', tls: undefined, plugins: [], pluginsReload: true, storage: 'lmdb', exporters: [{ id: 'store', params: {} }],
      headerBytesMax: 65_536, bodyBytesMax: 104_857_600, heldBodyBytesMax: 1_073_741_824, collectedBytesMax: 67_108_864, connectTimeoutMs: 10_000, firstByteTimeoutMs: 300_000,
      idleTimeoutMs: 300_000, bodyTimeoutMs: 8_000, bodyDeadlineMs: 60_000, bodyRateMin: 4_096, shutdownDeadlineMs: 30_000, retryDelayMs: 500, costHeader: false, connectionsMax: 10_000, requestsMax: 20_000, clientConnectionsMax: 20_000, clientConnectionsPerAddressMax: 5_000, trustedProxies: [], spinUs: 200, responsesDays: 30, cacheMemoryBytes: 67_108_864, cacheDiskBytes: 1_073_741_824,
      logStoreBytesMax: 1_073_741_824, logStoreDays: 30, limitCounters: 262_144, limitOutputTokens: 1_024, isBudgetStrict: false, alertWebhookUrl: undefined,
    });
  });

  test('are not shared between two readings', () => {
    const first = readSettings({}, folder());
    const second = readSettings({ GATEWAY_TRUSTED_HOSTS: '10.0.0.1' }, folder());
    assert.deepEqual(first.trustedHosts, []);
    assert.deepEqual(second.trustedHosts, ['10.0.0.1']);
  });

  test('stay frozen, and can be copied to a thread', () => {
    const settings = readSettings({ GATEWAY_PLUGINS: 'a' }, folder());
    assert.ok(Object.isFrozen(settings) && Object.isFrozen(settings.plugins) && Object.isFrozen(settings.exporters));
    assert.deepEqual(structuredClone(settings), { ...settings });
  });
});

describe('sign-in', () => {
  const given = { GATEWAY_OIDC_ISSUER: 'https://id.example.com/realms/a', GATEWAY_OIDC_CLIENT_ID: 'gateway' };

  test('has an issuer and a client, and defaults for the rest', () => {
    const { oidc, publicUrl, ownerEmail } = readSettings({ ...given, GATEWAY_PUBLIC_URL: 'https://Gateway.example.com/', GATEWAY_OWNER_EMAIL: 'Ada@Example.com', GATEWAY_OIDC_EMAIL_DOMAINS: 'Example.com', GATEWAY_OIDC_SCOPES: 'email,groups' }, folder());
    assert.deepEqual(oidc, {
      issuer: 'https://id.example.com/realms/a', clientId: 'gateway', clientSecret: undefined, scopes: ['openid', 'email', 'groups'], groupsClaim: 'groups', emailDomains: ['example.com'], takesUnknown: false, takesUnverified: false,
    });
    assert.deepEqual([publicUrl, ownerEmail], ['https://gateway.example.com', 'ada@example.com']);
  });

  test('is refused in halves, and over plain HTTP to another machine', () => {
    assert.match(reasonOfRefusal({ GATEWAY_OIDC_ISSUER: 'https://id.example.com' }), /oidc_issuer and oidc_client_id go together/);
    assert.match(reasonOfRefusal({ GATEWAY_OIDC_CLIENT_SECRET: 'hush' }), /go together/);
    assert.match(reasonOfRefusal({ ...given, GATEWAY_OIDC_ISSUER: 'http://id.example.com' }), /GATEWAY_OIDC_ISSUER must be the https address/);
    assert.match(reasonOfRefusal({ ...given, GATEWAY_OIDC_ISSUER: 'http://127.0.0.1.example.com' }), /must be the https address/);
    assert.match(reasonOfRefusal({ ...given, GATEWAY_OIDC_ISSUER: 'https://[1' }), /is not an address/);
    assert.match(reasonOfRefusal({ ...given, GATEWAY_PUBLIC_URL: 'http://a.example.com' }), /public_url must be https/);
    assert.equal(readSettings({ ...given, GATEWAY_PUBLIC_URL: 'http://localhost:8787' }, folder()).publicUrl, 'http://localhost:8787');
    assert.match(reasonOfRefusal({ ...given, GATEWAY_PUBLIC_URL: 'https://a.example.com/console' }), /GATEWAY_PUBLIC_URL must be/);
    assert.equal(readSettings({ ...given, GATEWAY_OIDC_ISSUER: 'http://127.0.0.1:4000' }, folder()).oidc?.issuer, 'http://127.0.0.1:4000');
  });
});

describe('the environment', () => {
  test('sets every kind of value', () => {
    const settings = readSettings({
      GATEWAY_HOST: '::', GATEWAY_PORT: '0', GATEWAY_DATA_DIR: '/srv/gateway', GATEWAY_THREADS: '3', GATEWAY_ADMIN_KEY: 'admin-key-0123456', GATEWAY_API_KEY: 'api-key-012345678',
      GATEWAY_TRUSTED_HOSTS: ' ollama.internal:11434, 10.0.0.0/8 ,[::1]:80,', GATEWAY_LOG_LEVEL: 'debug', GATEWAY_BODY_BYTES_MAX: '2048', GATEWAY_RETRY_DELAY_MS: '0',
    }, folder());
    assert.equal(settings.host, '::');
    assert.equal(settings.port, 0);
    assert.equal(settings.dataDir, '/srv/gateway');
    assert.equal(settings.threads, 3);
    assert.equal(settings.adminKey, 'admin-key-0123456');
    assert.equal(settings.apiKey, 'api-key-012345678');
    assert.deepEqual(settings.trustedHosts, ['ollama.internal:11434', '10.0.0.0/8', '[::1]:80']);
    assert.equal(settings.logLevel, 'debug');
    assert.equal(settings.bodyBytesMax, 2048);
    assert.equal(settings.retryDelayMs, 0);
  });

  test('with an empty variable counts as without it', () => {
    assert.equal(readSettings({ GATEWAY_PORT: '', GATEWAY_SETTINGS: '' }, folder()).port, 8787);
  });

  test('resolves paths of plugins and leaves package names alone', () => {
    const cwd = folder();
    assert.deepEqual(readSettings({ GATEWAY_PLUGINS: './mine,@acme/gateway-plugin-pii,/opt/p' }, cwd).plugins, [join(cwd, 'mine'), '@acme/gateway-plugin-pii', '/opt/p']);
  });

  for (const [variable, value, reason] of [
    ['GATEWAY_PORT', 'abc', 'GATEWAY_PORT must be a whole number from 0 to 65535, not "abc"'],
    ['GATEWAY_PORT', '65536', 'GATEWAY_PORT must be a whole number from 0 to 65535, not 65536'],
    ['GATEWAY_PORT', '-1', 'GATEWAY_PORT must be a whole number from 0 to 65535, not -1'],
    ['GATEWAY_PORT', '80.5', 'GATEWAY_PORT must be a whole number from 0 to 65535, not "80.5"'],
    ['GATEWAY_THREADS', '0', 'GATEWAY_THREADS must be a number from 1 to 256, or auto, not 0'],
    ['GATEWAY_THREADS', 'all', 'GATEWAY_THREADS must be a number from 1 to 256, or auto, not "all"'],
    ['GATEWAY_LOG_LEVEL', 'verbose', 'GATEWAY_LOG_LEVEL must be one of error, warn, info, debug, not "verbose"'],
    ['GATEWAY_HOST', 'http://x', 'GATEWAY_HOST must be a host name or an IP address, not "http://x"'],
    ['GATEWAY_IDLE_TIMEOUT_MS', '0', 'GATEWAY_IDLE_TIMEOUT_MS must be a whole number from 1 to 2147483647, not 0'],
    ['GATEWAY_PLUGINS', 'a,b,a', 'GATEWAY_PLUGINS names an entry twice'],
  ] as const) {
    test(`refuses ${variable}=${value} in one sentence`, () => assert.equal(reasonOfRefusal({ [variable]: value }), reason));
  }

  test('names the entry of a list that is wrong', () => {
    assert.match(reasonOfRefusal({ GATEWAY_TRUSTED_HOSTS: 'good,https://bad' }), /^GATEWAY_TRUSTED_HOSTS .* "https:\/\/bad"$/);
  });

  test('never repeats a secret', () => {
    for (const variable of ['GATEWAY_ADMIN_KEY', 'GATEWAY_API_KEY', 'GATEWAY_MASTER_KEY']) {
      const reason = reasonOfRefusal({ [variable]: 'se cret' });
      assert.ok(reason.startsWith(`${variable} must be `) && !reason.includes('cret'), reason);
    }
  });

  test('refuses unknown GATEWAY_ names and suggests the near one', () => {
    assert.equal(reasonOfRefusal({ GATEWAY_PROT: '1' }), 'unknown environment variable GATEWAY_PROT; did you mean GATEWAY_PORT?');
    assert.equal(reasonOfRefusal({ GATEWAY_LOGLEVEL: 'info' }), 'unknown environment variable GATEWAY_LOGLEVEL; did you mean GATEWAY_LOG_LEVEL?');
    // Of the commands against a running gateway, in the same shell.
    assert.equal(readSettings({ GATEWAY_URL: 'http://127.0.0.1:8787', GATEWAY_PORT: '1' }, process.cwd()).port, 1);
    assert.equal(reasonOfRefusal({ GATEWAY_XYZZY: '1' }), 'unknown environment variable GATEWAY_XYZZY; gateway --help lists the known ones');
  });

  test('explains the variables that Kubernetes adds for a Service called gateway', () => {
    assert.match(reasonOfRefusal({ GATEWAY_PORT: 'tcp://10.0.0.7:80' }), /enableServiceLinks: false/);
    assert.match(reasonOfRefusal({ GATEWAY_SERVICE_HOST: '10.0.0.7' }), /enableServiceLinks: false/);
  });

  test('refuses one key for both roles', () => {
    assert.match(reasonOfRefusal({ GATEWAY_ADMIN_KEY: 'same-key-01234567', GATEWAY_API_KEY: 'same-key-01234567' }), /must differ/);
  });
});

describe('the settings file', () => {
  for (const name of ['gateway.yaml', 'gateway.yml', 'gateway.json']) {
    test(`is found as ${name}, and loses to the environment`, () => {
      const settings = readSettings({ GATEWAY_PORT: '2' }, folder({ [name]: '{"port": 1, "threads": 4, "trusted_hosts": ["a", "b:1"]}' }));
      assert.equal(settings.port, 2);
      assert.equal(settings.threads, 4);
      assert.deepEqual(settings.trustedHosts, ['a', 'b:1']);
    });
  }

  test('takes every key, and exporters with parameters', () => {
    const settings = readSettings({ GATEWAY_SETTINGS: 'x.conf' }, folder({ 'x.conf': 'log_store_days: 7\nexporters:\n  - id: store\n    params: { bytesMax: 2000000 }\n  - id: acme.metrics\n    params: { url: "http://x" }\nthreads: auto\n' }));
    assert.deepEqual(settings.exporters, [{ id: 'store', params: { bytesMax: 2_000_000 } }, { id: 'acme.metrics', params: { url: 'http://x' } }]);
    assert.equal(settings.logStoreDays, 7);
    const defaults = readSettings({}, folder());
    for (const key of settingKeys) if (/_(?:max|ms|days)$/.test(key)) {
      const field = key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as 'idleTimeoutMs';
      const value = defaults[field] + 1;
      assert.equal(readSettings({}, folder({ 'gateway.yaml': `${key}: ${value}` }))[field], value, key);
      assert.equal(readSettings({ [environmentName(key)]: String(value) }, folder())[field], value, key);
    }
  });

  test('may be empty', () => assert.equal(readSettings({}, folder({ 'gateway.yaml': '# nothing yet\n' })).port, 8787));

  test('that is named but missing is refused', () => {
    assert.match(reasonOfRefusal({ GATEWAY_SETTINGS: 'none.yaml' }), /^GATEWAY_SETTINGS names none\.yaml, which cannot be read \(ENOENT/);
  });

  test('present twice is refused', () => {
    assert.equal(reasonOfRefusal({}, { 'gateway.yaml': '', 'gateway.json': '{}' }), 'gateway.yaml and gateway.json are both present; keep one, or name one with GATEWAY_SETTINGS');
  });

  test('with a syntax error is refused with line and column', () => {
    assert.match(reasonOfRefusal({}, { 'gateway.yaml': 'port: 1\nplugins: [a\nthreads: 2\n' }), /^gateway\.yaml is not valid at line \d+, column \d+: /);
    assert.match(reasonOfRefusal({}, { 'gateway.json': '{\n  "port": 1,\n  "port": 2\n}' }), /^gateway\.json is not valid at line 3, column 3: map keys must be unique$/);
    assert.match(reasonOfRefusal({}, { 'gateway.yaml': 'port: !secret x\n' }), /line 1, column 7: unresolved tag/);
  });

  test('that expands without end is refused', () => {
    const levels = Array.from({ length: 9 }, (_, index) => `a${index}: &a${index} [${Array(9).fill(index === 0 ? 'x' : `*a${index - 1}`).join(', ')}]`);
    assert.match(reasonOfRefusal({}, { 'gateway.yaml': levels.join('\n') }), /gateway\.yaml is not valid: .*alias/);
  });

  test('with an unknown key is refused by name', () => {
    assert.equal(reasonOfRefusal({}, { 'gateway.yaml': 'prot: 1' }), 'unknown key prot in gateway.yaml; did you mean port?');
    assert.equal(reasonOfRefusal({}, { 'gateway.yaml': 'dataDir: x' }), 'unknown key dataDir in gateway.yaml; did you mean data_dir?');
    assert.equal(reasonOfRefusal({}, { 'gateway.yaml': 'GATEWAY_PORT: 1' }), 'unknown key GATEWAY_PORT in gateway.yaml; in the file it is called port');
    assert.match(reasonOfRefusal({}, { 'gateway.yaml': '__proto__: { port: 1 }' }), /^unknown key __proto__ in gateway\.yaml/);
  });

  test('with a wrong value is refused by key', () => {
    assert.equal(reasonOfRefusal({}, { 'gateway.yaml': 'port: "80"' }), 'port in gateway.yaml must be a whole number from 0 to 65535, not "80"');
    assert.equal(reasonOfRefusal({}, { 'gateway.yaml': 'port:' }), 'port in gateway.yaml has no value; give a whole number from 0 to 65535, or leave the key out');
    assert.match(reasonOfRefusal({}, { 'gateway.yaml': 'exporters: [{ name: x }]' }), /^exporters in gateway\.yaml must be a list of exporter ids/);
    assert.match(reasonOfRefusal({}, { 'gateway.yaml': '- port' }), /must hold settings as key: value pairs/);
  });
});

describe('several faults', () => {
  const text = 'port: 70000\ntrheads: 2\napi_key: short\ndata_dri: x\nadmin_key: env:ADMIN_KEY\n';
  const environment = { GATEWAY_PROT: '1', GATEWAY_LOG_LEVEL: 'loud', GATEWAY_TLS_KEY_FILE: './absent.pem', GATEWAY_TLS_CERT_FILE: './absent-too.pem', GATEWAY_BODY_BYTES_MAX: '2048' };

  test('are all found, and what is right among them stands', () => {
    const { faults, faulty, settings } = inspectSettings(environment, folder({ 'gateway.yaml': text }));
    for (const part of [
      /^unknown environment variable GATEWAY_PROT; did you mean GATEWAY_PORT\?$/, /^unknown key trheads in gateway\.yaml; did you mean threads\?$/, /^unknown key data_dri in gateway\.yaml/,
      /^port in gateway\.yaml must be a whole number from 0 to 65535, not 70000$/, /^api_key in gateway\.yaml must be 16 to 256/, /^GATEWAY_LOG_LEVEL must be one of/,
      /^admin_key in gateway\.yaml is env:ADMIN_KEY, and references are not read in settings; set GATEWAY_ADMIN_KEY itself in the environment$/,
      /^GATEWAY_TLS_KEY_FILE names .*absent\.pem, which cannot be read/, /^GATEWAY_TLS_CERT_FILE names .*absent-too\.pem, which cannot be read/,
    ]) assert.equal(faults.filter((fault) => part.test(fault)).length, 1, `${String(part)} in ${faults.join('\n')}`);
    assert.equal(faults.length, 9);
    // Unknown names may have been meant for the ones that they are near to.
    assert.deepEqual([...faulty].sort(), ['admin_key', 'api_key', 'data_dir', 'log_level', 'port', 'threads', 'tls_cert_file', 'tls_key_file']);
    assert.equal(settings.bodyBytesMax, 2048);
  });

  test('are told in one sentence by whoever needs them all right', () => {
    assert.match(reasonOfRefusal(environment, { 'gateway.yaml': text }), /^unknown environment variable GATEWAY_PROT; did you mean GATEWAY_PORT\? \(and 8 faults more: gateway check lists them\)$/);
    assert.match(reasonOfRefusal({ GATEWAY_PORT: 'x' }), /not "x"$/);
  });

  test('in a file that cannot be read leave the environment its say', () => {
    const { faults, faulty } = inspectSettings({ GATEWAY_PORT: 'x', GATEWAY_SETTINGS: 'absent.yaml' }, folder());
    assert.equal(faults.length, 2);
    assert.match(faults.join(), /absent\.yaml.*cannot be read.*GATEWAY_PORT must be/);
    // Nobody knows what the file would have said.
    assert.ok(faulty.has('data_dir') && faulty.has('host'));
  });
});

describe('references to the environment', () => {
  test('are refused wherever a setting is text', () => {
    for (const [key, value] of [['api_key', 'env:SOME_LONG_API_KEY'], ['host', 'env:HOST'], ['data_dir', 'env:DATA'], ['storage', 'env:STORAGE']] as const) {
      assert.match(reasonOfRefusal({}, { 'gateway.yaml': `${key}: ${value}` }), new RegExp(`^${key} in gateway\\.yaml is ${value}, and references are not read in settings; set ${environmentName(key)} itself`));
      assert.match(reasonOfRefusal({ [environmentName(key)]: value }), new RegExp(`^${environmentName(key)} is ${value}, and references are not read in settings; give the value itself$`));
    }
    assert.match(reasonOfRefusal({}, { 'gateway.yaml': 'trusted_hosts: [a, "env:HOSTS"]' }), /^trusted_hosts in gateway\.yaml is env:HOSTS/);
  });
});

describe('paths of plugins', () => {
  test('in a file start at its folder, in the environment at the working directory', () => {
    const cwd = folder();
    const etc = folder({ 'gateway.yaml': 'plugins: [./mine, ../shared, by-name, /opt/p]\n' });
    assert.deepEqual(readSettings({ GATEWAY_SETTINGS: join(etc, 'gateway.yaml') }, cwd).plugins, [join(etc, 'mine'), join(etc, '../shared'), 'by-name', '/opt/p']);
    assert.deepEqual(readSettings({ GATEWAY_SETTINGS: join(etc, 'gateway.yaml'), GATEWAY_PLUGINS: './mine' }, cwd).plugins, [join(cwd, 'mine')]);
  });
});

describe('lists of origins and addresses', () => {
  test('take origins and ranges, and nothing else', () => {
    const settings = readSettings({ GATEWAY_CORS_ORIGINS: 'https://a.example, http://localhost:3000', GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8, 192.168.1.9' }, folder());
    assert.deepEqual(settings.corsOrigins, ['https://a.example', 'http://localhost:3000']);
    assert.deepEqual(settings.trustedProxies, ['10.0.0.0/8', 'fd00::/8', '192.168.1.9']);
    for (const [name, value] of [['GATEWAY_CORS_ORIGINS', 'a.example'], ['GATEWAY_CORS_ORIGINS', 'https://a.example/'], ['GATEWAY_TRUSTED_PROXIES', '10.0.0.0/33'], ['GATEWAY_TRUSTED_PROXIES', '1.2.3'], ['GATEWAY_TRUSTED_PROXIES', 'proxy']] as const) {
      assert.throws(() => readSettings({ [name]: value }, folder()), /GATEWAY_CORS_ORIGINS|trusted_proxies|GATEWAY_TRUSTED_PROXIES/i, value);
    }
  });
});
