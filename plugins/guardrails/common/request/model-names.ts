import { ParameterError, requestTypeOf, type Exchange, type RequestType } from '@gateway/plugin-sdk';

/** Names of models; a name that ends in `*` stands for all that begin so. */
export interface ModelNames {
  readonly names: ReadonlySet<string>;
  readonly beginnings: readonly string[];
}

export function compileModelNames(given: readonly string[], path: string): ModelNames {
  const names = new Set<string>();
  const beginnings: string[] = [];
  for (const [index, entry] of given.entries()) {
    const name = entry.trim();
    if (name === '') throw new ParameterError(`${path}[${index}]`, 'must name a model');
    const star = name.indexOf('*');
    if (star === -1) names.add(name);
    else if (star === name.length - 1) beginnings.push(name.slice(0, -1));
    else throw new ParameterError(`${path}[${index}]`, 'may have a * only at its end');
  }
  return { names, beginnings };
}

export const namesModel = ({ names, beginnings }: ModelNames, model: string): boolean =>
  names.has(model) || beginnings.some((beginning) => model.startsWith(beginning));

/** Requests that name a model in a JSON body. */
const withModel: ReadonlySet<RequestType> = new Set<RequestType>([
  'chatComplete', 'complete', 'messages', 'messagesCountTokens', 'createModelResponse', 'embed', 'imageGenerate', 'createSpeech', 'rerank', 'moderate', 'createFinetune',
]);

/** The model of the request; empty when it names none although it should. Throws when this kind of request has no model in a JSON body. */
export function requestedModel(exchange: Exchange): string {
  const model = exchange.request.field('model');
  if (typeof model === 'string') return model;
  if (model === undefined && !withModel.has(requestTypeOf(exchange))) {
    throw new Error('this kind of request names no model in a JSON body; judge it by default.allowedRequestTypes instead');
  }
  return '';
}
