// Turns a call of a stored prompt into the body of a completion. Runs for such calls alone, synchronously: templates are parsed already, and their partials are
// in the view.

import { isObject } from '@gateway/plugin-sdk';
import { parseExactObject, parseJsonObject } from '../../body/parse.js';
import { fail } from '../../errors/gateway-error.js';
import type { PromptAction } from '../../exchange/endpoint.js';
import type { Exchange } from '../../exchange/exchange.js';
import { promptBody } from '../../prompts/prompt-body.js';
import { promptName } from '../../prompts/prompt-name.js';
import { RenderFault, renderedCharsMax } from '../../prompts/render.js';
import type { StoredPrompt, StoredPromptVersion } from '../../snapshot/stored-prompts.js';
import type { View } from '../../snapshot/view.js';
import { takeModelSlug } from './model-slug.js';

interface RenderedPrompt {
  readonly version: StoredPromptVersion;
  /** The body of the completion, JSON. */
  readonly text: string;
}

const idCharsShown = 128;

export const variablesMissing = (): Error => fail('BODY_INVALID', { param: 'variables', reason: 'is required: an object with the values of the template, which may be empty' });

/** Finds the prompt version, and notes it in the exchange. Throws client errors. */
export function renderedPrompt(exchange: Exchange, id: string, view: View): RenderedPrompt {
  if (!exchange.isJson) throw exchange.bytes.length === 0 ? variablesMissing() : fail('CONTENT_TYPE_INVALID', { expected: 'application/json', param: 'content-type' });
  const given = parseExactObject(exchange.bytes, parseJsonObject(exchange.bytes));
  if (!isObject(given.variables)) throw variablesMissing();
  if (given.hyperparameters !== undefined && !isObject(given.hyperparameters)) throw fail('BODY_INVALID', { param: 'hyperparameters', reason: 'must be an object; its members can stand at the top as well' });
  const { prompt, version } = promptOf(exchange, id, view);
  exchange.prompt = { id: prompt.id, slug: prompt.slug, versionId: version.id };
  const { workspaceId } = exchange.principal;
  try {
    return { version, text: promptBody(version.content, given, given.variables, (slug, which) => view.prompts.partial(workspaceId, slug, which), renderedCharsMax) };
  } catch (thrown) {
    if (!(thrown instanceof RenderFault)) throw thrown;
    if (thrown.param === 'variables') throw fail('BODY_INVALID', { param: 'variables', reason: thrown.reason });
    throw fail('PROMPT_NOT_RENDERED', { id: prompt.slug, reason: thrown.reason, param: 'prompt' });
  }
}

function promptOf(exchange: Exchange, id: string, view: View): { readonly prompt: StoredPrompt; readonly version: StoredPromptVersion } {
  const { idOrSlug, version: which } = promptName(decoded(id));
  const { workspaceId } = exchange.principal;
  const prompt = view.prompts.prompt(workspaceId, idOrSlug);
  if (prompt === undefined) throw fail('PROMPT_UNKNOWN', { id: idOrSlug.slice(0, idCharsShown), param: 'prompt' });
  if (prompt.workspaceId !== workspaceId) throw fail('WORKSPACE_FOREIGN', { kind: 'prompt', id: idOrSlug.slice(0, idCharsShown), param: 'prompt' });
  const version = view.prompts.promptVersion(prompt, which);
  if (version === undefined) throw fail('PROMPT_VERSION_UNKNOWN', { id: prompt.slug, version: which === '' ? 'that is published' : which.slice(0, idCharsShown), param: 'prompt' });
  return { prompt, version };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Makes the exchange a completion. `isRouted`: the call itself names a provider. Throws PROVIDER_SLUG_UNKNOWN. */
export function becomeCompletion(exchange: Exchange, action: PromptAction, { version, text }: RenderedPrompt, isRouted: boolean, view: View): void {
  const { head } = exchange;
  exchange.route = version.content.template.kind === 'text' ? action.text : action.chat;
  exchange.bytes = Buffer.from(text);
  exchange.parsed = undefined;
  head.contentType = 'application/json';
  // The query belongs to our path and is not sent to a provider.
  head.query = '';
  if (!isRouted && version.provider !== null) {
    head.provider = `@${version.provider}`;
    head.virtualKey = undefined;
  }
  takeModelSlug(exchange, view);
}
