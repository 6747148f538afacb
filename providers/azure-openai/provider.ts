import { defineProvider, ParameterError } from '@gateway/plugin-sdk';
import { azureFault } from '../common/azure-fault.js';
import { authorizeAzure, azureAliases, azureHost, entraParams } from '../common/entra.js';
import { endpoints } from './endpoints.js';

const both = (name: string): readonly string[] => [`azure_${name}`, `cloud3_${name}`];
const deploymentNames = [...both('deployment_name'), ...both('deployment_id'), 'deployment_name'];

export default defineProvider({
  title: 'Azure OpenAI',
  describe: "OpenAI's models on Azure: deployments by alias, dated API versions and v1, keys and Microsoft Entra.",
  priceTable: 'azure',
  params: {
    type: 'object',
    properties: {
      api_key: { type: 'string', secret: true, description: 'Key of the resource, or a Microsoft Entra access token.' },
      resource_name: { type: 'string', description: 'Name of the Azure OpenAI resource, or its host name.' },
      deployment_id: { type: 'string', description: 'Deployment that takes every call, whatever its model.' },
      api_version: { type: 'string', description: 'API version: a date, v1 or preview. Without it each endpoint uses what is generally available.' },
      deployments: {
        type: 'array',
        description: 'Deployments by the model names that clients use.',
        items: {
          type: 'object',
          required: ['deployment_id', 'alias', 'api_version'],
          properties: {
            deployment_id: { type: 'string', description: 'Name of the deployment.' },
            alias: { type: 'string', description: 'The model that clients ask for.' },
            api_version: { type: 'string', description: 'API version of this deployment.' },
            is_default: { type: 'boolean', description: 'Takes the models that no other deployment has.' },
          },
        },
      },
      cloud3_api_version: { type: 'string', description: 'The same as api_version, which wins.' },
      ...entraParams,
    },
  },
  aliases: {
    ...azureAliases,
    deployment_id: deploymentNames,
    cloud3_api_version: ['azure_api_version'],
    deployments: [...both('deployment_config'), ...both('deployments'), 'deployment_config'],
    'deployments.deployment_id': [...deploymentNames, 'deploymentName', 'deploymentId'],
    // A deployment without an alias goes by its model, or by its own name.
    'deployments.alias': [...both('alias'), ...both('model_slug'), 'model_slug', 'modelSlug', 'deployment_id', ...deploymentNames, 'deploymentName', 'deploymentId'],
    'deployments.api_version': [...both('api_version'), 'apiVersion'],
    'deployments.is_default': [...both('is_default'), 'isDefault'],
  },
  baseUrl: ({ resource_name: name }) => {
    if (name === undefined || name === '') throw new ParameterError('resource_name', 'give the name of the resource, or custom_host');
    return `https://${azureHost(name, 'resource_name', 'openai.azure.com')}/openai`;
  },
  auth: { type: 'signed', covers: 'head' },
  endpoints,
  error: (body) => azureFault(body),
  sign: (outgoing, keys, host) => authorizeAzure(outgoing, keys, host, { keyHeader: 'api-key', scope: 'https://cognitiveservices.azure.com/.default' }),
});
