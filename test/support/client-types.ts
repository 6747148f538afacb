// The types of the API for TypeScript (plugin-sdk/api/index.ts), made of its description. What a client has no use for is left out: descriptions of refusals, headers, examples.

import { isObject } from '@gateway/plugin-sdk';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { resources } from '../../core/control-plane/resources/index.js';
import { describeApi } from '../../core/openapi/document.js';

/** From the root of the repository. */
export const clientTypesFile = 'plugin-sdk/api/index.ts';

const head = `// The gateway's API as types: paths, operations and the schemas of their bodies and answers. For clients such as openapi-fetch: createClient<paths>({ baseUrl, headers }).
// Made of the description that GET /openapi.json answers; renewed with: node dist/test/support/print-client-types.js --write

`;

type Members = Record<string, unknown>;

/** Of a copy. */
function withoutExtras(value: unknown): void {
  if (Array.isArray(value)) value.forEach(withoutExtras);
  if (!isObject(value)) return;
  const members: Members = value;
  delete members.example;
  delete members.examples;
  Object.values(members).forEach(withoutExtras);
}

function slimOperation(operation: Members): void {
  for (const name of ['description', 'tags', 'security', 'x-scopes', 'x-aliases']) delete operation[name];
  const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
  operation.parameters = parameters.filter((each: unknown) => !JSON.stringify(each).includes('#/components/parameters/') || /workspaceId|ifMatch|idempotencyKey/.test(JSON.stringify(each)));
  const responses: Members = isObject(operation.responses) ? operation.responses : {};
  const [refusal] = Object.keys(responses).filter((status) => status.startsWith('4'));
  for (const status of Object.keys(responses)) {
    if (isObject(responses[status])) delete (responses[status] as Members).headers;
    if (/^[45]/.test(status) && status !== refusal) delete responses[status];
  }
  if (refusal === undefined) return;
  responses.default = responses[refusal];
  delete responses[refusal];
}

/** The text of the file. */
export async function makeClientTypes(): Promise<string> {
  const description: { readonly paths: Record<string, Record<string, Members>>; readonly components: Members } = JSON.parse(JSON.stringify(describeApi(resources, '0.0.0')));
  for (const item of Object.values(description.paths)) Object.values(item).forEach(slimOperation);
  // A schema may have a member that is called example.
  for (const part of [description.paths, description.components.responses, description.components.parameters]) withoutExtras(part);
  const nodes = await openapiTypescript(description as unknown as Parameters<typeof openapiTypescript>[0], { emptyObjectsUnknown: true });
  const text = astToString(nodes);
  return head + text
    .replace(/^ +\w+\?: never;\n/gm, '')
    .replace(/^ +\/\*\* @description .*\*\/\n(?= +(?:\d+|default): )/gm, '')
    .replace(/^ +/gm, (blanks) => ' '.repeat(blanks.length / 2))
    .replace(/^export type (?:webhooks|\$defs) = .*\n/gm, '');
}
