// Rendering against the test files of the mustache specification (mustache-spec/README.md says where they are from).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Rendering } from '../../../core/prompts/render.js';
import { parseTemplate } from '../../../core/prompts/template.js';

interface SpecTest {
  readonly name: string;
  readonly data: unknown;
  readonly template: string;
  readonly expected: string;
  readonly partials?: Readonly<Record<string, string>>;
}

const modules = ['comments', 'delimiters', 'interpolation', 'inverted', 'partials', 'sections'] as const;

/** Nothing is escaped for HTML: what the specification wants escaped is wanted here as it was. */
const unescapedHere: ReadonlySet<string> = new Set(['HTML Escaping', 'Implicit Iterators - HTML Escaping', 'Implicit Iterator - HTML Escaping']);
const asItWas = (text: string): string => text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

function render(template: string, data: unknown, partials: Readonly<Record<string, string>> = {}): string {
  const find = (slug: string): ReturnType<typeof parseTemplate> | undefined => (partials[slug] === undefined ? undefined : parseTemplate(partials[slug]));
  // The specification also renders values that are no objects.
  const rendering = new Rendering({ given: data as Readonly<Record<string, unknown>>, defaults: null }, find, 1_000_000, false);
  return rendering.render(parseTemplate(template).nodes);
}

for (const module of modules) {
  const { tests }: { readonly tests: readonly SpecTest[] } = JSON.parse(readFileSync(new URL(`../../../../test/core/prompts/mustache-spec/${module}.json`, import.meta.url), 'utf8'));
  describe(`the mustache specification, ${module}`, () => {
    for (const { name, data, template, expected, partials } of tests) {
      if (name === 'Failed Lookup') {
        // A partial that there is not is an error: a prompt with a hole in it would go out unseen.
        it(name, () => assert.throws(() => render(template, data, partials), /names the partial text, which is not there/));
        continue;
      }
      it(name, () => assert.equal(render(template, data, partials), unescapedHere.has(name) ? asItWas(expected) : expected));
    }
  });
}
