import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineStorage } from '@gateway/plugin-sdk';
import { conformStorage, fakeHost } from '@gateway/plugin-sdk/testing';
import { compareUtf8 } from './memory-store.js';
import plugin from './plugin.js';

conformStorage(plugin, {});

// The store that plugin tests are given has to behave like a real one.
conformStorage(defineStorage({
  title: 'Store of the fake host',
  describe: 'In memory, for tests.',
  params: { type: 'object', properties: {} },
  create: () => {
    const host = fakeHost();
    return { open: (name) => host.store(name) };
  },
}), {});

describe('memory storage', () => {
  it('compares strings as their UTF-8 bytes compare', () => {
    const samples = ['', 'a', 'b', 'é', '\ud7ff', '\ue000', '\ufffd', '\uffff', '😀', '😁', '😀a', 'a😀', 'a\uffff', '𐀀', '\u{10ffff}'];
    for (const left of samples) {
      for (const right of samples) {
        assert.equal(Math.sign(compareUtf8(left, right)), Buffer.compare(Buffer.from(left), Buffer.from(right)), `${left} ${right}`);
      }
    }
  });

  it('refuses a store name that is not a folder name', async () => {
    const storage = await plugin.create({}, fakeHost());
    for (const name of ['', '../up', 'a/b', 'Upper', '.hidden']) assert.throws(() => storage.open(name), /store name/);
  });
});
