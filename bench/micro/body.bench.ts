// Work on request bodies: find a field, change a field, parse; beside what parsing and writing anew would cost.
import { Bench } from 'tinybench';
import { editMultipart, multipartField } from '../../core/body/multipart.js';
import { parseJsonObject } from '../../core/body/parse.js';
import { field, scanObject } from '../../core/body/scan.js';
import { dropPaths, parseDropPath, spliceObject, type BodyEdit, type DropPath } from '../../core/body/splice.js';

const chat = Buffer.from(JSON.stringify({
  model: 'gpt-4o',
  messages: [{ role: 'system', content: 'You are "helpful".\n'.repeat(20) }, { role: 'user', content: 'hello '.repeat(100), name: 'a' }],
  temperature: 0.5, stream: true, max_tokens: 100, user: 'abc',
}));
const image = Buffer.from(JSON.stringify({
  model: 'gpt-4o', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'abcd'.repeat(256 * 1024)}` } }] }],
}));
const boundary = 'boundary-of-the-bench';
const upload = Buffer.concat([
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n`),
  Buffer.alloc(1024 * 1024, 'abc\r\n'),
  Buffer.from(`\r\n--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--${boundary}--\r\n`),
]);
const override: readonly BodyEdit[] = [{ kind: 'set', name: 'model', value: Buffer.from('"gpt-4o-mini"') }];
const three: readonly BodyEdit[] = [...override, { kind: 'default', name: 'top_p', value: Buffer.from('1') }, { kind: 'rename', from: 'max_tokens', to: 'max_completion_tokens' }];
const paths: readonly DropPath[] = ['messages[*].name', 'user'].map((path) => parseDropPath(path) ?? []);

const bench = new Bench({ time: 250, warmupTime: 50 });
bench.add(`field, ${chat.length} bytes`, () => { field(chat, 'model'); });
bench.add(`scanObject, ${chat.length} bytes`, () => { scanObject(chat); });
bench.add(`spliceObject, one set, ${chat.length} bytes`, () => { spliceObject(chat, override); });
bench.add(`spliceObject, three edits, ${chat.length} bytes`, () => { spliceObject(chat, three); });
bench.add(`dropPaths, two paths, ${chat.length} bytes`, () => { dropPaths(chat, paths); });
bench.add(`parseJsonObject, ${chat.length} bytes`, () => { parseJsonObject(chat); });
bench.add(`parse and stringify, ${chat.length} bytes`, () => { Buffer.from(JSON.stringify({ ...parseJsonObject(chat), model: 'gpt-4o-mini' })); });
bench.add('field, 1 MiB image', () => { field(image, 'model'); });
bench.add('spliceObject, 1 MiB image', () => { spliceObject(image, override); });
bench.add('parseJsonObject, 1 MiB image', () => { parseJsonObject(image); });
bench.add('multipartField behind a 1 MiB file', () => { multipartField(upload, boundary, 'model'); });
bench.add('editMultipart behind a 1 MiB file', () => { editMultipart(upload, boundary, [{ kind: 'set', name: 'model', value: 'whisper-2' }]); });
await bench.run();
console.table(bench.table());
