import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lineAt, lineOfMember, lineOfText } from '../../../core/registry/member-line.js';
import fc from '../../support/fast-check.js';

const text = `{
  "name": "a \\"quoted\\" {name}, ]",
  "numbers": [1, -2.5e3, true, null,
    "four"],
  "gateway": { "namespace": "acme",
    "plugins": {
      "strategy": ["first",
        "second"
      ],
      "pr\\u006fvider": []
    }
  },
  "last": 0
}
`;

describe('the line of a member', () => {
  it('is that of its name, however deep it stands', () => {
    const cases: readonly (readonly [path: readonly string[], line: number])[] = [
      [[], 1], [['name'], 2], [['numbers'], 3], [['numbers', '4'], 4], [['gateway'], 5], [['gateway', 'namespace'], 5], [['gateway', 'plugins'], 6],
      [['gateway', 'plugins', 'strategy'], 7], [['gateway', 'plugins', 'strategy', '0'], 7], [['gateway', 'plugins', 'strategy', '1'], 8],
      [['gateway', 'plugins', 'provider'], 10], [['last'], 13],
    ];
    for (const [path, line] of cases) assert.equal(lineOfMember(text, path), line, path.join('.'));
  });

  it('is that of what should hold it, when it is missing', () => {
    for (const [path, line] of [[['absent'], 1], [['gateway', 'contract', 'strategy'], 5], [['gateway', 'plugins', 'strategy', '9'], 7], [['name', 'first'], 2], [['last', 'x'], 13]] as const) {
      assert.equal(lineOfMember(text, path), line, path.join('.'));
    }
  });

  it('is found in whatever JSON there is', () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const written = JSON.stringify(value, null, 1);
      const names = Object.keys(value);
      const lines = names.map((name) => lineOfMember(written, [name]));
      // One member begins on a line, in the order in which they were written.
      for (const [index, line] of lines.entries()) {
        const start = written.split('\n')[line - 1] ?? '';
        assert.ok(start.startsWith(` ${JSON.stringify(names[index])}: `), `${names[index]}: ${start}`);
      }
    }));
  });

  it('of a text is that of its first place', () => {
    assert.equal(lineOfText('a\nb\nab', 'b'), 2);
    assert.equal(lineOfText('a', 'x'), undefined);
    assert.equal(lineAt('a\nb', 2), 2);
  });
});
