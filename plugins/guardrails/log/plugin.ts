import { defineGuardrail } from '@gateway/plugin-sdk';
import { anyValue } from '../common/request/any-value.js';
import { hookContext, postJson } from '../common/request/hook-context.js';
import { readHeaders } from '../common/request/outbound-headers.js';
import { readUrl } from '../common/request/outbound-url.js';
import { verdictOf } from '../common/request/verdict.js';

/** Of what the service answers only the status counts. */
const answerBytesMax = 1024 * 1024;

export default defineGuardrail({
  title: 'Log',
  describe: 'Posts the request and the answer to a service of yours; always passes.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    properties: {
      logURL: { type: 'string', minLength: 1, description: 'Address of the service, http or https.' },
      headers: anyValue('Headers for the service: an object of texts, or such an object as JSON text.', { secret: true }),
      timeout: { type: 'integer', minimum: 1, maximum: 120_000, default: 3000, description: 'Milliseconds until the service must have answered.' },
    },
    required: ['logURL'],
  },
  create: (params, host) => {
    const url = readUrl(params.logURL, 'logURL');
    const headers = readHeaders(params.headers, 'headers');
    return {
      async evaluate(input) {
        await postJson(host, { url, headers, body: hookContext(input), timeoutMs: params.timeout, bytesMax: answerBytesMax, signal: input.signal });
        return verdictOf(true, 'the call was posted to the log service', { message: 'logged' });
      },
    };
  },
});
