// A call with everything on that an organisation may have on at once: a key, its stored config with checks, the stored provider that the config names, a limit of
// each level, and policies. None of the limits is ever reached.
import { adminKey, type Subject } from './subjects.js';

const workspace = 'first-workspace';
const slug = 'bench-governed';
const calls = { type: 'requests', unit: 'rpm', value: 1_000_000_000 } as const;
const tokens = { type: 'tokens', credit_limit: 1_000_000_000_000 } as const;

async function control(subject: Subject, method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${subject.port}/v1${path}`, { method, headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path} of ${subject.name} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** The key of such calls. `config`: members of the stored config beside its provider. */
async function makeKey(subject: Subject, upstreamPort: number, config: Readonly<Record<string, unknown>>): Promise<string> {
  await control(subject, 'POST', '/integrations', { name: slug, slug, ai_provider_id: 'openai', key: 'sk-bench', configurations: { custom_host: `http://127.0.0.1:${upstreamPort}/v1` }, create_default_provider: false });
  await control(subject, 'PUT', `/integrations/${slug}/workspaces`, { workspaces: [{ id: workspace, enabled: true, rate_limits: [calls] }], create_default_provider: false });
  await control(subject, 'POST', '/providers', { name: slug, slug, integration_id: slug, workspace_id: workspace, rate_limits: [calls] });
  await control(subject, 'PUT', `/workspaces/${workspace}`, { rate_limits: [calls] });
  const group = { workspace_id: workspace, conditions: [{ key: 'provider', value: 'openai' }], group_by: [{ key: 'api_key' }] };
  await control(subject, 'POST', '/policies/rate-limits', { ...group, ...calls, name: 'calls of each key' });
  await control(subject, 'POST', '/policies/usage-limits', { ...group, ...tokens, name: 'tokens of each key' });
  const stored = await control(subject, 'POST', '/configs', { name: slug, workspace_id: workspace, config: { provider: `@${slug}`, retry: { attempts: 2 }, ...config } });
  const { key } = await control(subject, 'POST', '/api-keys/workspace/service', { name: slug, workspace_id: workspace, scopes: ['completions.write'], rate_limits: [calls], defaults: { config_id: stored.slug } });
  return String(key);
}

const keys = new WeakMap<Subject, Promise<string>>();

/** Made with the first call to each subject. */
export function governedKey(subject: Subject, upstreamPort: number, config: Readonly<Record<string, unknown>>): Promise<string> {
  let key = keys.get(subject);
  if (key === undefined) keys.set(subject, key = makeKey(subject, upstreamPort, config));
  return key;
}
