// JSON objects as text with everything that texts may differ in: white space, escapes, number forms, duplicate names.
import fc from '../../support/fast-check.js';

export interface TextMember {
  /** With its quotes, maybe escaped. */
  readonly key: string;
  readonly name: string;
  /** Raw JSON. */
  readonly value: string;
}
export interface ObjectText {
  readonly text: string;
  readonly members: readonly TextMember[];
}

const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const number = fc.constantFrom('0', '-0', '1.0', '1.50e+3', '9007199254740993', '-1E-2', '12345678901234567890.000100');
const leaf = fc.oneof(number, fc.constantFrom('true', 'false', 'null', '""', '"\\\\"', '"\\""', '"{[,:]}"', '"\\u00e9\\n\\ud83d\\ude00"', '"a\\\\\\"b"', '"é😀"'), fc.jsonValue().map((value) => JSON.stringify(value)));
const nested = fc.oneof(
  leaf,
  fc.tuple(blank, fc.array(leaf, { maxLength: 3 })).map(([space, items]) => `[${space}${items.join(`${space},`)}]`),
  fc.tuple(blank, leaf).map(([space, value]) => `{${space}"a"${space}:${value}${space}}`),
  fc.json(),
);

/** Few names, so that duplicates and hits happen. */
export const anyName = fc.constantFrom('model', 'a', 'b', 'max_tokens', 'é', 'a"b', '', '__proto__', 'modèl', 'c\\d', '0');

const key = fc.tuple(anyName, fc.boolean()).map(([name, isEscaped]) => ({
  name,
  key: isEscaped ? `"${[...name].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"` : JSON.stringify(name),
}));

export const anyValue = nested;

export const anyObject: fc.Arbitrary<ObjectText> = fc
  .tuple(blank, fc.array(fc.tuple(key, nested, blank, blank, blank, blank), { maxLength: 7 }), blank, blank)
  .map(([before, entries, inside, after]) => ({
    members: entries.map(([{ name, key: text }, value]) => ({ name, key: text, value })),
    text: `${before}{${entries.map(([{ key: text }, value, a, b, c, d]) => `${a}${text}${b}:${c}${value}${d}`).join(',')}${inside}}${after}`,
  }));
