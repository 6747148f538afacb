// Opens what catalogue rows hold sealed. `<table>/<id>/<member>` is the place that a value is sealed for.

import { inspect } from 'node:util';
import { absentSecret, Secret, type Sealer } from './sealer.js';
import { configVersions, type ConfigVersionRow } from './tables/config-versions.js';
import { configs, type ConfigRow } from './tables/configs.js';
import { guardrails, type GuardrailRow } from './tables/guardrails.js';
import { integrations, type IntegrationRow } from './tables/integrations.js';

export const placeOf = (table: { readonly name: string }, id: string, member: string): string => `${table.name}/${id}/${member}`;

/** The text of a stored config, JSON. */
export const openConfig = (row: ConfigRow, sealer: Sealer): string => sealer.open(row.sealedConfig, placeOf(configs, row.id, 'sealedConfig'));
export const openConfigVersion = (row: ConfigVersionRow, sealer: Sealer): string => sealer.open(row.sealedConfig, placeOf(configVersions, row.id, 'sealedConfig'));

/** The checks and actions of a stored guardrail, JSON of a GuardrailDefinition. */
export const openGuardrail = (row: GuardrailRow, sealer: Sealer): string => sealer.open(row.sealedDefinition, placeOf(guardrails, row.id, 'sealedDefinition'));

/** The row without secrets that a backup left out or that were given up: the rest can be opened. */
export function withoutAbsent(row: IntegrationRow): IntegrationRow {
  const there = (sealed: string | null): string | null => (sealed === absentSecret ? null : sealed);
  return { ...row, sealedKey: there(row.sealedKey), sealedConfigurations: there(row.sealedConfigurations), sealedHeaders: there(row.sealedHeaders), sealedModelHeaders: there(row.sealedModelHeaders) };
}

/** The credentials of an integration. Printed, logged or serialised it says nothing. */
export class OpenIntegration {
  readonly #key: Secret | null;
  readonly #secretMembers: Readonly<Record<string, unknown>>;
  readonly #configurations: Readonly<Record<string, unknown>>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #modelHeaders: Readonly<Record<string, Readonly<Record<string, string>>>>;

  constructor(row: IntegrationRow, sealer: Sealer) {
    const open = (member: 'sealedKey' | 'sealedConfigurations' | 'sealedHeaders' | 'sealedModelHeaders'): string | null => {
      const sealed = row[member];
      return sealed === null ? null : sealer.open(sealed, placeOf(integrations, row.id, member));
    };
    const key = open('sealedKey');
    this.#key = key === null ? null : new Secret(key);
    this.#secretMembers = Object.freeze(JSON.parse(open('sealedConfigurations') ?? '{}'));
    this.#configurations = Object.freeze({ ...row.configurations, ...this.#secretMembers });
    this.#headers = Object.freeze(JSON.parse(open('sealedHeaders') ?? '{}'));
    this.#modelHeaders = Object.freeze(JSON.parse(open('sealedModelHeaders') ?? '{}'));
  }

  /** The API key of the provider. */
  get key(): Secret | null {
    return this.#key;
  }

  /** By the names of the provider's parameters, secret ones and others; without the API key. */
  get configurations(): Readonly<Record<string, unknown>> {
    return this.#configurations;
  }

  get secretMembers(): Readonly<Record<string, unknown>> {
    return this.#secretMembers;
  }

  /** To be sent with every call; names in lower case. */
  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  /** By the slugs of models: sent in place of those of the integration. */
  get modelHeaders(): Readonly<Record<string, Readonly<Record<string, string>>>> {
    return this.#modelHeaders;
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
