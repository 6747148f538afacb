import { isObject, listOf, type Json, type ProviderCall } from '@gateway/plugin-sdk';

export interface AnthropicCredentials {
  readonly anthropic_version?: string | undefined;
  readonly anthropic_beta?: string | undefined;
}

type Call = ProviderCall<AnthropicCredentials>;

const filesBeta = 'files-api-2025-04-14';

/** The client's own version and beta features, then those of the config; else `anthropic-version` is the definition's. */
export function clientHeaders(call: Call): Record<string, string> {
  const version = call.header('anthropic-version') ?? call.credentials.anthropic_version;
  const beta = call.header('anthropic-beta') ?? call.credentials.anthropic_beta;
  return { ...(version === undefined ? {} : { 'anthropic-version': version }), ...(beta === undefined ? {} : { 'anthropic-beta': beta }) };
}

/** As `clientHeaders`, and the beta of the Files API when the conversation names a file that was uploaded before. */
export function chatHeaders(call: Call): Record<string, string> {
  const headers = clientHeaders(call);
  if (!namesFile(call.body.messages)) return headers;
  const betas = (headers['anthropic-beta'] ?? '').split(',').map((beta) => beta.trim()).filter((beta) => beta !== '');
  if (!betas.includes(filesBeta)) betas.push(filesBeta);
  return { ...headers, 'anthropic-beta': betas.join(',') };
}

const namesFile = (messages: Json | undefined): boolean => listOf(messages).some((message) => isObject(message)
  && listOf(message.content).some((part) => isObject(part) && part.type === 'file' && isObject(part.file) && typeof part.file.file_id === 'string'));
