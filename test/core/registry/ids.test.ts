import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { folderOf, formatId, isPluginKind, nameOf, parseId, places } from '../../../core/registry/ids.js';

describe('plugin ids', () => {
  it('are bare words or words in a namespace, and turn back into the same text', () => {
    const cases: readonly (readonly [text: string, namespace: string, name: string])[] = [
      ['fallback', '', 'fallback'], ['together-ai', '', 'together-ai'], ['302ai', '', '302ai'], ['x-ai', '', 'x-ai'],
      ['acme.pii', 'acme', 'pii'], ['default.requiredMetadataKeyPairs', 'default', 'requiredMetadataKeyPairs'], ['a-1.B2', 'a-1', 'B2'],
    ];
    for (const [text, namespace, name] of cases) {
      assert.deepEqual(parseId(text), { namespace, name }, text);
      assert.equal(formatId({ namespace, name }), text);
    }
  });

  it('are nothing that could be a path, a member of an object or a name of unbounded length', () => {
    for (const text of [
      '', '.', '..', '../x', '..\\x', 'a/b', '/etc', 'a\\b', './a', 'a.', '.a', 'a..b', 'a.b.c', 'a b', ' a', 'a\n', 'a\0', '-a', 'Acme.x', '1a.x', '_a', '__proto__',
      'a_b', '@acme', 'acme.@x', 'file:x', 'a%2fb', 'ä', 'acme.-x', 'a'.repeat(65), `${'a'.repeat(65)}.x`, `a.${'x'.repeat(65)}`,
    ]) assert.equal(parseId(text), undefined, JSON.stringify(text));
    assert.deepEqual(parseId('a'.repeat(64)), { namespace: '', name: 'a'.repeat(64) });
  });

  it('and folder names lead to one another', () => {
    for (const [name, folder] of [['requiredMetadataKeyPairs', 'required-metadata-key-pairs'], ['pii', 'pii'], ['jwt', 'jwt'], ['allUppercase', 'all-uppercase']] as const) {
      assert.equal(folderOf(name), folder);
      assert.equal(nameOf(folder), name);
    }
    assert.equal(folderOf('together-ai'), 'together-ai');
  });
});

describe('plugin kinds', () => {
  it('are the eight of the contract, each with a place', () => {
    assert.deepEqual(Object.keys(places).sort(), ['cache', 'exporter', 'guardrail', 'hook', 'provider', 'secrets', 'storage', 'strategy']);
    for (const [kind, { folder, module }] of Object.entries(places)) {
      assert.ok(isPluginKind(kind));
      assert.match(folder, /^(?:plugins\/[a-z]+|providers)$/);
      assert.equal(module, kind === 'provider' ? 'provider.js' : 'plugin.js');
    }
  });

  it('are not the members that every object has', () => {
    for (const text of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'strategies', '', 'Strategy']) assert.ok(!isPluginKind(text), text);
  });
});
