// Whether a config can be stored: it is validated and compiled as a call would have it compiled, with what it names of the catalogue in place.

import { isTooDeep, levelsMax } from '../../../body/depth.js';
import { explainFault } from '../../../body/json-fault.js';
import type { Config } from '../../../config/config.js';
import { guardrailNames } from '../../../config/guardrail-names.js';
import { placeBelow } from '../../../config/place.js';
import { validateConfig } from '../../../config/validate.js';
import { fail, isGatewayError } from '../../../errors/gateway-error.js';
import { requireAddress, slugOfModel } from '../../../plan/compile.js';
import type { PlanNode } from '../../../plan/plan.js';
import { PlanSources } from '../../../plan/plan-sources.js';
import type { Registry } from '../../../registry/registry.js';
import { didYouMean } from '../../../settings/nearest-name.js';
import { View } from '../../../snapshot/view.js';
import { integrations } from '../../../storage/tables/integrations.js';
import { guardrails } from '../../../storage/tables/guardrails.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { providers } from '../../../storage/tables/providers.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { findGuardrail } from '../guardrails/guardrail-users.js';
import { compileOnce } from '../common/compile-once.js';
import { isMasked, refuseGatewayKeys } from '../common/secret-text.js';
import { secretsOf, unmaskedConfig } from './config-secrets.js';

/** The most that a config in a header may have, by the settings. */
const configBytesMax = 1024 * 1024;

export interface CheckedConfig {
  /** JSON. */
  readonly text: string;
  /** Ids of the providers that it names. */
  readonly providers: readonly string[];
  /** Ids of the stored guardrails that it names. */
  readonly guardrails: readonly string[];
}

/** `given` as the client sent it: an object, or its JSON. `stored`: the config whose secrets replace masked ones. Throws CONFIG_INVALID, FIELD_INVALID, REFERENCE_UNKNOWN. */
export async function checkConfig(context: ControlContext, workspaceId: string, given: unknown, stored: Readonly<Record<string, unknown>> | null): Promise<CheckedConfig> {
  const { registry } = context.services;
  const value = typeof given === 'string' ? parsed(given) : given;
  const masked = JSON.stringify(value) ?? '';
  if (Buffer.byteLength(masked) > configBytesMax) throw fail('FIELD_INVALID', { param: 'config', reason: `is larger than ${configBytesMax} bytes` });
  const keyless = await keylessProviders(masked, registry);
  const options = { isKeyless: (name: string): boolean => keyless.has(name) };
  const config = isMasked(masked)
    ? validateConfig(await unmaskedConfig({ ...validateConfig(value, options) }, stored, registry), options)
    : validateConfig(value, options);
  await refuseGatewayKeys(context, [
    ...(await secretsOf({ ...config }, registry)).map(({ place, text }) => [place, text] as const),
    ...hostsOf(config, 'config'),
  ]);
  const references = new References(context, workspaceId);
  await references.read(config, 'config');
  await references.readGuardrails(config);
  const compile = async (each: Config): Promise<void> => requireAddresses((await compileOnce(each, workspaceId, registry, references.sources)).root);
  try {
    await compile(config);
  } catch (thrown) {
    throw await placed(thrown, references.targets, compile);
  }
  return { text: JSON.stringify(config), providers: [...references.ids], guardrails: [...references.guardrails] };
}

function requireAddresses(node: PlanNode): void {
  if (node.kind === 'target') requireAddress(node);
  else for (const child of node.children) requireAddresses(child);
}

/** Adds the place to an error: those about credentials and addresses do not name the target, so the targets are compiled one by one to find it. */
async function placed(thrown: unknown, targets: readonly (readonly [place: string, target: Config])[], compile: (target: Config) => Promise<void>): Promise<unknown> {
  if (!isGatewayError(thrown) || thrown.status >= 500 || thrown.param?.startsWith('config') === true) return thrown;
  for (const [place, target] of targets) {
    const fault: unknown = await compile(target).then(() => undefined, (each: unknown) => each);
    if (!isGatewayError(fault) || fault.code !== thrown.code) continue;
    const param = fault.param === null ? place : placeBelow(place, fault.param);
    return fail('CONFIG_INVALID', { path: param, param, reason: fault.message });
  }
  return thrown;
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's error is not passed on as the cause: it quotes the text.
    throw fail('FIELD_INVALID', { param: 'config', reason: `is not valid JSON: ${explainFault(text)}` });
  }
  // The depth of the body was checked when it was parsed; this text was inside of a string of it.
  if (isTooDeep(value)) throw fail('FIELD_INVALID', { param: 'config', reason: `nests objects and lists deeper than ${levelsMax} levels` });
  return value;
}

async function keylessProviders(text: string, registry: Registry): Promise<ReadonlySet<string>> {
  const keyless = new Set<string>();
  for (const name of new Set([...text.matchAll(/"provider":"([^"\\@]{1,64})"/g)].map((match) => match[1] ?? ''))) {
    const auth = (await registry.find('provider', name).catch(() => undefined))?.auth;
    if (auth?.type === 'none' || (auth?.type === 'bearer' && auth.isOptional === true)) keyless.add(name);
  }
  return keyless;
}

function* hostsOf(config: Config, place: string): Generator<readonly [string, string]> {
  if (config.custom_host !== undefined) yield [placeBelow(place, 'custom_host'), config.custom_host];
  for (const [index, target] of (config.targets ?? []).entries()) yield* hostsOf(target, placeBelow(placeBelow(place, 'targets'), index));
}

/** Finds what a config names of the catalogue, and puts it where compiling looks for it. */
class References {
  readonly ids = new Set<string>();
  readonly guardrails = new Set<string>();
  /** Single targets, with their places. */
  readonly targets: (readonly [place: string, target: Config])[] = [];
  readonly sources: PlanSources;
  readonly #view: View;

  constructor(readonly context: ControlContext, readonly workspaceId: string) {
    this.#view = new View(context.sealer);
    this.sources = new PlanSources({ view: this.#view }, workspaceId);
  }

  async read(config: Config, place: string): Promise<void> {
    const { provider, virtual_key: virtualKey, targets, custom_host: host } = config;
    // A model that begins with @ and names no provider of the workspace is one of a provider that calls its models so.
    for (const params of [config.override_params, config.default_params]) {
      const slug = slugOfModel(params?.model);
      if (slug !== undefined) await this.#find(slug);
    }
    if (targets === undefined) {
      this.targets.push([place, config]);
      if (virtualKey !== undefined) await this.#require(virtualKey.replace(/^@/, ''), placeBelow(place, 'virtual_key'), 'virtual key');
      else if (provider?.startsWith('@') === true) await this.#require(provider.slice(1), placeBelow(place, 'provider'), 'provider');
      else if (provider !== undefined) await this.#requireInstalled(provider, placeBelow(place, 'provider'));
      return;
    }
    // A host for all of them.
    if (host !== undefined) this.targets.push([place, { passthrough: true, custom_host: host }]);
    for (const [index, target] of targets.entries()) await this.read(target, placeBelow(placeBelow(place, 'targets'), index));
  }

  async readGuardrails(config: Config): Promise<void> {
    const { repository, caller } = this.context;
    for (const [param, name] of guardrailNames(config, 'config')) {
      const row = await findGuardrail(this.context, this.workspaceId, name);
      if (row === undefined) throw fail('REFERENCE_UNKNOWN', { param, kind: 'guardrail', id: `${name.slice(0, 64)} in this workspace` });
      if (this.guardrails.size === 0) {
        // They say whose guardrails are found.
        const [organisation, workspace] = [await repository.get(organisations, caller.organisationId), await repository.get(workspaces, this.workspaceId)];
        if (organisation !== undefined) this.#view.put(organisations.name, organisation.row);
        if (workspace !== undefined) this.#view.put(workspaces.name, workspace.row);
      }
      this.guardrails.add(row.id);
      this.#view.put(guardrails.name, row);
    }
  }

  async #require(slug: string, param: string, kind: string): Promise<void> {
    if (!await this.#find(slug)) throw fail('REFERENCE_UNKNOWN', { param, kind, id: `@${slug.slice(0, 64)} in this workspace` });
  }

  async #find(slug: string): Promise<boolean> {
    const { repository } = this.context;
    const stored = await repository.find(providers, 'slug', [this.workspaceId, slug]);
    const integration = stored === undefined ? undefined : await repository.get(integrations, stored.row.integrationId);
    if (stored === undefined || integration === undefined || integration.row.status === 'archived') return false;
    if (this.ids.has(stored.row.id)) return true;
    this.ids.add(stored.row.id);
    this.#view.put(integrations.name, integration.row);
    this.#view.put(providers.name, stored.row);
    return true;
  }

  async #requireInstalled(provider: string, param: string): Promise<void> {
    const { registry } = this.context.services;
    if (await registry.find('provider', provider) !== undefined) return;
    throw fail('CONFIG_INVALID', { path: param, param, reason: `no provider of this name is installed${didYouMean(provider, registry.list('provider')) || '; one of the catalogue is written @slug'}` });
  }
}
