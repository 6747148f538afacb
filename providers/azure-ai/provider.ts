import { defineProvider, isObject } from '@gateway/plugin-sdk';
import { anthropicError } from '../common/anthropic.js';
import { azureFault } from '../common/azure-fault.js';
import { authorizeAzure, azureAliases, entraParams, type AzureAuth } from '../common/entra.js';
import { endpoints } from './endpoints.js';
import { baseUrlOf, placeOf, type FoundryCredentials } from './place.js';

export default defineProvider({
  title: 'Azure AI Foundry',
  describe: "Models of all makers on Azure: Foundry resources (Claude by Anthropic's API), serverless endpoints and managed online endpoints.",
  priceTable: 'azure',
  params: {
    type: 'object',
    properties: {
      api_key: { type: 'string', secret: true, description: 'Key of the resource or endpoint, or a Microsoft Entra access token.' },
      resource_name: { type: 'string', description: 'Name of the Foundry resource, or its host name.' },
      cloud3_deployment_type: { type: 'string', enum: ['serverless', 'managed'], description: 'The kind of endpoint, where it is not a Foundry resource.' },
      cloud3_deployment_name: { type: 'string', description: 'The deployment: of a resource, of a managed endpoint, or the name of a serverless one.' },
      cloud3_endpoint_name: { type: 'string', description: 'Name of the managed endpoint, or its host name.' },
      cloud3_region: { type: 'string', description: 'Region of the endpoint, such as eastus2.' },
      cloud3_api_version: { type: 'string', description: 'API version: a date, v1 or preview.' },
      api_version: { type: 'string', description: 'The same as cloud3_api_version, which wins.' },
      ...entraParams,
    },
  },
  aliases: {
    ...azureAliases,
    cloud3_deployment_type: ['azure_deployment_type'], cloud3_deployment_name: ['azure_deployment_name', 'deployment_name'], cloud3_endpoint_name: ['azure_endpoint_name'],
    cloud3_region: ['azure_region'], cloud3_api_version: ['azure_api_version'],
  },
  baseUrl: baseUrlOf,
  auth: { type: 'signed', covers: 'head' },
  endpoints,
  // Anthropic's errors say in `type` that they are ones.
  error: (body, status) => (isObject(body) && body.type === 'error' ? anthropicError(body, status) : azureFault(body)),
  sign: (outgoing, keys, host) => authorizeAzure(outgoing, keys, host, authOf(outgoing.url, keys.credentials)),
});

const cognitiveScope = 'https://cognitiveservices.azure.com/.default';
const machineLearningScope = 'https://ml.azure.com/.default';

/** Resources have keys in a header of their own, Anthropic's API on them in its own; endpoints take keys as bearer tokens. */
function authOf(url: URL, credentials: FoundryCredentials): AzureAuth {
  const place = placeOf(credentials);
  const isResource = place === 'resource' || (place === 'custom' && /\.(?:services\.ai|cognitiveservices|openai)\.azure\.(?:com|us|cn)$/i.test(url.hostname));
  if (/\/v1\/messages(?:\/|$)/.test(url.pathname)) return { keyHeader: 'x-api-key', scope: cognitiveScope };
  return isResource ? { keyHeader: 'api-key', scope: cognitiveScope } : { keyHeader: 'authorization', scope: machineLearningScope };
}
