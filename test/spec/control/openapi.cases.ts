import assert from 'node:assert/strict';
import { resourceCases } from './cases.js';

export default resourceCases({
  resource: 'openapi',
  operations: {
    read: {
      target: () => ({}),
      check: ({ body }) => assert.ok(body.paths['/v1/openapi.json'].get),
      bad: [],
      conflict: { none: 'it changes nothing' },
      foreign: { none: 'it is about no workspace' },
      isConditional: false,
    },
  },
});
