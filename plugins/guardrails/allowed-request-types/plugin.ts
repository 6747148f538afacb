import { defineGuardrail, ParameterError, requestTypeOf, requestTypes } from '@gateway/plugin-sdk';
import { anyValue } from '../common/request/any-value.js';
import { readNames, refuseOverlap } from '../common/request/names.js';
import { verdictOf } from '../common/request/verdict.js';

export default defineGuardrail({
  title: 'Allowed request types',
  describe: 'Passes when requests of this kind (chat, embeddings, files and so on) are allowed and not blocked.',
  stages: ['input'],
  needs: { request: 'head' },
  params: {
    type: 'object',
    properties: {
      allowedTypes: anyValue('Request types that pass, as a list or as one text with commas; without it all do that are not blocked.'),
      blockedTypes: anyValue('Request types that fail, as a list or as one text with commas.'),
    },
  },
  create: (params) => {
    const allowed = readTypes(params.allowedTypes, 'allowedTypes');
    const blocked = readTypes(params.blockedTypes, 'blockedTypes');
    refuseOverlap(allowed, blocked, 'blockedTypes', 'allowedTypes');
    const mode = allowed === undefined ? blocked === undefined ? 'unrestricted' : 'blocklist' : blocked === undefined ? 'allowlist' : 'combined';
    return {
      evaluate({ exchange }) {
        const currentRequestType = requestTypeOf(exchange);
        const isBlocked = blocked?.includes(currentRequestType) === true;
        const pass = !isBlocked && (allowed === undefined || allowed.includes(currentRequestType));
        const explanation = pass ? `requests of type ${currentRequestType} are allowed`
          : isBlocked ? `requests of type ${currentRequestType} are blocked` : `requests of type ${currentRequestType} are not among the allowed ones`;
        return verdictOf(pass, explanation, {
          currentRequestType, mode, source: mode === 'unrestricted' ? 'none' : 'parameters',
          ...(allowed === undefined ? {} : { allowedTypes: allowed }), ...(blocked === undefined ? {} : { blockedTypes: blocked }),
        });
      },
    };
  },
});

const known: ReadonlySet<string> = new Set(requestTypes);

/** An empty list says nothing, as if it were not there. */
function readTypes(given: unknown, path: string): readonly string[] | undefined {
  const names = readNames(given, path);
  const unknown = names?.find((name) => !known.has(name));
  if (unknown !== undefined) throw new ParameterError(path, `has no such request type as ${unknown}; known are ${requestTypes.join(', ')}`);
  return names === undefined || names.length === 0 ? undefined : names;
}
