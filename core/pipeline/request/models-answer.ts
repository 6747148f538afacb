// GET /v1/models for a call that names no provider: what its key may use, of all providers of its workspace. Runs when somebody asks.

import type { Json, JsonObject } from '@gateway/plugin-sdk';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { View } from '../../snapshot/view.js';

/** Models in one answer. */
const modelsMax = 100_000;

/** The list, or with `/{id}` behind the path one of it. Throws MODEL_UNKNOWN. */
export function modelsAnswer(exchange: Exchange, view: View): JsonObject {
  const models = modelsOf(view, exchange.principal.workspaceId, Date.now());
  const wanted = decoded(exchange.suffix.slice(1));
  if (wanted === '') return { object: 'list', data: models, total: models.length, total_count: models.length };
  const model = models.find(({ id }) => id === wanted);
  if (model === undefined) throw fail('MODEL_UNKNOWN', { model: wanted.slice(0, 128), param: 'model' });
  return model;
}

function modelsOf(view: View, workspaceId: string, nowMs: number): (JsonObject & { readonly id: string })[] {
  const models: (JsonObject & { readonly id: string })[] = [];
  for (const provider of view.providersOf(workspaceId)) {
    if (provider.status !== 'active' || provider.expiresAtMs <= nowMs) continue;
    const integration = view.integration(provider.integrationId);
    if (integration?.isOpenTo(provider) !== true) continue;
    const common: Record<string, Json> = { object: 'model', owned_by: integration.pluginId, provider: `@${provider.slug}` };
    for (const { slug, isEnabled, isCustom } of integration.models.values()) {
      if (!isEnabled || models.length >= modelsMax) continue;
      models.push({ id: `@${provider.slug}/${slug}`, ...common, created: Math.floor(provider.createdAtMs / 1000), slug, is_custom: isCustom });
    }
  }
  return models;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
