import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { isSecretError } from '../src/errors.js';
import type { SecretDocument, SecretSource, SecretsPlugin } from '../src/kinds/secrets.js';
import { fakeHost, type FakeHost, type FakeHostOptions } from './fake-host.js';

export interface ConformSecretsOptions {
  /** Of every instance; a function where each needs an answer of its own. */
  readonly host?: FakeHostOptions | (() => FakeHostOptions);
  /** Rules of the operator. */
  readonly allowed?: readonly string[];
  /** Path -> the document that the source must read there. */
  readonly values: Readonly<Record<string, SecretDocument>>;
  /** A path with nothing at it. */
  readonly absent: string;
  /** Paths that are refused when a reference is stored. */
  readonly refused?: readonly string[];
}

/** Registers the tests that every source of secrets has to pass. `params` are given to each `create()`. */
export function conformSecrets(plugin: SecretsPlugin, params: Readonly<Record<string, unknown>>, { host: hostOptions, allowed = [], values, absent, refused = [] }: ConformSecretsOptions): void {
  const open = async (): Promise<{ readonly source: SecretSource; readonly host: FakeHost }> => {
    const host = fakeHost(typeof hostOptions === 'function' ? hostOptions() : hostOptions);
    return { source: await plugin.create(params, host, allowed), host };
  };
  const signal = (): AbortSignal => new AbortController().signal;
  const secretTexts = [
    ...Object.entries(params).flatMap(([name, value]) => (Object(plugin.params.properties[name]).secret === true && typeof value === 'string' ? [value] : [])),
    ...Object.values(values).flatMap((value) => (typeof value === 'string' ? [value] : Object.values(value).filter((each) => typeof each === 'string'))),
  ];
  const noneOf = (text: string): void => { for (const secret of secretTexts) assert.ok(!text.includes(secret), 'a secret is told'); };

  describe(`secrets plugin: ${plugin.title}`, () => {
    it('is defined with a title, a description and an object schema', () => {
      assert.equal(plugin.kind, 'secrets');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
    });

    it('reads each value, again and again', async () => {
      const { source } = await open();
      for (let times = 0; times < 2; times += 1) {
        for (const [path, value] of Object.entries(values)) {
          assert.equal(source.pathFault?.(path), undefined);
          assert.deepEqual(await source.read(path, signal()), value);
        }
      }
      await source.close?.();
    });

    it('says why there is no value, and tells nothing of any', async () => {
      const { source, host } = await open();
      await assert.rejects(source.read(absent, signal()), (thrown: unknown) => {
        assert.ok(isSecretError(thrown), String(thrown));
        noneOf(thrown.message);
        return true;
      });
      noneOf(inspect([host.logged, source], { depth: 6, showHidden: false }) + JSON.stringify(source));
      await source.close?.();
    });

    it('refuses paths that can never be read, when they are stored and when they are read', async () => {
      const { source } = await open();
      for (const path of refused) {
        assert.equal(typeof source.pathFault?.(path), 'string', path);
        await assert.rejects(source.read(path, signal()), isSecretError, path);
      }
      await source.close?.();
    });

    it('reads nothing when the signal is aborted already', async () => {
      const { source } = await open();
      for (const path of Object.keys(values)) await assert.rejects(source.read(path, AbortSignal.abort()));
      await source.close?.();
    });

    it('may be closed twice', async () => {
      const { source } = await open();
      await source.close?.();
      await source.close?.();
    });
  });
}
