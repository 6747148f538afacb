import { defineGuardrail, ParameterError, type Json } from '@gateway/plugin-sdk';
import { scalarText } from '../common/request/json-text.js';
import { compileModelNames, namesModel, requestedModel, type ModelNames } from '../common/request/model-names.js';
import { verdictOf } from '../common/request/verdict.js';

const modelList = { type: 'array', items: { type: 'string' }, description: 'Names of models; a * at the end stands for any ending, alone for any model.' } as const;

export default defineGuardrail({
  title: 'Model rules',
  describe: 'Passes when the model that the request names is allowed to callers with this metadata.',
  stages: ['input'],
  needs: { request: 'bytes' },
  params: {
    type: 'object',
    properties: {
      rules: {
        type: 'object',
        description: 'Which models whom.',
        properties: {
          defaults: { ...modelList, description: 'Models of requests that no metadata entry fits.' },
          metadata: {
            type: 'object',
            description: 'Models by metadata key and value. What fits replaces the defaults; when several fit, the models of all are allowed.',
            properties: {},
            additionalProperties: { type: 'object', properties: {}, additionalProperties: modelList },
          },
        },
      },
      not: { type: 'boolean', default: false, description: 'Inverts the verdict: the rules name models that are forbidden.' },
    },
    required: ['rules'],
  },
  create: ({ rules, not }) => {
    const { defaults = [] } = rules;
    const fallback = compileModelNames(defaults, 'rules.defaults');
    const byKey = compileEntries(rules.metadata ?? {});
    if (defaults.length === 0 && byKey.size === 0) throw new ParameterError('rules', 'must have defaults, or at least one entry of metadata');
    return {
      evaluate({ exchange }) {
        const model = requestedModel(exchange);
        if (model === '') return verdictOf(false, 'the request names no model; name one that is allowed');
        const fitting: ModelNames[] = [];
        const keys: string[] = [];
        for (const [key, byValue] of byKey) {
          const value = Object.hasOwn(exchange.metadata, key) ? exchange.metadata[key] : undefined;
          const before = fitting.length;
          for (const item of Array.isArray(value) ? new Set<Json>(value) : [value]) {
            const names = byValue.get(scalarText(item) ?? '');
            if (names !== undefined) fitting.push(names);
          }
          if (fitting.length > before) keys.push(key);
        }
        const isNamed = (fitting.length === 0 ? [fallback] : fitting).some((names) => namesModel(names, model));
        const source = fitting.length === 0 ? 'by default' : `to this ${keys.join(', ')}`;
        return verdictOf(isNamed !== not, `the model of the request is ${isNamed === not ? 'not ' : ''}allowed ${source}`, { requestedModel: model, matchedKeys: keys });
      },
    };
  },
});

function compileEntries(metadata: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>): ReadonlyMap<string, ReadonlyMap<string, ModelNames>> {
  const byKey = new Map<string, ReadonlyMap<string, ModelNames>>();
  for (const [key, values] of Object.entries(metadata)) {
    const byValue = new Map<string, ModelNames>();
    for (const [value, models] of Object.entries(values)) {
      if (value === '') throw new ParameterError(`rules.metadata.${key}`, 'has an entry for the empty value, which never fits; remove it');
      byValue.set(value, compileModelNames(models, `rules.metadata.${key}.${value}`));
    }
    if (byValue.size > 0) byKey.set(key, byValue);
  }
  return byKey;
}
