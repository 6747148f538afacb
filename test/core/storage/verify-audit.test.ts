import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { pack, unpack } from 'msgpackr';
import { Change } from '../../../core/storage/change.js';
import { Repository } from '../../../core/storage/repository.js';
import { verifyAudit } from '../../../core/storage/verify-audit.js';

const keyOf = (sequence: number, number = 0): string => `audit/${String(sequence).padStart(16, '0')}/${String(number).padStart(6, '0')}`;

/** Six commits of one entry, the third one of two. */
async function filled(): Promise<{ readonly store: Store; readonly repository: Repository }> {
  const store = await fakeHost().store('control');
  const repository = new Repository(store);
  for (let made = 1; made <= 6; made += 1) await repository.commit(entries(...(made === 3 ? [made, 'more'] : [made])));
  return { store, repository };
}

function entries(...made: readonly unknown[]): Change {
  const change = new Change();
  for (const each of made) change.audit.push({ made: each });
  return change;
}

async function valueOf(store: Store, key: string): Promise<Uint8Array> {
  const row = await store.get(key);
  assert.ok(row !== undefined, key);
  return row.value;
}

describe('the chain of the audit log', () => {
  it('is whole as it was written, also when nothing was', async () => {
    const empty = await verifyAudit(new Repository(await fakeHost().store('control')));
    assert.deepEqual(empty, { entries: 0, hash: '', fault: undefined });
    const { repository } = await filled();
    const { auditHash } = await repository.head();
    assert.deepEqual(await verifyAudit(repository), { entries: 7, hash: auditHash, fault: undefined });
  });

  it('is whole when one commit has many entries', async () => {
    const { repository } = await filled();
    await repository.commit(entries(...Array.from({ length: 1_200 }, (_, made) => made)));
    assert.deepEqual([(await verifyAudit(repository)).entries, (await verifyAudit(repository)).fault], [1_207, undefined]);
  });

  it('is whole while others write', async () => {
    const { repository } = await filled();
    const writing = Promise.all(Array.from({ length: 50 }, (_, made) => repository.commit(entries(made))));
    for (let round = 0; round < 5; round += 1) assert.equal((await verifyAudit(repository)).fault, undefined);
    await writing;
    assert.equal((await verifyAudit(repository)).entries, 57);
  });

  const wrongs: Readonly<Record<string, { readonly wrong: (store: Store) => Promise<unknown>; readonly entries: number; readonly at: readonly [number, number] }>> = {
    'an entry changed': {
      wrong: async (store) => {
        const { hash }: { hash: string } = unpack(await valueOf(store, keyOf(4)));
        return store.write([{ op: 'put', key: keyOf(4), value: pack({ packed: pack({ made: 'other' }), hash }) }]);
      },
      entries: 4, at: [4, 0],
    },
    'an entry changed together with its hash': {
      wrong: async (store) => store.write([{ op: 'put', key: keyOf(4), value: await valueOf(store, keyOf(2)) }]),
      entries: 4, at: [4, 0],
    },
    'an entry removed in the middle': { wrong: async (store) => store.write([{ op: 'remove', key: keyOf(3, 1) }]), entries: 3, at: [4, 0] },
    'the first entry removed': { wrong: async (store) => store.write([{ op: 'remove', key: keyOf(1) }]), entries: 0, at: [2, 0] },
    'the last entries removed': { wrong: async (store) => store.write([{ op: 'remove', key: keyOf(6) }, { op: 'remove', key: keyOf(5) }]), entries: 5, at: [4, 0] },
    'all entries removed': {
      wrong: async (store) => store.write([1, 2, 3, 4, 5, 6].map((sequence) => ({ op: 'remove' as const, key: keyOf(sequence) })).concat({ op: 'remove', key: keyOf(3, 1) })),
      entries: 0, at: [0, 0],
    },
    'two entries exchanged': {
      wrong: async (store) => store.write([{ op: 'put', key: keyOf(2), value: await valueOf(store, keyOf(5)) }, { op: 'put', key: keyOf(5), value: await valueOf(store, keyOf(2)) }]),
      entries: 1, at: [2, 0],
    },
    'an entry put in between': { wrong: async (store) => store.write([{ op: 'put', key: keyOf(2, 1), value: await valueOf(store, keyOf(2)) }]), entries: 2, at: [2, 1] },
    'an older head put back': {
      wrong: async (store) => {
        const { hash }: { hash: string } = unpack(await valueOf(store, keyOf(5)));
        return store.write([{ op: 'put', key: 'head', value: pack({ sequence: 5, auditHash: hash }) }]);
      },
      entries: 7, at: [6, 0],
    },
    'the head removed': { wrong: async (store) => store.write([{ op: 'remove', key: 'head' }]), entries: 7, at: [6, 0] },
    'an entry that is no entry': { wrong: async (store) => store.write([{ op: 'put', key: keyOf(4), value: pack('text') }]), entries: 4, at: [3, 1] },
  };
  for (const [what, { wrong, entries: good, at: [sequence, number] }] of Object.entries(wrongs)) {
    it(`tells of ${what}, and where`, async () => {
      const { store, repository } = await filled();
      await wrong(store);
      const verdict = await verifyAudit(repository);
      assert.deepEqual([verdict.entries, verdict.fault?.sequence, verdict.fault?.number], [good, sequence, number], verdict.fault?.reason);
    });
  }
});
