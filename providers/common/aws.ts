export { awsAliases, awsCredentialProperties, checkKeyPair, partitionOf, regionalUrl, regionOf, type AwsCredentials } from './aws/credentials.js';
export { eventStream, exceptionError } from './aws/event-stream.js';
export { signRequest } from './aws/signer.js';
