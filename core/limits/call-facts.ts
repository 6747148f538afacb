// Hot: asked for each call of a workspace that has policies.
// Facts of a call, for the conditions of policies: read when one of them asks.

import { requestTypeOf } from '@gateway/plugin-sdk';
import { multipartBoundary, multipartField } from '../body/multipart.js';
import type { Exchange } from '../exchange/exchange.js';
import type { PolicyFacts } from '../snapshot/policy.js';

export class CallFacts implements PolicyFacts {
  #model: string | undefined = undefined;

  constructor(readonly exchange: Exchange) {}

  get keyId(): string { return this.exchange.principal.keyId; }
  get workspaceId(): string { return this.exchange.principal.workspaceId; }
  get organisationId(): string { return this.exchange.principal.organisationId; }
  get configId(): string { return this.exchange.storedConfig === null ? '' : this.exchange.storedConfig.id; }
  get configSlug(): string { return this.exchange.storedConfig === null ? '' : this.exchange.storedConfig.slug; }
  get promptId(): string { return this.exchange.prompt === null ? '' : this.exchange.prompt.id; }
  get promptSlug(): string { return this.exchange.prompt === null ? '' : this.exchange.prompt.slug; }
  get requestType(): string { return requestTypeOf(this.exchange); }
  get provider(): string { return this.exchange.provider; }
  get providerSlug(): string { return this.exchange.providerSlug; }

  /** Before a hook changed it; whoever tries another target means the same model. */
  get model(): string {
    return this.#model ??= modelOf(this.exchange);
  }

  metadata(name: string): string {
    const { metadata } = this.exchange;
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  }
}

function modelOf(exchange: Exchange): string {
  const { bytes } = exchange;
  if (bytes.length === 0) return '';
  if (exchange.isJson) {
    const { model } = exchange.json();
    return typeof model === 'string' ? model : '';
  }
  const boundary = multipartBoundary(exchange.head.contentType);
  return boundary === undefined ? '' : multipartField(bytes, boundary, 'model') ?? '';
}
