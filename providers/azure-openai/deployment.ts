import type { ProviderCall } from '@gateway/plugin-sdk';

export interface Deployment {
  readonly deployment_id: string;
  readonly alias: string;
  readonly api_version: string;
  readonly is_default?: boolean | undefined;
}

export interface DeploymentCredentials {
  readonly deployment_id?: string | undefined;
  readonly deployments?: readonly Deployment[] | undefined;
  readonly api_version?: string | undefined;
  readonly cloud3_api_version?: string | undefined;
}

/** A deployment that takes the call, and the API version it is called with; undefined: the endpoint's own default. */
export interface Resolved {
  readonly id: string;
  readonly apiVersion: string | undefined;
}

const versionOf = (credentials: DeploymentCredentials, deployment?: Deployment): string | undefined =>
  deployment?.api_version || credentials.api_version || credentials.cloud3_api_version || undefined;

/**
 * Azure calls deployments, not models. The model of the call is looked up among `deployments`, by alias and then by id; then comes the one
 * `deployment_id` of the config, then the default of `deployments`. Where nothing is configured the model is the deployment's name.
 */
export function resolveDeployment(call: ProviderCall<DeploymentCredentials>): Resolved {
  const { credentials, model } = call;
  const list = credentials.deployments ?? [];
  const named = list.find((deployment) => deployment.alias === model) ?? list.find((deployment) => deployment.deployment_id === model);
  if (named !== undefined) return { id: named.deployment_id, apiVersion: versionOf(credentials, named) };
  if (credentials.deployment_id !== undefined && credentials.deployment_id !== '') return { id: credentials.deployment_id, apiVersion: versionOf(credentials) };
  const fallback = list.find((deployment) => deployment.is_default === true);
  if (fallback !== undefined) return { id: fallback.deployment_id, apiVersion: versionOf(credentials, fallback) };
  if (list.length > 0) {
    const aliases = list.map((deployment) => deployment.alias).join(', ');
    return call.refuse('model', `${model === '' ? 'it is missing' : `no deployment has the alias ${model}`} and deployments has no default; use ${aliases}`);
  }
  return model === '' ? call.refuse('model', 'must name the deployment') : { id: model, apiVersion: versionOf(credentials) };
}

/** For calls that concern the whole resource: files, stored responses, the list of models. */
export function resourceVersion(credentials: DeploymentCredentials): string | undefined {
  const list = credentials.deployments ?? [];
  const usual = list.find((deployment) => deployment.is_default === true) ?? (list.length === 1 ? list[0] : undefined);
  return credentials.api_version || credentials.cloud3_api_version || usual?.api_version || undefined;
}
