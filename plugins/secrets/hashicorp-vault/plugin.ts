import { defineSecrets } from '@gateway/plugin-sdk';
import { readFile } from 'node:fs/promises';
import { VaultSource } from './vault-source.js';

/** Where Kubernetes puts the token of a pod's service account. */
const machineTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export default defineSecrets({
  title: 'HashiCorp Vault',
  describe: 'Reads secrets of the key/value engines (version 1 and 2) of HashiCorp Vault by its HTTP API.',
  params: {
    type: 'object',
    required: ['vault_auth_type', 'vault_addr'],
    properties: {
      vault_auth_type: { type: 'string', enum: ['token', 'approle', 'kubernetes'], description: 'How the gateway shows who it is.' },
      vault_addr: { type: 'string', minLength: 1, maxLength: 2048, description: 'Address of the server, such as https://vault.example.com:8200.' },
      vault_token: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[\\x21-\\x7e]+$', secret: true, description: 'With token: the token.' },
      vault_role_id: { type: 'string', minLength: 1, maxLength: 4096, description: 'With approle: the id of the role.' },
      vault_secret_id: { type: 'string', minLength: 1, maxLength: 4096, secret: true, description: 'With approle: its secret.' },
      vault_role: { type: 'string', minLength: 1, maxLength: 255, description: 'With kubernetes: the name of the role.' },
      vault_namespace: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$', description: 'Namespace of the engine and the login.' },
    },
  },
  create: (params, host, allowed) => new VaultSource(params, host, allowed, () => readFile(machineTokenFile, 'utf8')),
});
