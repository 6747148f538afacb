import { choice, object } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import { defineResource, operation } from '../../define-resource.js';
import { idText, listOf, nothing, timeTextOrNull } from '../../envelope.js';
import { createKey } from './create-key.js';
import { keepAdministered, managedKey, scopesOf } from './key-access.js';
import { createFields, updateFields } from './key-fields.js';
import { keySchema, keyView } from './key-view.js';
import { listKeys, listQuery } from './list-keys.js';
import { rotateFields, rotateKey } from './rotate-key.js';
import { updateKey } from './update-key.js';

const secretText = () => Type.String({ description: 'the secret; it is shown this once' });

export const apiKeysResource = defineResource({
  name: 'api-keys',
  kind: 'api-key',
  operations: {
    create: operation({
      method: 'POST', path: '/api-keys/{type}/{sub-type}', scope: scopesOf('create'), action: 'created', body: createFields,
      params: { type: choice(['organisation', 'workspace']), 'sub-type': choice(['service', 'user'], { description: 'user: of a workspace alone' }) },
      reply: object({ id: idText(), key: secretText(), object: Type.Literal('api-key') }),
      handle: (context, { params, body }) => createKey(context, params, body),
    }),
    list: operation({ method: 'GET', path: '/api-keys', scope: scopesOf('list'), query: listQuery, reply: listOf(keySchema), handle: (context, { query }) => listKeys(context, query) }),
    read: operation({
      method: 'GET', path: '/api-keys/{id}', scope: scopesOf('read'), reply: keySchema,
      handle: async (context, { params }) => keyView((await managedKey(context, params.id ?? '', 'read')).row, context),
    }),
    update: operation({
      method: 'PUT', path: '/api-keys/{id}', scope: scopesOf('update'), action: 'updated', body: updateFields, reply: nothing,
      handle: (context, { params, body }) => updateKey(context, params.id ?? '', body),
    }),
    // A key may remove itself, if it may remove keys of its type: the last that administers the organisation may not be removed by anybody.
    remove: operation({
      method: 'DELETE', path: '/api-keys/{id}', scope: scopesOf('delete'), action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const stored = await managedKey(context, params.id ?? '', 'delete');
        await keepAdministered(context, stored, null);
        context.change.remove(stored);
        return {};
      },
    }),
    rotate: operation({
      method: 'POST', path: '/api-keys/{id}/rotate', scope: scopesOf('rotate'), action: 'rotated', body: rotateFields,
      reply: object({ id: idText(), key: secretText(), key_transition_expires_at: timeTextOrNull() }),
      handle: (context, { params, body }) => rotateKey(context, params.id ?? '', body),
    }),
  },
});
