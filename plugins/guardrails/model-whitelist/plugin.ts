import { defineGuardrail, ParameterError } from '@gateway/plugin-sdk';
import { compileModelNames, namesModel, requestedModel } from '../common/request/model-names.js';
import { verdictOf } from '../common/request/verdict.js';

export default defineGuardrail({
  title: 'Model whitelist',
  describe: 'Passes when the model that the request names is in the list; with not, when it is not.',
  stages: ['input'],
  needs: { request: 'bytes' },
  params: {
    type: 'object',
    properties: {
      models: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'Names of models as clients write them. A * at the end stands for any ending.' },
      not: { type: 'boolean', default: false, description: 'Turns the list into one of forbidden models.' },
      inverse: { type: 'boolean', default: false, description: 'Another name of not; one of the two is enough.' },
    },
    required: ['models'],
  },
  create: ({ models, not, inverse }) => {
    if (models.length === 0) throw new ParameterError('models', 'must name at least one model');
    const listed = compileModelNames(models, 'models');
    const isForbidden = not || inverse;
    return {
      evaluate({ exchange }) {
        const model = requestedModel(exchange);
        // Who names no model gets the provider's choice, which no list of either kind can vouch for.
        if (model === '') return verdictOf(false, 'the request names no model; name one that is allowed', { requestedModel: '', allowedModels: isForbidden ? [] : models });
        const isListed = namesModel(listed, model);
        const explanation = isForbidden
          ? isListed ? 'the model of the request is forbidden' : 'the model of the request is not among the forbidden ones'
          : isListed ? 'the model of the request is allowed' : 'the model of the request is not among the allowed ones';
        return verdictOf(isListed !== isForbidden, explanation, { requestedModel: model, ...(isForbidden ? { forbiddenModels: models } : { allowedModels: models }) });
      },
    };
  },
});
