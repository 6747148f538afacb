import { ParameterError, type ProviderCall } from '@gateway/plugin-sdk';
import { azureHost } from '../common/entra.js';

export interface FoundryCredentials {
  readonly resource_name?: string | undefined;
  readonly cloud3_deployment_type?: string | undefined;
  readonly cloud3_deployment_name?: string | undefined;
  readonly cloud3_endpoint_name?: string | undefined;
  readonly cloud3_region?: string | undefined;
  readonly cloud3_api_version?: string | undefined;
  readonly api_version?: string | undefined;
}

export type Call = ProviderCall<FoundryCredentials>;

/**
 * `resource`: a Foundry resource with many deployments, found by the model. `serverless`: an endpoint of one model, paid by token.
 * `managed`: an online endpoint on machines of one's own. `custom`: nothing but a custom host, which holds the path of one of these.
 */
export type Place = 'resource' | 'serverless' | 'managed' | 'custom';

export function placeOf(credentials: FoundryCredentials): Place {
  if (credentials.resource_name) return 'resource';
  switch (credentials.cloud3_deployment_type) {
    case 'serverless': return 'serverless';
    case 'managed': return 'managed';
    default: return 'custom';
  }
}

export function baseUrlOf(credentials: FoundryCredentials): string {
  const { cloud3_region: region } = credentials;
  switch (placeOf(credentials)) {
    case 'resource': return `https://${azureHost(credentials.resource_name ?? '', 'resource_name', 'services.ai.azure.com')}`;
    case 'serverless': return `https://${host(credentials.cloud3_deployment_name, 'cloud3_deployment_name', region, 'models.ai.azure.com')}`;
    case 'managed': return `https://${host(credentials.cloud3_endpoint_name, 'cloud3_endpoint_name', region, 'inference.ml.azure.com')}`;
    case 'custom': throw new ParameterError('resource_name', 'give resource_name, cloud3_deployment_type with its names, or custom_host');
  }
}

/** A host name in place of the name says the region itself. */
function host(name: string | undefined, param: string, region: string | undefined, suffix: string): string {
  if (name === undefined || name === '') throw new ParameterError(param, 'this deployment type needs it');
  if (name.includes('.')) return azureHost(name, param, suffix);
  if (region === undefined || region === '') throw new ParameterError('cloud3_region', 'this deployment type needs it');
  if (!/^[a-z0-9]+$/i.test(region)) throw new ParameterError('cloud3_region', 'must be the name of a region, such as eastus2');
  return azureHost(name, param, `${region.toLowerCase()}.${suffix}`);
}

/** The deployment that a resource is asked for: the one that the config names, else the model. */
export const deploymentOf = ({ credentials, model }: Call): string => (placeOf(credentials) === 'resource' && credentials.cloud3_deployment_name) || model;

/** Claude speaks Anthropic's API only. Deployments have any name, but this one says what it is unless it was given another. */
export const isClaude = (call: Call): boolean => {
  const place = placeOf(call.credentials);
  return (place === 'resource' || place === 'custom') && /claude/i.test(deploymentOf(call));
};
