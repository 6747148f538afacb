import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeFormats, formatNames } from './code-formats.js';
import plugin from './plugin.js';

const fence = (tag: string, code = 'x'): string => `Look:\n\`\`\`${tag}\n${code}\n\`\`\`\nDone.`;
const format = 'Python';
const not = true;

conformGuardrail(plugin, {
  passes: [
    ...[['bash', 'Shell'], ['yaml', 'YAML'], ['golang', 'Go'], ['rust', 'Rust'], ['csharp', 'C#'], ['c#', 'C#'], ['c++', 'C++'], ['C++', 'C++'], ['kotlin', 'Kotlin'], ['markdown', 'Markdown'], ['tsx', 'TypeScript'],
      ['postgresql', 'SQL'], ['h', 'C'], ['Dockerfile', 'Dockerfile'], ['jsonc', 'JSON'], ['svg', 'XML'], ['{r echo=FALSE}', 'R'], ['js{1,3-4}', 'JavaScript'], ['python title="a.py"', 'Python'], ['language-css', 'CSS'], [' php ', 'PHP']]
      .map(([tag, name]) => ({ params: { format: name ?? '' }, text: fence(tag ?? '') })),
    { params: { format }, text: '```python\nprint(1)' },
    { params: { format }, text: '~~~py\nx\n~~~' },
    { params: { format }, text: '````md\n```python\nx\n```\n````\n\n```python\n1\n```' },
    { params: { format }, text: '- item:\n  ```python\n  x\n  ```' },
    { params: { format }, text: '> ```python\r\n> x\r\n> ```\r\n' },
    { params: { format }, stage: 'output', text: fence('python') },
    { params: { format }, answer: { choices: [{ message: { content: 'none' } }, { message: { content: fence('py') } }] } },
    { params: { format, not }, text: fence('ruby') },
    { params: { format, not }, text: 'no code' },
    { params: { format: 'JSON', not }, text: '{"a":1}' },
    { params: { format: 'HTML', not }, text: '<html></html>' },
    { params: { format, not }, text: '````md\n```python\nx\n```\n````' },
    { params: { format, not }, text: 'use ```python``` here' },
    { params: { format: 'C', not }, text: fence('c++') },
    { params: { format: 'Java', not }, text: fence('javascript') },
  ],
  fails: [
    { params: { format }, text: fence('ruby') },
    { params: { format }, text: fence('') },
    { params: { format }, text: 'print(1)' },
    { params: { format }, text: '' },
    { params: { format }, stage: 'output', text: '``python\nx\n``' },
    { params: { format, not }, text: fence('python') },
    { params: { format, not }, body: { messages: [{ role: 'user', content: fence('python') }, { role: 'user', content: 'ok' }] } },
    { params: { format, not }, answer: { choices: [{ message: { content: 'none' } }, { message: { content: fence('py') } }] } },
    { params: { format, not }, answer: { choices: [{ message: { tool_calls: [{ function: { arguments: JSON.stringify({ text: fence('py') }) } }] } }] } },
  ],
});

test('data lists each language that was found once', async () => {
  const check = await plugin.create(withDefaults(plugin.params, { format }) as never, fakeHost());
  const { data, why } = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: `${fence('bash')}\n${fence('rb')}\n${fence('sh')}\n${fence('unknown')}` }] } }));
  assert.equal(why, 'no fenced block of Python was found');
  assert.deepEqual(data, { foundFormats: ['Shell', 'Ruby'], searchedFormat: 'Python', not: false, explanation: why });
});

test('every language has tags, and no tag means two languages', () => {
  assert.equal(formatNames.length, 25);
  assert.deepEqual([...formatNames].sort(), Object.keys(codeFormats).sort());
  const tags = formatNames.flatMap((name) => codeFormats[name] as readonly string[]);
  assert.equal(new Set(tags).size, tags.length);
  assert.ok(tags.every((tag) => tag === tag.toLowerCase()));
});
