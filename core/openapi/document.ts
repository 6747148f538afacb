// The description of the whole API (OpenAPI 3.1), made on the first request for it from the routes, the operations, and the schemas that validate their input.
// Making it costs tens of milliseconds and a few megabytes, on the control thread; never on a thread that serves calls.

import { sessionCookie } from '../control-plane/cookies.js';
import type { Resource } from '../control-plane/define-resource.js';
import { Components } from './components.js';
import { controlPaths, sharedParameters, type PathItem } from './control-paths.js';
import { controlResponses, inferenceResponses } from './errors.js';
import { callHeaders, edgePaths, inferencePaths, proxyPaths } from './inference-paths.js';

interface ApiDescription {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [member: string]: unknown;
}

const about = `One API in front of many model providers, and the operations that manage it.

Control operations stand below \`/v1\`; the same paths are served below \`/v2\` and \`/\`. \`x-aliases\` are other paths of the same operation. \`x-scopes\`: the key needs one of these.
Lists are newest first, in pages: \`current_page\` begins with 0. Members that are not described are refused in requests of control operations, and do not occur in their replies;
requests and answers of models may have any others.`;

/** Throws when two of the definitions contradict each other. */
export function describeApi(resources: readonly Resource[], version: string): ApiDescription {
  const components = new Components();
  const paths = { ...inferencePaths(components), ...proxyPaths(), ...controlPaths(resources, components), ...edgePaths() };
  const responses = { ...controlResponses(components), ...inferenceResponses(components) };
  const tags = new Set(Object.values(paths).flatMap((item) => Object.values(item)).flatMap(({ tags: names }) => (Array.isArray(names) ? names.map(String) : [])));
  return {
    openapi: '3.1.0',
    info: { title: 'AI gateway', version, description: about, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    security: [{ gatewayKey: [] }, { bearer: [] }, { session: [] }],
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        gatewayKey: { type: 'apiKey', in: 'header', name: 'x-gateway-api-key', description: 'a key of the gateway' },
        bearer: { type: 'http', scheme: 'bearer', description: 'the same key, where x-gateway-api-key is not sent' },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie(true), description: `a person who has signed in; control operations alone. Without TLS it is called ${sessionCookie(false)}` },
      },
      parameters: { ...sharedParameters, ...callHeaders },
      responses,
      schemas: components.schemas,
    },
  };
}
