import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scopesOfType } from '../../../core/auth/scopes.js';
import { proxy } from '../../../core/endpoints/proxy.js';
import { exactRoutes, familyRoutes } from '../../../core/router/routes.js';

describe('every endpoint', () => {
  test('names a scope that keys of a workspace can have, and admin keys cannot', () => {
    const endpoints = [...exactRoutes, ...familyRoutes].map(({ endpoint }) => endpoint).concat(proxy);
    for (const { name, scope } of endpoints) {
      assert.ok(scopesOfType['workspace-user'].includes(scope) && scopesOfType['workspace-service'].includes(scope), `${name}: ${scope}`);
      assert.ok(!scopesOfType['organisation-service'].includes(scope), `${name}: ${scope}`);
    }
  });
});
