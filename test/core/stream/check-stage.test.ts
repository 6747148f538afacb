import type { AnswerEvent, StreamCheck, TextWindow } from '@gateway/plugin-sdk';
import { checkChatChunks, checkMessagesEvents, checkResponsesEvents } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dialects, type DialectName } from '../../../core/dialect/dialects.js';
import { CheckStage } from '../../../core/stream/check-stage.js';
import { channelsMax } from '../../../core/dialect/common/text-gate.js';
import fc from '../../support/fast-check.js';
import { bytesOf, chatEvents, dialectNames, eventsOf, redactor, run, secret, textsOf, type Run, type Step } from '../dialect/common/test-streams.js';

function grammarFaults(dialect: DialectName, { events }: Pick<Run, 'events'>): string[] {
  switch (dialect) {
    case 'chat': return checkChatChunks(events.map(({ data }) => data));
    case 'messages': return checkMessagesEvents(events);
    case 'responses': return checkResponsesEvents(events);
    case 'completions': return [];
  }
}

/** Every way to cut a text in two, each character by itself, and all in one. */
const cutsOf = (text: string): string[][] => [[text], [...text], ...Array.from({ length: text.length - 1 }, (_, index) => [text.slice(0, index + 1), text.slice(index + 1)])];

const passing: StreamCheck = { push: ({ text }) => ({ release: text.length }), verdict: () => ({ pass: true }) };
const keeping = (keeps: number): StreamCheck => ({ push: ({ text, isLast }) => ({ release: isLast ? text.length : Math.max(0, text.length - keeps) }), verdict: () => ({ pass: true }) });
const sentence = `My number is ${secret}, and 987-65-4321 is his.`;
const redacted = 'My number is [SSN], and [SSN] is his.';
const firstText: Readonly<Record<DialectName, string>> = { chat: 'text', completions: 'text', messages: '0', responses: '0' };

for (const dialect of dialectNames) {
  describe(`a check of streamed ${dialect}`, () => {
    const steps: Step[] = [{ text: 'one ' }, { text: 'two, 12 ' }, { text: 'three \u{1f600}' }];

    test('that changes nothing leaves every byte as it is', () => {
      for (const check of [passing, redactor()]) {
        const events = eventsOf(dialect, steps);
        const { text, errors, stage } = run(dialect, events, check);
        assert.equal(text, bytesOf(events));
        assert.deepEqual([errors, stage.error, stage.hasEdited], [[], null, false]);
      }
    });

    test('that changes nothing leaves bytes that JSON.stringify would write otherwise', () => {
      const events = eventsOf(dialect, steps).map((event) => ({ ...event, data: (event.data as string).replace('{', '{  ').replace('three', '\\u0074hree') }));
      assert.equal(run(dialect, events, passing).text, bytesOf(events));
    });

    test('replaces a pattern wherever it is cut', () => {
      for (const pieces of cutsOf(sentence)) {
        for (const asObjects of [false, true]) {
          const events = eventsOf(dialect, pieces.map((text) => ({ text })));
          const result = run(dialect, events, redactor(), { asObjects });
          assert.equal(textsOf(dialect, result.events)[firstText[dialect]], redacted);
          assert.deepEqual(grammarFaults(dialect, result), []);
          assert.doesNotMatch(result.text, /\d{3}-\d{2}-\d{4}|6789|4321/);
          assert.deepEqual([result.errors, result.stage.error], [[], null]);
          if (!asObjects && dialect !== 'messages' && dialect !== 'responses') assert.match(result.text, /data: \[DONE\]\n\n$/);
        }
      }
    });

    test('may keep much, and all of it comes at the end', () => {
      for (const pieces of cutsOf(sentence)) {
        const result = run(dialect, eventsOf(dialect, pieces.map((text) => ({ text }))), redactor({ keeps: 200 }), { lookBackMax: 200 });
        assert.equal(textsOf(dialect, result.events)[firstText[dialect]], redacted);
        assert.deepEqual(grammarFaults(dialect, result), []);
      }
    });

    test('that keeps too much is given no more than its look-back', () => {
      const windows: TextWindow[] = [];
      const check: StreamCheck = { push: (window) => { windows.push(window); return { release: window.isLast ? window.text.length : 0 }; }, verdict: () => ({ pass: true }) };
      const pieces = Array.from({ length: 40 }, (_, index) => `w${index} `);
      const result = run(dialect, eventsOf(dialect, pieces.map((text) => ({ text }))), check, { lookBackMax: 7 });
      assert.equal(textsOf(dialect, result.events)[firstText[dialect]], pieces.join(''));
      const kept = (windows.at(-1) as TextWindow).text;
      assert.equal(kept.length, 7);
      for (const window of windows) {
        assert.ok(window.before.length <= 7 && window.text.length <= 7 + 4, JSON.stringify(window));
        const whole = pieces.join('');
        assert.ok(whole.includes(window.before + window.text));
      }
      assert.deepEqual(grammarFaults(dialect, result), []);
    });

    test('sees what went before as the model wrote it', () => {
      const check = redactor();
      run(dialect, eventsOf(dialect, [...`a ${secret} b`].map((text) => ({ text }))), check);
      const last = check.windows.at(-1) as TextWindow;
      assert.deepEqual([last.before, last.text, last.isLast, last.kind, last.group], [`${secret} b`.slice(-11), '', true, 'text', 0]);
      assert.equal(new Set(check.windows.map(({ channel }) => channel)).size, 1);
    });

    test('that throws is not asked again, and everything goes on unchanged', () => {
      for (const at of [0, 1, 2, 3]) {
        let calls = 0;
        const check: StreamCheck = {
          push: ({ text, isLast }) => {
            calls += 1;
            if (calls > at) throw new Error('no verdict');
            return { release: isLast ? text.length : Math.max(0, text.length - 5) };
          },
          verdict: () => ({ pass: true }),
        };
        const events = eventsOf(dialect, ['abc', 'defgh', 'ijklmno', 'pqr', 'stu'].map((text) => ({ text })));
        const result = run(dialect, events, check);
        assert.equal(textsOf(dialect, result.events)[firstText[dialect]], 'abcdefghijklmnopqrstu');
        assert.deepEqual(grammarFaults(dialect, result), []);
        assert.equal(calls, at + 1);
        assert.equal(result.stage.error?.message, 'no verdict');
        assert.equal(result.stage.isOver, true);
        if (at === 0) assert.equal(result.text, bytesOf(events));
      }
    });

    test('that throws loses nothing of what it kept of another text', () => {
      let calls = 0;
      const check: StreamCheck = {
        push: ({ text, isLast }) => {
          calls += 1;
          if (calls > 2) throw new Error('no verdict');
          return { release: isLast ? text.length : 0 };
        },
        verdict: () => ({ pass: true }),
      };
      const steps: Step[] = dialect === 'completions' || dialect === 'chat'
        ? [{ text: '"ab' }, { text: '"yz"', choice: 1 }, { text: 'cde' }, { text: 'fg"' }]
        : [{ tool: 0, args: '"ab' }, { tool: 1, args: '"yz"' }, { tool: 0, args: 'cde' }, { tool: 0, args: 'fg"' }];
      const result = run(dialect, eventsOf(dialect, steps), check, { changes: false });
      assert.deepEqual(Object.values(textsOf(dialect, result.events)).sort(), ['"abcdefg"', '"yz"']);
      assert.deepEqual(grammarFaults(dialect, result), []);
    });

    test('that breaks its contract counts as one that threw', () => {
      const broken: Readonly<Record<string, StreamCheck['push']>> = {
        'too much released': ({ text }) => ({ release: text.length + 1 }),
        'less than nothing released': () => ({ release: -1 }),
        'no number': () => ({ release: Number.NaN }),
      };
      for (const [name, push] of Object.entries(broken)) {
        const events = eventsOf(dialect, ['abcdef', 'ghi'].map((text) => ({ text })));
        const { text, stage } = run(dialect, events, { push, verdict: () => ({ pass: true }) });
        assert.ok(stage.error instanceof RangeError, name);
        assert.equal(text, bytesOf(events), name);
      }
    });

    test('whose edits cannot be made ends the stream: what they were to take out is still there', () => {
      const broken: Readonly<Record<string, StreamCheck['push']>> = {
        'outside of what it released': ({ text }) => ({ release: 0, edits: [{ from: 0, to: text.length, text: 'x' }] }),
        'that overlap': ({ text }) => ({ release: text.length, edits: [{ from: 0, to: 2, text: 'x' }, { from: 1, to: 3, text: 'y' }] }),
        'out of order': ({ text }) => ({ release: text.length, edits: [{ from: 2, to: 3, text: 'x' }, { from: 0, to: 1, text: 'y' }] }),
        'before the text': ({ text }) => ({ release: text.length, edits: [{ from: -1, to: 1, text: 'x' }] }),
      };
      for (const [name, push] of Object.entries(broken)) {
        const { text, stage } = run(dialect, eventsOf(dialect, ['abcdef', 'ghi'].map((given) => ({ text: given }))), { push, verdict: () => ({ pass: true }) }, { denies: true });
        assert.match(stage.error?.message ?? '', /edits overlap, or lie outside/, name);
        assert.equal(stage.isDenied, true, name);
        assert.doesNotMatch(text, /abc|def|ghi/, name);
      }
      const undeclared = run(dialect, eventsOf(dialect, [{ text: 'abcdef' }]), redactor({ pattern: /c/g }), { changes: false, denies: true });
      assert.match(undeclared.stage.error?.message ?? '', /does not declare/);
      assert.doesNotMatch(undeclared.text, /abc/);
    });

    test('that fails and denies lets nothing more go', () => {
      let pushes = 0;
      const check: StreamCheck = {
        push: ({ text, isLast }) => {
          pushes += 1;
          return text.includes('bad') ? { release: text.length, fails: true } : { release: isLast ? text.length : Math.max(0, text.length - 2) };
        },
        verdict: () => ({ pass: false, why: 'a bad word' }),
      };
      const result = run(dialect, eventsOf(dialect, ['good ', 'good b', 'ad more', ' and more', secret].map((text) => ({ text }))), check, { denies: true, changes: false });
      assert.equal(textsOf(dialect, result.events)[firstText[dialect]], 'good good');
      assert.equal(pushes, 3);
      assert.equal(result.failed, 1);
      assert.deepEqual([result.stage.isDenied, result.stage.isOver, result.errors], [true, true, []]);
      assert.deepEqual(result.stage.verdict(), { pass: false, why: 'a bad word' });
      assert.doesNotMatch(result.text, /bad|more|message_stop|DONE|completed|"stop"/);
      // What ends the stream instead is numbered behind what went.
      assert.equal(result.stage.nextSequence, dialect === 'responses' ? result.events.length : 0);
    });

    test('that fails at the end of the text denies what it kept', () => {
      const check: StreamCheck = { push: ({ text, isLast }) => (isLast ? { release: text.length, fails: true } : { release: 0 }), verdict: () => ({ pass: false }) };
      const result = run(dialect, eventsOf(dialect, [{ text: 'abc' }, { text: 'def' }]), check, { denies: true });
      assert.deepEqual(textsOf(dialect, result.events), {});
      assert.doesNotMatch(result.text, /abc|def|"stop"|message_stop|completed"/);
    });

    test('that fails without denying is not asked again, unless it changes answers', () => {
      const text = ['bad ', 'abc ', secret, ' end'];
      const failing = (): ReturnType<typeof redactor> => {
        const inner = redactor();
        return { ...inner, push: (window) => ({ ...inner.push(window), fails: true }) };
      };
      const changing = run(dialect, eventsOf(dialect, text.map((piece) => ({ text: piece }))), failing());
      assert.equal(textsOf(dialect, changing.events)[firstText[dialect]], 'bad abc [SSN] end');
      assert.deepEqual([changing.failed, changing.stage.isOver, changing.stage.isDenied], [1, false, false]);
      let pushes = 0;
      const events = eventsOf(dialect, text.map((piece) => ({ text: piece })));
      const looking = run(dialect, events, { push: ({ text: { length } }) => { pushes += 1; return { release: length, fails: true }; }, verdict: () => ({ pass: false }) }, { changes: false });
      assert.equal(looking.text, bytesOf(events));
      assert.deepEqual([pushes, looking.failed, looking.stage.isOver], [1, 1, true]);
    });

    test('gives what was kept when the stream stops without an end', () => {
      const events = eventsOf(dialect, [{ text: 'abc ' }, { text: '123-45' }]);
      const cut = events.slice(0, events.findIndex((event) => (event.data as string).includes('123-45')) + 1);
      const result = run(dialect, cut, redactor());
      assert.equal(textsOf(dialect, result.events)[firstText[dialect]], 'abc 123-45');
      const { windows } = (() => { const check = redactor(); run(dialect, cut, check); return check; })();
      assert.equal(windows.at(-1)?.isLast, true);
    });

    test('is not led to let go of what it kept by events in between', () => {
      const events = eventsOf(dialect, [{ text: 'a 123-45' }, { text: '-6789 b' }]);
      const at = events.findIndex((event) => (event.data as string).includes('-6789'));
      assert.ok(at > 0);
      const others = ['keepalive', '{"type":"ping"}', '{"choices":[]}', '{}', 'null'].map((data): AnswerEvent => ({ event: undefined, data }));
      const { text, stage } = run(dialect, [...events.slice(0, at), ...others, ...events.slice(at)], redactor());
      assert.doesNotMatch(text, /123|6789/);
      assert.equal(stage.hasEdited, true);
    });

    test('never cuts a surrogate pair', () => {
      const check: StreamCheck = { push: ({ text, isLast }) => ({ release: isLast ? text.length : Math.max(0, text.length - 1) }), verdict: () => ({ pass: true }) };
      const text = 'a\u{1f600}b\u{1f601}\u{1f602}c';
      const units = Array.from({ length: text.length }, (_, index) => text.charAt(index));
      for (const pieces of [units, [text], [text.slice(0, 2), text.slice(2)], [text.slice(0, 5), text.slice(5)]]) {
        for (const each of [check, passing, keeping(2), keeping(3)]) {
          const result = run(dialect, eventsOf(dialect, pieces.map((piece) => ({ text: piece }))), each);
          for (const { data } of result.events) assert.ok(Object.values(textsOf(dialect, [{ data }])).every((piece) => !/[\ud800-\udfff]/u.test(piece)), JSON.stringify(data));
          assert.equal(textsOf(dialect, result.events)[firstText[dialect]], text);
        }
      }
    });

    test('works in a row with others, each event parsed once', () => {
      const events = eventsOf(dialect, [...`${sentence} secret word`].map((text) => ({ text })));
      const second = new CheckStage({ dialect: dialects[dialect], check: redactor({ pattern: /secret/g, beginning: /(?:s|se|sec|secr|secre)$/, replacement: '***' }), lookBackMax: 6, changes: true, onFail: () => false });
      const third = new CheckStage({ dialect: dialects[dialect], check: keeping(3), lookBackMax: 3, changes: false, onFail: () => false });
      const result = run(dialect, events, redactor(), { then: [second, third] });
      assert.equal(textsOf(dialect, result.events)[firstText[dialect]], `${redacted} *** word`);
      assert.deepEqual(grammarFaults(dialect, result), []);
      assert.deepEqual([second.error, third.error], [null, null]);
    });

    test('passes on what is not an event of the dialect', () => {
      const odd: AnswerEvent[] = [{ event: undefined, data: 'not json' }, { event: 'x', data: '{"broken":' }, { event: undefined, data: '[1,2]' }, { event: undefined, data: '{"type":"new","a":{"b":1}}' }, { event: 'ping', data: '{"type":"ping"}' }];
      const events = [...odd, ...eventsOf(dialect, steps), ...odd];
      assert.equal(run(dialect, events, redactor()).text, bytesOf(events));
    });
  });
}

test('texts beyond the limit fail the stream', () => {
  const events = chatEvents(Array.from({ length: channelsMax + 1 }, (_, index) => ({ tool: index, args: 'x' })));
  const { errors, text } = run('chat', events, passing);
  assert.equal(errors.length, 1);
  assert.match(errors[0]?.message ?? '', /4096 texts/);
  assert.ok(!text.includes(`"index":${channelsMax},"function":{"arguments":"x"`));
});

test('any answer, cut and mixed in any way, is the same answer with the pattern replaced', () => {
  const texts = fc.array(fc.oneof(fc.constant(secret), fc.constant('123-45'), fc.constant('-6789'), fc.string({ maxLength: 6 }), fc.constant('12 \u{1f600}')), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
  const cuts = fc.array(fc.nat({ max: 9 }), { minLength: 3, maxLength: 12 });
  fc.assert(fc.property(fc.constantFrom(...dialectNames), texts, texts, texts, cuts, fc.nat({ max: 14 }), fc.boolean(), (dialect, text, note, thought, sizes, keeps, asObjects) => {
    const clean = (given: string): string => given.replace(/\d{3}-\d{2}-\d{4}/g, '[SSN]');
    const args = [JSON.stringify({ a: note }), JSON.stringify([note, { b: note }])];
    const queues: [string, (piece: string) => Step][] = [[text, (piece) => ({ text: piece })], [args[0] ?? '', (piece) => ({ tool: 0, args: piece })], [args[1] ?? '', (piece) => ({ tool: 1, args: piece })]];
    const steps: Step[] = dialect === 'completions' ? [] : [{ thinking: thought.slice(0, sizes[0]) || ' ' }, { thinking: thought.slice(sizes[0]) || ' ' }, { signature: 's' }];
    if (dialect === 'chat') for (const queue of queues.slice(1)) {
      steps.push(queue[1](queue[0].slice(0, 1)));
      queue[0] = queue[0].slice(1);
    }
    for (let turn = 0; queues.length > 0; turn += 1) {
      const place = (sizes[turn % sizes.length] ?? 0) % queues.length;
      const queue = queues[place] as [string, (piece: string) => Step];
      // Behind the text come the tools: the other dialects end the text there.
      const [rest, step] = dialect === 'chat' || queues.length < 3 ? queue : queues[0] as typeof queue;
      const at = dialect === 'chat' || queues.length < 3 ? place : 0;
      const size = 1 + (sizes[(turn + 1) % sizes.length] ?? 0);
      steps.push(step(rest.slice(0, size)));
      if (rest.length <= size) queues.splice(at, 1);
      else queues[at] = [rest.slice(size), step];
    }
    const result = run(dialect, eventsOf(dialect, steps), redactor({ keeps }), { lookBackMax: Math.max(11, keeps), asObjects });
    assert.deepEqual([result.errors, result.stage.error, grammarFaults(dialect, result)], [[], null, []]);
    const found = Object.entries(textsOf(dialect, result.events)).filter(([key]) => !key.includes('signature')).map(([, piece]) => piece);
    const whole = clean((thought.slice(0, sizes[0]) || ' ') + (thought.slice(sizes[0]) || ' '));
    const expected = dialect === 'completions' ? [clean(text)] : [whole, clean(text), ...args.map(clean)];
    // A text of nothing but white space is none in messages.
    if (text === '' || (dialect === 'messages' && text.trim() === '')) expected.splice(expected.indexOf(text), 1);
    assert.deepEqual(found.sort(), expected.sort());
  }), { numRuns: 150, examples: [['messages', ' ', '-6789', '123-45', [0, 0, 0], 0, false]] });
});

describe('choices and tools side by side', () => {
  const argumentTexts = ['{"ssn":"123-45-6789","note":"a \\"quoted\\" 123-45-6789"}', '{"n":[1,123456789,-2.5e3],"ok":true}'] as const;

  test('are told apart in chat completions', () => {
    const texts = [`I am ${secret}.`, `He is ${secret}!`, `It is ${secret}?`];
    for (let size = 1; size < 12; size += 1) {
      const steps: Step[] = [];
      for (let at = 0; at < 20; at += size) texts.forEach((text, choice) => steps.push({ text: text.slice(at, at + size), choice }));
      const result = run('chat', chatEvents(steps), redactor());
      assert.deepEqual(textsOf('chat', result.events), { text: 'I am [SSN].', '1 text': 'He is [SSN]!', '2 text': 'It is [SSN]?' });
      assert.deepEqual(checkChatChunks(result.events.map(({ data }) => data)), []);
      assert.doesNotMatch(result.text, /6789/);
    }
  });

  for (const dialect of ['chat', 'messages', 'responses'] as const) {
    test(`keep their arguments JSON in ${dialect}, wherever they are cut`, () => {
      const check = (): StreamCheck => redactor({ pattern: /\d{3}-\d{2}-\d{4}|\d{9}/g, beginning: /(?:\d{1,8}|\d{3}-\d{0,2}|\d{3}-\d{2}-\d{0,3})$/, replacement: 'a "b" \n' });
      const [first, second] = argumentTexts;
      for (let cut = 1; cut < first.length; cut += 1) {
        const steps: Step[] = [
          { tool: 0, args: first.slice(0, cut) }, { tool: 1, args: second.slice(0, cut) }, { tool: 0, args: first.slice(cut) },
          ...(cut < second.length ? [{ tool: 1, args: second.slice(cut) }] : []),
        ];
        const result = run(dialect, eventsOf(dialect, steps), check());
        assert.deepEqual([result.errors, result.stage.error], [[], null]);
        assert.doesNotMatch(result.text, /\d{3}-\d{2}-\d{4}|123456789/);
        const texts = Object.values(textsOf(dialect, result.events)).map((text) => JSON.parse(text) as unknown);
        assert.deepEqual(texts, [{ ssn: 'a "b" \n', note: 'a "quoted" a "b" \n' }, { n: [1, 'a "b" \n', -2500], ok: true }]);
        if (dialect === 'chat') assert.deepEqual(checkChatChunks(result.events.map(({ data }) => data)), []);
        if (dialect === 'messages') assert.deepEqual(checkMessagesEvents(result.events), []);
        if (dialect === 'responses') assert.deepEqual(checkResponsesEvents(result.events), []);
      }
    });

    test(`have signatures only where the thought stayed as it was in ${dialect}`, () => {
      const steps = (thought: string): Step[] => [...[...thought].map((thinking) => ({ thinking })), { signature: 'sig-1' }, { text: 'Hello' }];
      const kept = run(dialect, eventsOf(dialect, steps('it is 123-45')), redactor());
      assert.match(kept.text, dialect === 'responses' ? /encrypted_content/ : /sig-1/);
      assert.match(Object.values(textsOf(dialect, kept.events)).join(), /it is 123-45/);
      const changed = run(dialect, eventsOf(dialect, steps(`it is ${secret}`)), redactor());
      assert.doesNotMatch(changed.text, /sig-1|encrypted_content|6789/);
      assert.match(Object.values(textsOf(dialect, changed.events)).join(), /it is \[SSN\]/);
      for (const result of [kept, changed]) {
        if (dialect === 'messages') assert.deepEqual(checkMessagesEvents(result.events), []);
        if (dialect === 'responses') assert.deepEqual(checkResponsesEvents(result.events), []);
        if (dialect === 'chat') assert.deepEqual(checkChatChunks(result.events.map(({ data }) => data)), []);
      }
    });
  }

  test('hide the words of logprobs once a check may change them', () => {
    for (const dialect of ['chat', 'completions', 'responses'] as const) {
      const events = eventsOf(dialect, [{ text: 'I am ' , logprobs: true }, { text: '123-45-', logprobs: true }, { text: '6789', logprobs: true }]);
      assert.match(bytesOf(events), /123-45-"[^}]*"(?:logprob|6789)|tokens/);
      const result = run(dialect, events, redactor());
      assert.doesNotMatch(result.text, /"token"|"tokens"|6789/);
      assert.deepEqual(grammarFaults(dialect, result), []);
      assert.equal(run(dialect, events, passing, { changes: false }).text, bytesOf(events));
    }
  });
});
