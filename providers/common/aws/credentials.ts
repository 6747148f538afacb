import { ParameterError } from '@gateway/plugin-sdk';

/** The members of a config that name an AWS account and region. */
export interface AwsCredentials {
  readonly cloud1_auth_type?: 'accessKey';
  readonly cloud1_access_key_id?: string;
  readonly cloud1_secret_access_key?: string;
  readonly cloud1_session_token?: string;
  readonly cloud1_region?: string;
}

/** Properties of a provider's `params`. */
export const awsCredentialProperties = {
  cloud1_auth_type: { type: 'string', enum: ['accessKey'], description: 'Which credentials are meant; the others here say it themselves.' },
  cloud1_access_key_id: { type: 'string', description: 'Access key id; together with the secret access key.' },
  cloud1_secret_access_key: { type: 'string', secret: true, description: 'Secret access key.' },
  cloud1_session_token: { type: 'string', secret: true, description: 'Session token of temporary credentials.' },
  cloud1_region: { type: 'string', description: 'Region, such as eu-central-1; default us-east-1.' },
} as const;

/** What clients of AWS call them. */
export const awsAliases = Object.fromEntries(Object.keys(awsCredentialProperties).map((name) => [name, [name.replace('cloud1_', 'aws_')]]));

const defaultRegion = 'us-east-1';

/**
 * The region of the config. It becomes part of a host name to which keys are sent, and a client may give it in a header: nothing that is
 * not a plain label gets through.
 */
export function regionOf(credentials: AwsCredentials): string {
  const region = credentials.cloud1_region ?? defaultRegion;
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(region)) throw new ParameterError('cloud1_region', 'must be the name of a region, such as eu-central-1');
  return region;
}

/** The base URL of a service's regional endpoint. */
export function regionalUrl(service: string, credentials: AwsCredentials): string {
  const region = regionOf(credentials);
  return `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

/** The first part of the region's ARNs. */
export function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
}

/** Half a pair of keys is a mistake in the config; it is told before anything is sent. */
export function checkKeyPair(credentials: AwsCredentials): void {
  if (credentials.cloud1_access_key_id !== undefined && credentials.cloud1_secret_access_key === undefined) {
    throw new ParameterError('cloud1_secret_access_key', 'must be given together with cloud1_access_key_id');
  }
  if (credentials.cloud1_secret_access_key !== undefined && credentials.cloud1_access_key_id === undefined) {
    throw new ParameterError('cloud1_access_key_id', 'must be given together with cloud1_secret_access_key');
  }
}
