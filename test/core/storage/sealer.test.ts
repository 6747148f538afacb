import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { Sealer, Secret } from '../../../core/storage/sealer.js';

const masterKey = Buffer.alloc(32, 7);
const sealer = new Sealer(masterKey);
const cannotOpen = (thrown: unknown): boolean => isGatewayError(thrown) && thrown.code === 'SETTINGS_INVALID' && /the secret at t\/1\/m /.test(thrown.message);

describe('sealed secrets', () => {
  it('open again at their place, in every thread that was handed the master key', () => {
    const sealed = sealer.seal('sk-ü-secret', 't/1/m');
    const shared = new Uint8Array(new SharedArrayBuffer(32));
    shared.set(masterKey);
    assert.equal(new Sealer(shared).open(sealed, 't/1/m'), 'sk-ü-secret');
    assert.notEqual(sealer.seal('sk-ü-secret', 't/1/m'), sealed);
  });

  it('open nowhere else, under no other key, and not when they were changed', () => {
    const sealed = sealer.seal('secret', 't/2/m');
    assert.throws(() => sealer.open(sealed, 't/1/m'), cannotOpen);
    assert.throws(() => new Sealer(Buffer.alloc(32, 8)).open(sealer.seal('secret', 't/1/m'), 't/1/m'), cannotOpen);
    const bytes = Buffer.from(sealer.seal('secret', 't/1/m'), 'base64');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      assert.throws(() => sealer.open(changed.toString('base64'), 't/1/m'), cannotOpen, `byte ${index}`);
    }
    for (const text of ['', 'plain', 'AQ==']) assert.throws(() => sealer.open(text, 't/1/m'), cannotOpen, text);
  });

  it('are printed by nothing, and neither is the key', () => {
    const secret = new Secret('sk-secret');
    assert.equal(secret.reveal(), 'sk-secret');
    for (const text of [`${secret}`, JSON.stringify({ secret }), inspect({ secret, sealer }, { depth: 9, showHidden: true }), JSON.stringify(sealer)]) {
      assert.doesNotMatch(text, /sk-secret|07 07|7,7/);
    }
  });
});
