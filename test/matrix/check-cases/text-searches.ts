// Checks that look for something in all texts, and those that replace it.

import type { CheckCases } from './check-case.js';

const call = (argument: string): { readonly id: string; readonly name: string; readonly args: { readonly note: string } } => ({ id: 'call_1', name: 'save', args: { note: argument } });
const fence = (tag: string): string => `Look:\n\`\`\`${tag}\nselect 1\n\`\`\`\nDone.`;
const object = '{"name":"Ann","address":{"city":"Rome"}}';
const schema = { type: 'object', required: ['name', 'address'], properties: { name: { type: 'string', pattern: '^[A-Z]' }, address: { type: 'object', required: ['city'] } } };

export const textSearches: CheckCases = {
  'regex-match': [
    { name: 'it is there', outcome: 'pass', params: { rule: 'order [0-9]{4}' }, text: 'about order 1234, please' },
    { name: 'it is not there', outcome: 'fail', params: { rule: 'order [0-9]{4}' }, text: 'about order 123' },
    { name: 'it must not be there, and is not', outcome: 'pass', params: { rule: '[0-9]{4}', not: true }, text: 'about order 123' },
    { name: 'it must not be there', outcome: 'fail', params: { rule: '/ORDER [0-9]{4}/i', not: true }, text: 'about order 1234, please' },
    { name: 'it must not be in the thinking', side: 'output', outcome: 'fail', params: { rule: 'nee+dle', not: true }, thinking: 'I know of a needle in it.', text: 'Nothing here.' },
    { name: 'it is not in the thinking', side: 'output', outcome: 'pass', params: { rule: 'nee+dle', not: true }, thinking: 'I know of nothing.', text: 'Nothing here.' },
    { name: 'it must not be in the arguments of a tool', side: 'output', outcome: 'fail', params: { rule: 'nee+dle', not: true }, text: 'Calling.', calls: [call('a needle in it')] },
  ],
  'regex-replace': [
    { name: 'nothing to replace', outcome: 'pass', params: { rule: '[0-9]{4}' }, text: 'pin 123' },
    { name: 'two places', outcome: 'change', params: { rule: '[0-9]{4}', redactText: '[PIN]' }, text: 'pin 1234 and pin 9876!', changed: 'pin [PIN] and pin [PIN]!' },
    { name: 'in the arguments of a tool, whose JSON stays whole', side: 'output', outcome: 'change', params: { rule: '[0-9]{4}', redactText: '"\\' }, text: 'Saving.', calls: [call('pin 1234, "quoted"')], changedCalls: [{ note: 'pin "\\, "quoted"' }] },
    { name: 'a number in the arguments of a tool becomes a text', side: 'output', outcome: 'change', params: { rule: '[0-9]{4}', redactText: '*' }, calls: [{ id: 'call_1', name: 'save', args: { pin: 1234, count: 12 } }], changedCalls: [{ pin: '*', count: 12 }] },
    { name: 'in text and in the arguments of two tools', side: 'output', outcome: 'change', params: { rule: '[0-9]{4}', redactText: '*' }, text: 'Saving 1234.', changed: 'Saving *.', calls: [call('1234'), { ...call('then 9876'), id: 'call_2' }], changedCalls: [{ note: '*' }, { note: 'then *' }] },
    { name: 'a place, and it fails', outcome: 'fail', params: { rule: '[0-9]{4}', failOnDetection: true }, text: 'pin 1234', changed: 'pin [REDACTED]' },
  ],
  contains: [
    { name: 'one of any', outcome: 'pass', params: { words: ['apple', 'pear'] }, text: 'a pineapple', data: { foundWords: ['apple'], missingWords: ['pear'] } },
    { name: 'not all of all', outcome: 'fail', params: { words: ['apple', 'pear'], operator: 'all' }, text: 'a pineapple' },
    { name: 'none of none', outcome: 'pass', params: { words: ['apple', 'pear'], operator: 'none' }, text: 'a plum' },
    { name: 'one of none, whatever its case', outcome: 'fail', params: { words: ['confidential'], operator: 'none', caseSensitive: false }, text: 'this is ConFidential stuff', data: { foundWords: ['confidential'] } },
    { name: 'one of none in the arguments of a tool', side: 'output', outcome: 'fail', params: { words: ['needle'], operator: 'none' }, calls: [call('a needle in it')] },
  ],
  'contains-code': [
    { name: 'a block in the language', outcome: 'pass', params: { format: 'SQL' }, text: fence('postgresql'), data: { foundFormats: ['SQL'] } },
    { name: 'a block in another one', outcome: 'fail', params: { format: 'SQL' }, text: fence('ruby'), data: { foundFormats: ['Ruby'] } },
    { name: 'a block in the language, inverted', outcome: 'fail', params: { format: 'SQL', not: true }, text: fence('sql') },
  ],
  'json-keys': [
    { name: 'all keys', outcome: 'pass', params: { keys: ['name', 'address'], operator: 'all' }, text: `Here: ${object}`, data: { presentKeys: ['name', 'address'], missingKeys: [] } },
    { name: 'one key of two', outcome: 'fail', params: { keys: ['name', 'age'], operator: 'all' }, text: object, data: { presentKeys: ['name'], missingKeys: ['age'] } },
    { name: 'a key that must not be there', outcome: 'fail', params: { keys: ['name'], operator: 'none' }, text: `\`\`\`json\n${object}\n\`\`\`` },
  ],
  'json-schema': [
    { name: 'it fits', outcome: 'pass', params: { schema }, text: `Here you are:\n\`\`\`json\n${object}\n\`\`\``, data: { validationErrors: [] } },
    { name: 'it does not fit', outcome: 'fail', params: { schema }, text: object.replace('Ann', 'ann') },
    { name: 'no JSON', outcome: 'fail', params: { schema }, text: 'no JSON in here' },
    { name: 'a schema with references, in the pool', outcome: 'pass', params: { schema: { $defs: { city: { type: 'string' } }, type: 'array', items: { $ref: '#/$defs/city' } } }, text: '["Rome","Köln"]' },
    { name: 'a schema with references, and it does not fit', outcome: 'fail', params: { schema: { $defs: { city: { type: 'string' } }, type: 'array', items: { $ref: '#/$defs/city' } } }, text: '["Rome",5]' },
  ],
  'not-null': [
    { name: 'a text', outcome: 'pass', params: {}, text: 'something', data: { isNull: false } },
    { name: 'a tool call', outcome: 'pass', params: {}, calls: [call('x')] },
    { name: 'nothing', outcome: 'fail', params: {}, data: { isNull: true } },
    { name: 'a blank text', outcome: 'fail', params: {}, text: ' \n' },
    { name: 'nothing, inverted', outcome: 'pass', params: { not: true } },
  ],
};
