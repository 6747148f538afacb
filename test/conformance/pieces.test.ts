// How texts of bodies are found and changed, in every dialect: what checks are given and what their edits do.

import { answerPieces, applyEdits, editText, nameFault, placeOf, requestPieces, tokensPlace, type EndpointName, type Json, type TextEdit, type TextPiece } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

const seen = (endpoint: EndpointName, body: Json): string[] => requestPieces(endpoint, body).map((piece) => `${placeOf(piece)} ${piece.role} ${piece.kind} ${piece.group}: ${piece.isName === true ? 'name ' : ''}${piece.text}`);
const answered = (endpoint: EndpointName, body: Json): string[] => answerPieces(endpoint, body).map((piece) => `${placeOf(piece)} ${piece.kind} ${piece.group}: ${piece.isName === true ? 'name ' : ''}${piece.text}`);
/** The body with every piece put in capitals, but for names of members. */
const shout = (endpoint: EndpointName, body: Json, read = requestPieces): Json => {
  const pieces = read(endpoint, body);
  return applyEdits(body, pieces, pieces.flatMap((piece, index) => (piece.isName === true ? [] : [{ piece: index, from: 0, to: piece.text.length, text: piece.text.toUpperCase() }])));
};

describe('the texts of a request', () => {
  it('hold all digits of the numbers in tool arguments, and so does what is left of them', () => {
    const body = { messages: [{ role: 'assistant', tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{"card":4000000000000000006,"order":[12345678901234567890,1e400],"of":"x"}' } }] }] };
    const pieces = requestPieces('chatCompletions', body);
    assert.deepEqual(pieces.map((piece) => piece.text), ['card', '4000000000000000006', 'order', '12345678901234567890', '1e400', 'of', 'x', 'f']);
    const changed = JSON.stringify(applyEdits(body, pieces, [{ piece: 6, from: 0, to: 1, text: 'y' }, { piece: 1, from: 0, to: 19, text: '*' }]));
    assert.match(changed, /"\{\\"card\\":\\"\*\\",\\"order\\":\[12345678901234567890,1e400\],\\"of\\":\\"y\\"\}"/);
  });

  it('are all messages, parts and values in tool arguments of a chat', () => {
    assert.deepEqual(seen('chatCompletions', { model: 'm', messages: [
      { role: 'developer', content: 'rules' },
      { role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url', image_url: { url: 'https://x.example' } }, { type: 'text', text: 'here' }], name: 'bob' },
      { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{"a":"x","b":[1,{"c":"y"}],"d":true}' } }] },
      { role: 'tool', tool_call_id: '1', content: 'result' },
      { role: 'assistant', content: 'bye', reasoning: 'r', reasoning_details: [{ type: 'reasoning.text', text: 'd' }], refusal: 'no', function_call: { name: 'g', arguments: 'not json' } },
    ], tools: [{ type: 'function', function: { name: 'f', description: 'ours' } }] }), [
      'messages[0].content system text 0: rules',
      'messages[1].content[0].text user text 1: look',
      'messages[1].content[2].text user text 1: here',
      'messages[1].name user field 1: bob',
      'messages[2].reasoning_content assistant thinking 2: hm',
      'messages[2].tool_calls[0].function.arguments.* assistant arguments 2: name a',
      'messages[2].tool_calls[0].function.arguments.* assistant arguments 2: x',
      'messages[2].tool_calls[0].function.arguments.* assistant arguments 2: name b',
      'messages[2].tool_calls[0].function.arguments.*[0] assistant arguments 2: 1',
      'messages[2].tool_calls[0].function.arguments.*[1].* assistant arguments 2: name c',
      'messages[2].tool_calls[0].function.arguments.*[1].* assistant arguments 2: y',
      'messages[2].tool_calls[0].function.arguments.* assistant arguments 2: name d',
      'messages[2].tool_calls[0].function.name assistant field 2: f',
      'messages[3].content tool text 3: result',
      'messages[4].reasoning assistant thinking 4: r',
      'messages[4].reasoning_details[0].text assistant thinking 4: d',
      'messages[4].content assistant text 4: bye',
      'messages[4].refusal assistant text 4: no',
      'messages[4].function_call.arguments assistant arguments 4: not json',
      'messages[4].function_call.name assistant field 4: g',
      'tools[0].function.name system field -1: f',
      'tools[0].function.description system field -1: ours',
    ]);
  });

  it('are system, blocks, documents and tool results of messages', () => {
    assert.deepEqual(seen('messages', { model: 'm', system: [{ type: 'text', text: 'rules' }], messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'paper' }, title: 'T', context: 'C' }, { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'out' }] }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'tool_use', id: 'a', name: 'f', input: { q: 'x', n: 4 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'plain' }] },
    ] }), [
      'system[0].text system text -1: rules',
      'messages[0].content[0].title user text 0: T',
      'messages[0].content[0].context user text 0: C',
      'messages[0].content[0].source.data user text 0: paper',
      'messages[0].content[1].content[0].text tool text 0: out',
      'messages[1].content[0].thinking assistant thinking 1: hm',
      'messages[1].content[1].input.* assistant arguments 1: name q',
      'messages[1].content[1].input.* assistant arguments 1: x',
      'messages[1].content[1].input.* assistant arguments 1: name n',
      'messages[1].content[1].input.* assistant arguments 1: 4',
      'messages[1].content[1].name assistant field 1: f',
      'messages[2].content[0].content tool text 2: plain',
    ]);
  });

  it('are instructions and items of responses', () => {
    assert.deepEqual(seen('responses', { model: 'm', instructions: 'rules', input: [
      { role: 'user', content: 'a' }, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'b' }] },
      { type: 'function_call', call_id: '1', name: 'f', arguments: '{"q":"c"}' }, { type: 'function_call_output', call_id: '1', output: 'd' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'e' }] },
    ] }), [
      'instructions system text -1: rules', 'input[0].content user text 0: a', 'input[1].content[0].text user text 1: b',
      'input[2].arguments.* assistant arguments 2: name q', 'input[2].arguments.* assistant arguments 2: c', 'input[2].name assistant field 2: f', 'input[3].output tool text 3: d', 'input[4].summary[0].text assistant thinking 4: e',
    ]);
    assert.deepEqual(seen('responses', { model: 'm', input: 'all' }), ['input user text 0: all']);
  });

  it('are the texts of the other endpoints', () => {
    assert.deepEqual(seen('completions', { prompt: ['a', 'b'], suffix: 'c' }), ['prompt[0] user text 0: a', 'prompt[1] user text 1: b', 'suffix user text 0: c']);
    assert.deepEqual(seen('embeddings', { input: ['a', [1, 2], 'b'] }), ['input[0] user text 0: a', 'input[2] user text 2: b']);
    assert.deepEqual(seen('rerank', { query: 'q', documents: ['a', { text: 'b' }] }), ['query user text -1: q', 'documents[0] user text 0: a', 'documents[1].text user text 1: b']);
    assert.deepEqual(seen('moderations', { input: [{ type: 'text', text: 'a' }] }), ['input[0].text user text 0: a']);
    assert.deepEqual(seen('imageGenerations', { prompt: 'a' }), ['prompt user text 0: a']);
    assert.deepEqual(seen('files', { purpose: 'x' }), []);
    let deep: Json = 'needle';
    for (let depth = 0; depth < 20_000; depth += 1) deep = depth % 2 === 0 ? [{ type: 'tool_result', content: deep }] : [deep];
    assert.match(seen('messages', { messages: [{ role: 'user', content: deep }] }).join(), /needle$/);
    assert.match(seen('messages', { messages: [{ role: 'assistant', content: [{ type: 'tool_use', input: { a: deep } }] }] }).join(), /needle/);
    for (const odd of [null, 1, 'text', [], { messages: 5 }, { messages: [null, 3, { role: 1, content: [null] }] }] as Json[]) assert.deepEqual(seen('chatCompletions', odd), []);
  });
});

describe('the texts of an answer', () => {
  it('are all choices, blocks and output items', () => {
    assert.deepEqual(answered('chatCompletions', { choices: [{ message: { content: 'a' } }, { message: { content: null, tool_calls: [{ function: { arguments: '{"q":"b"}' } }] } }] }), [
      'choices[0].message.content text 0: a', 'choices[1].message.tool_calls[0].function.arguments.* arguments 1: name q', 'choices[1].message.tool_calls[0].function.arguments.* arguments 1: b',
    ]);
    assert.deepEqual(answered('messages', { content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }), ['content[0].text text 0: a', 'content[1].text text 0: b']);
    assert.deepEqual(answered('responses', { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }, { type: 'function_call', arguments: '{"q":"b"}' }] }), [
      'output[0].content[0].text text 0: a', 'output[1].arguments.* arguments 0: name q', 'output[1].arguments.* arguments 0: b',
    ]);
    assert.deepEqual(answered('completions', { choices: [{ text: 'a' }, { text: 'b' }] }), ['choices[0].text text 0: a', 'choices[1].text text 1: b']);
  });
});

describe('what is not a message', () => {
  it('is judged wherever it stands, also where no dialect has a place for it', () => {
    assert.deepEqual(seen('chatCompletions', {
      model: 'm', user: 'jane', metadata: { 'a name': 'x', n: 5 }, prediction: { type: 'content', content: 'foreseen' }, stop: ['end'], logit_bias: { 50256: -100 }, temperature: 1,
      tools: [{ type: 'function', function: { name: 'f', description: 'D', parameters: { type: 'object', properties: { city: { type: 'string', enum: ['Rome'], description: 'E' } }, required: ['city'] } } }],
      messages: [{ role: 'user', content: 'hi', Content: 'other', tool_call_id: 'two words' }], vendor: { deep: ['v'] },
    }), [
      'messages[0].content user text 0: hi', 'messages[0].* user field 0: name Content', 'messages[0].* user field 0: other', 'messages[0].tool_call_id user field 0: two words',
      'user user field -1: jane', 'metadata.* user field -1: name a name', 'metadata.* user field -1: x', 'metadata.* user field -1: name n', 'metadata.* user field -1: 5',
      'prediction.content assistant field -1: foreseen', 'stop[0] user field -1: end',
      'tools[0].function.name system field -1: f', 'tools[0].function.description system field -1: D', 'tools[0].function.parameters.properties.* system field -1: name city',
      'tools[0].function.parameters.properties.*.*[0] system field -1: Rome', 'tools[0].function.parameters.properties.*.* system field -1: E',
      'tools[0].function.parameters.required[0] system field -1: city',
      '* user field -1: name vendor', '*.* user field -1: name deep', '*.*[0] user field -1: v',
    ]);
  });

  it('is judged where a text may stand and something else does', () => {
    for (const body of [
      { messages: 'needle' }, { messages: { 0: { content: 'needle' } } }, { messages: ['needle'] }, { messages: [{ role: 'user', content: { parts: [{ x: 'needle' }] } }] },
      { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: { a: ['needle'] } } }] }] }, { messages: [{ role: 'assistant', tool_calls: { a: 'needle' } }] },
      { messages: [{ role: 'user', content: [{ type: 'text', text: ['needle'] }] }] }, { messages: [{ role: 'assistant', function_call: 'needle', audio: 'x y' }] },
      { model: { name: 'needle' }, messages: [] }, { messages: [{ role: 'tool', tool_call_id: 'a needle', content: 'x' }] }, { messages: [{ role: 'a needle', content: 'x' }] },
      { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{"a":"needle","a":"x"}' } }] }] },
      { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{"needle":1}' } }] }] },
    ] as Json[]) assert.match(seen('chatCompletions', body).join(), /needle/, JSON.stringify(body));
    for (const item of [
      { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'needle', stderr: '' }] }, { type: 'apply_patch_call', operation: { type: 'create_file', path: 'a', diff: 'needle' } },
      { type: 'web_search_call', action: { type: 'search', query: 'needle' } }, { type: 'code_interpreter_call', code: '', outputs: [{ type: 'logs', logs: 'needle' }] },
      { type: 'file_search_call', queries: [], results: [{ text: 'needle', attributes: { a: 1 } }] }, { type: 'mcp_list_tools', tools: [{ name: 'a', description: 'needle' }] },
      { type: 'invented', deep: [{ er: 'needle' }] }, 'needle',
    ] as Json[]) {
      assert.match(seen('responses', { input: [item] }).join(), /needle/, JSON.stringify(item));
      assert.match(answered('responses', { output: [item] }).join(), /needle/, JSON.stringify(item));
    }
  });

  it('is left unread where it is an id, a choice of the API or encoded', () => {
    assert.deepEqual(seen('chatCompletions', { model: 'm-1', tool_choice: 'auto', reasoning_effort: 'low', messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }, { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
    ] }), []);
    assert.deepEqual(seen('responses', { model: 'm', input: [{ type: 'item_reference', id: 'msg_1' }, { type: 'reasoning', summary: [], encrypted_content: 'gAAA==' }], previous_response_id: 'resp_1', include: ['a.b'] }), []);
  });

  it('is in an answer, but for what that says of its request', () => {
    assert.deepEqual(answered('responses', { id: 'r', instructions: 'ours', tools: [{ name: 'f' }], metadata: { a: 'b' }, output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: [{ type: 'url_citation', url: 'https://x.example/a', title: 'T' }], logprobs: [{ token: 'a', top_logprobs: [{ token: 'other' }] }] }] },
    ] }), ['output[0].content[0].text text 0: a', 'output[0].content[0].logprobs field 0: other', 'output[0].content[0].annotations[0].url field 0: https://x.example/a', 'output[0].content[0].annotations[0].title field 0: T']);
    assert.deepEqual(answered('chatCompletions', { id: 'c', usage: { prompt_tokens: 1 }, choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ab' }, logprobs: { content: [{ token: 'a' }, { token: 'x' }] } }] }), [
      'choices[0].message.content text 0: ab', 'choices[0].logprobs field 0: ax',
    ]);
    assert.deepEqual(answered('completions', { choices: [{ text: 'ab', logprobs: { tokens: ['a', 'b'], top_logprobs: [{ a: -1, z: -2 }] } }] }), ['choices[0].text text 0: ab', 'choices[0].logprobs field 0: a\nz']);
    assert.deepEqual(answered('messages', { content: [{ type: 'text', text: 'a', citations: [{ type: 'char_location', cited_text: 'b', document_title: 'c' }] }] }), [
      'content[0].text text 0: a', 'content[0].citations[0].cited_text field 0: b', 'content[0].citations[0].document_title field 0: c',
    ]);
  });

  it('is written to like every other text: names are changed too, and a list of probabilities goes as a whole', () => {
    const body: Json = { metadata: { jane: 'jane', b: 'x' }, messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{"b":1,"jane":{"jane":2}}' } }] }] };
    const edit = (given: Json, read = requestPieces, endpoint: EndpointName = 'chatCompletions'): Json => {
      const pieces = read(endpoint, given);
      return applyEdits(given, pieces, pieces.flatMap(({ text }, piece) => [...text.matchAll(/jane/g)].map(({ index }) => ({ piece, from: index, to: index + 4, text: 'J' }))));
    };
    assert.equal(JSON.stringify(edit(body)), '{"metadata":{"J":"J","b":"x"},"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\\"b\\":1,\\"J\\":{\\"J\\":2}}"}}]}]}');
    assert.equal(JSON.stringify(edit({ metadata: { 'a jane': 1, 'a J': 2, b: 3, 'a J_2': 4 } })), '{"metadata":{"a J_3":1,"a J":2,"b":3,"a J_2":4}}');
    assert.equal(JSON.stringify(edit(JSON.parse('{"metadata":{"jane":1,"__proto__":{"jane":"jane"},"c":"jane"}}') as Json)), '{"metadata":{"J":1,"__proto__":{"J":"J"},"c":"J"}}');
    const many = (name: string): Json => ({ metadata: Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`${name} ${index}`, { [name]: index }])) });
    assert.equal(JSON.stringify(edit(many('jane'))), JSON.stringify(many('J')));
    assert.deepEqual(edit({ choices: [{ message: { content: 'x' }, logprobs: { content: [{ token: 'x', top_logprobs: [{ token: 'jane' }] }] } }] }, answerPieces), { choices: [{ message: { content: 'x' }, logprobs: null }] });
    assert.deepEqual(edit({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'x', logprobs: [{ token: 'jane' }] }] }] }, answerPieces, 'responses'), { output: [{ type: 'message', content: [{ type: 'output_text', text: 'x', logprobs: [] }] }] });
  });

  it('is told where it is a list of tokens, which nobody can judge', () => {
    assert.equal(tokensPlace('embeddings', { input: [1, 2] }), 'input');
    assert.equal(tokensPlace('completions', { prompt: ['a', [1, 2]] }), 'prompt[1]');
    for (const body of [{ input: 'a' }, { input: ['a'] }, { prompt: [1] }, null]) assert.equal(tokensPlace('embeddings', body), undefined);
  });
});

describe('a name that readers may take in two ways', () => {
  it('is given twice, or differs in case from one of the dialect', () => {
    const faults: Readonly<Record<string, string | undefined>> = {
      '{"a":1,"b":{"a":2}}': undefined, '{"a":1,"a":2}': 'a', '{"a":[{"b":1},{"b":1,"\\u0062":2}]}': 'a[1].b', '{"messages":[{"content":"x \\" {\\"content\\":","content":1}]}': 'messages[0].content',
      '{"Messages":[]}': 'Messages', '{"messages":[{"role":"user","Content":"x"}]}': 'messages[0].Content', '{"vendorName":1,"vendorname":2}': 'vendorname', '{"topK":1}': undefined,
      '{"metadata":{"Name":1,"name":2}}': undefined, '{"metadata":{"name":1,"name":2}}': 'metadata.name', '{"tools":[{"function":{"parameters":{"properties":{"Type":{},"type":{}}}}}]}': undefined,
      '{"messages":[{"content":[{"type":"tool_use","input":{"Text":1}}]}]}': undefined, '{"input":[{"Role":"x"}]}': 'input[0].Role', '[]': undefined, '""': undefined, '{"a":"\\\\","a":1}': 'a',
    };
    for (const [text, place] of Object.entries(faults)) assert.equal(nameFault(text)?.place, place, text);
    assert.match(nameFault('{"Model":1}')?.reason ?? '', /differs from model in upper and lower case only/);
  });
});

describe('an edit', () => {
  it('changes its text and nothing else, and never the body it came from', () => {
    const body = Object.freeze({ model: 'm', messages: Object.freeze([Object.freeze({ role: 'user', content: 'hello' })]), n: 1 });
    assert.deepEqual(shout('chatCompletions', body), { model: 'm', messages: [{ role: 'user', content: 'HELLO' }], n: 1 });
    const pieces = requestPieces('chatCompletions', body);
    assert.equal(applyEdits(body, pieces, []), body);
    assert.equal(applyEdits(body, pieces, [{ piece: 0, from: 0, to: 5, text: 'hello' }]), body);
  });

  it('keeps tool arguments valid JSON, whatever it puts in', () => {
    const body = { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: '{"a":"x","n":42,"deep":[{"b":"y"}]}' } }] }] };
    const pieces = requestPieces('chatCompletions', body);
    const edited = applyEdits(body, pieces, pieces.flatMap((piece, index) => (piece.isName === true ? [] : [{ piece: index, from: 0, to: piece.text.length, text: '"[GONE]\n' }]))) as any;
    assert.deepEqual(JSON.parse(edited.messages[0].tool_calls[0].function.arguments), { a: '"[GONE]\n', n: '"[GONE]\n', deep: [{ b: '"[GONE]\n' }] });
  });

  it('takes probabilities and signatures along that would tell, or no longer fit', () => {
    assert.deepEqual(shout('chatCompletions', { choices: [{ message: { content: 'a' }, logprobs: { content: [{ token: 'a' }] } }] }, answerPieces), { choices: [{ message: { content: 'A' }, logprobs: null }] });
    assert.deepEqual(shout('messages', { content: [{ type: 'thinking', thinking: 'a', signature: 's' }] }, answerPieces), { content: [{ type: 'thinking', thinking: 'A', signature: '' }] });
    assert.deepEqual(shout('responses', { output: [{ type: 'message', content: [{ type: 'output_text', text: 'a', logprobs: [{ token: 'a' }] }] }] }, answerPieces), { output: [{ type: 'message', content: [{ type: 'output_text', text: 'A', logprobs: [] }] }] });
  });

  it('changes the copy of a text in the blocks beside it', () => {
    const message = { content: 'ab', content_blocks: [{ type: 'thinking', thinking: 't', signature: 's' }, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }] };
    assert.deepEqual(shout('chatCompletions', { choices: [{ message }] }, answerPieces), {
      choices: [{ message: { content: 'AB', content_blocks: [{ type: 'thinking', thinking: 'T', signature: '' }, { type: 'text', text: 'AB' }, { type: 'text', text: '' }] } }],
    });
    assert.deepEqual(answered('chatCompletions', { choices: [{ message: { content: 'a', content_blocks: [{ type: 'text', text: 'other' }] } }] }), [
      'choices[0].message.content text 0: a', 'choices[0].message.content_blocks[0].text text 0: other',
    ]);
  });

  it('is refused when it overlaps another, or lies outside', () => {
    assert.equal(editText('abcdef', [{ from: 4, to: 5, text: 'X' }, { from: 1, to: 2, text: '' }]), 'acdXf');
    assert.throws(() => editText('abc', [{ from: 0, to: 2, text: '' }, { from: 1, to: 3, text: '' }]), RangeError);
    assert.throws(() => editText('abc', [{ from: 2, to: 9, text: '' }]), RangeError);
    assert.throws(() => applyEdits({ messages: [] }, [], [{ piece: 0, from: 0, to: 0, text: '' }]), RangeError);
  });
});

describe('changes to many pieces', () => {
  const everyPiece = (pieces: readonly TextPiece[]): TextEdit[] => pieces.flatMap(({ text, isName }, piece) => (isName === true ? [] : [{ piece, from: 0, to: text.length, text: 'x' }]));

  it('copies a list once, however many of its members change', () => {
    const count = 500;
    let copies = 0;
    /** A list whose copies, and theirs, are counted. */
    class Counted<T> extends Array<T> {
      constructor(length: number) {
        super(length);
        copies += 1;
      }
    }
    const messages: Json[] = new Counted<Json>(count);
    for (let index = 0; index < count; index += 1) messages[index] = { role: 'user', content: `text ${index}` };
    const pieces = requestPieces('chatCompletions', { messages });
    copies = 0;
    const changed = applyEdits({ messages }, pieces, everyPiece(pieces)) as { messages: { content: string }[] };
    assert.equal(copies, 1);
    assert.deepEqual(changed.messages.map(({ content }) => content).join(''), 'x'.repeat(count));
    assert.deepEqual(messages[0], { role: 'user', content: 'text 0' });
  });

  it('reads and writes JSON inside of a text once', (context) => {
    const values = Array.from({ length: 200 }, (_, index) => `value ${index}`);
    const body: Json = { messages: [{ role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'f', arguments: JSON.stringify({ values, deep: { content: 'a' } }) } }] }] };
    const pieces = requestPieces('chatCompletions', body);
    const parse = context.mock.method(JSON, 'parse');
    const changed = applyEdits(body, pieces, everyPiece(pieces)) as { messages: [{ tool_calls: [{ function: { arguments: string } }] }] };
    assert.equal(parse.mock.callCount(), 1);
    parse.mock.restore();
    assert.deepEqual(JSON.parse(changed.messages[0].tool_calls[0].function.arguments), { values: values.map(() => 'x'), deep: { content: 'x' } });
  });

  it('keeps a member that is called as no other may be', () => {
    const body = JSON.parse('{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\\"__proto__\\":{\\"a\\":\\"text\\"}}"}}]}]}') as Json;
    const pieces = requestPieces('chatCompletions', body);
    const changed = applyEdits(body, pieces, everyPiece(pieces)) as { messages: [{ tool_calls: [{ function: { arguments: string } }] }] };
    assert.equal(changed.messages[0].tool_calls[0].function.arguments, '{"__proto__":{"a":"x"}}');
  });
});
