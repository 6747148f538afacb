// Rendering of stored prompts: from the parsed call to the JSON of the completion's body. The usual one has a system and a user message, four variables, a
// partial and two tools.
import { Bench } from 'tinybench';
import { parsePrompt } from '../../core/prompts/parse-prompt.js';
import { promptBody, promptContent, type PromptContent } from '../../core/prompts/prompt-body.js';
import { parseTemplate } from '../../core/prompts/template.js';

const content = (string: string, parameters: object, tools: readonly object[] = [], isRaw = false): PromptContent => promptContent({
  template: JSON.stringify(parsePrompt(string, isRaw)), parameters: JSON.stringify(parameters), tools: JSON.stringify(tools), functions: '[]', toolChoice: null, model: 'gpt-4o-mini',
});
const partial = parseTemplate('Answer in {{language}}. Be {{tone}}, and say so when you do not know.');
const find = (): typeof partial => partial;

const text = 'You help the customers of {{company}} with their orders. Never talk about anything else, and never promise what the terms of business do not promise. ';
const tool = (name: string): object => ({ type: 'function', function: { name, description: 'Looks up an order by its number', parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } } });
const usualString = JSON.stringify([{ role: 'system', content: `${text.repeat(4)}\n{{>pp-tone}}` }, { role: 'user', content: '{{question}}' }]);
const usual = content(usualString, { temperature: 0.2, max_tokens: 512, top_p: 1 }, [tool('find_order'), tool('find_customer')]);
const usualCall = { variables: { company: 'Example', language: 'English', tone: 'kind', question: 'Where is my order 12345? It was "promised" for Monday.\nThanks.' }, temperature: 0.5 };

const names = Array.from({ length: 1000 }, (_, index) => `name_${index}`);
const many = content(JSON.stringify([{ role: 'user', content: names.map((name) => `${name}: {{${name}}}`).join('\n') }]), {});
const manyCall = { variables: Object.fromEntries(names.map((name, index) => [name, `value ${index}`])) };

const raw = content('[{"role": "system", "content": "Know {{topic}}."}{{#history}}, {"role": "{{role}}", "content": "{{content}}"}{{/history}}]', {}, [], true);
const rawCall = { variables: { topic: 'stars', history: Array.from({ length: 10 }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `said ${index} "so"` })) } };

const charsMax = 1024 * 1024;
const bench = new Bench({ name: 'prompts', time: process.env.BENCH_QUICK === '1' ? 50 : 500 });
bench.add('usual prompt', () => void promptBody(usual, usualCall, usualCall.variables, find, charsMax));
bench.add('1,000 variables', () => void promptBody(many, manyCall, manyCall.variables, find, charsMax));
bench.add('raw template, 10 messages', () => void promptBody(raw, rawCall, rawCall.variables, find, charsMax));
await bench.run();
console.table(bench.table());
