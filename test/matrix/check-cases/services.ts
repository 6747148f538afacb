// Checks that call servers: those of the operator, and those that a text names.

import assert from 'node:assert/strict';
import type { CheckCases, DialectName } from './check-case.js';

const imageRequest = (dialect: DialectName, url: string): Record<string, unknown> => {
  if (dialect === 'chat') return { messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url', image_url: { url } }] }] };
  if (dialect === 'messages') return { messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image', source: { type: 'url', url } }] }] };
  return { input: [{ role: 'user', content: [{ type: 'input_text', text: 'look' }, { type: 'input_image', image_url: url, detail: 'auto' }] }] };
};

export const services: CheckCases = {
  webhook: [
    {
      name: 'it accepts', outcome: 'pass', params: ({ url }) => ({ webhookURL: `${url}/accept`, headers: { 'x-own': 'key' } }), text: 'judge this',
      verify: (_, { posted }) => assert.match(posted[0]?.[posted[0].eventType === 'beforeRequestHook' ? 'request' : 'response'].text, /judge this/),
    },
    { name: 'it rejects', outcome: 'fail', params: ({ url }) => ({ webhookURL: `${url}/reject` }), text: 'judge this', data: { responseData: { reason: 'because' } } },
    { name: 'it changes the text', outcome: 'change', params: ({ url }) => ({ webhookURL: `${url}/rewrite` }), text: 'judge this', changed: 'JUDGED this' },
    {
      name: 'it changes the arguments of a tool', side: 'output', outcome: 'change', params: ({ url }) => ({ webhookURL: `${url}/rewrite` }), text: 'Calling.', changed: 'Calling.',
      calls: [{ id: 'call_1', name: 'save', args: { note: 'judge this', count: 2 } }], changedCalls: [{ note: 'JUDGED this', count: 2 }],
    },
    { name: 'it is broken', outcome: 'error', params: ({ url }) => ({ webhookURL: `${url}/broken`, failOnError: true }), text: 'judge this' },
  ],
  log: [
    {
      name: 'it is posted', outcome: 'pass', params: ({ url }) => ({ logURL: `${url}/collect` }), text: 'for the log',
      verify: (_, { posted }) => {
        assert.equal(posted.length, 1);
        assert.equal(posted[0][posted[0].eventType === 'beforeRequestHook' ? 'request' : 'response'].text, 'for the log');
      },
    },
    { name: 'the service is broken', outcome: 'error', params: ({ url }) => ({ logURL: `${url}/broken`, failOnError: true }), text: 'for the log' },
  ],
  'valid-urls': [
    { name: 'a page that is there', outcome: 'pass', params: {}, text: ({ url }) => `see ${url}/page.`, data: { validCount: 1, invalidCount: 0, validationMethod: 'http' } },
    { name: 'a page that is gone', outcome: 'fail', params: {}, text: ({ url }) => `see ${url}/page and (${url}/gone)`, data: { validCount: 1, invalidCount: 1 } },
    { name: 'an address that has to be forbidden', outcome: 'fail', params: {}, text: 'see http://169.254.169.254/latest/meta-data' },
    { name: 'no URL', outcome: 'pass', params: {}, text: 'see nothing' },
    { name: 'a name that has an address', outcome: 'pass', params: { onlyDNS: true }, text: 'see http://localhost/x', data: { validationMethod: 'dns' } },
    // A part of a name has 63 characters at most: nobody has to be asked.
    { name: 'a name without an address', outcome: 'fail', params: { onlyDNS: true }, text: `see http://${'a'.repeat(64)}.invalid/x` },
  ],
  'inline-image-urls': [
    { name: 'no image', outcome: 'pass', params: {}, text: 'look', data: { imagesConverted: 0 } },
    {
      name: 'an image', outcome: 'change', params: {}, text: 'look', request: (dialect, { url }) => imageRequest(dialect, `${url}/image.png`), data: { imagesConverted: 1, errors: [] },
      verify: (body, { image }) => {
        const sent = JSON.stringify(body);
        assert.ok(sent.includes(image.toString('base64')) && sent.includes('image/png') && !sent.includes('/image.png'), sent);
      },
    },
    { name: 'an image that is gone', outcome: 'fail', params: { failOnError: true }, text: 'look', request: (dialect, { url }) => imageRequest(dialect, `${url}/gone`) },
    { name: 'an image that is gone, and may stay', outcome: 'pass', params: {}, text: 'look', request: (dialect, { url }) => imageRequest(dialect, `${url}/gone`), data: { imagesConverted: 0 } },
  ],
};
