import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { editMultipart, multipartBoundary, multipartField, type FieldEdit } from '../../../core/body/multipart.js';

const boundary = '----form7MA4YWxk';
const file = Buffer.concat([
  Buffer.from('Content-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n'),
  Buffer.from([0, 255, 13, 10, 45, 45, 13, 10, 13, 10]),
  // Looks like a delimiter, and is not one.
  Buffer.from(`\r\n--${boundary}x\r\nContent-Disposition: form-data; name="model"\r\n\r\nfake`),
]);
const text = (name: string, value: string): string => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;

const form = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat([...parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), Buffer.from(part), Buffer.from('\r\n')]), Buffer.from(`--${boundary}--\r\n`)]);
const set = (name: string, value: string): FieldEdit => ({ kind: 'set', name, value });
const preset = (name: string, value: string): FieldEdit => ({ kind: 'default', name, value });
const remove = (name: string): FieldEdit => ({ kind: 'remove', name, value: '' });

test('the boundary is read from the content type, quoted or not', () => {
  const cases: [string, string | undefined][] = [
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data;charset=utf-8;BOUNDARY="a b:c"', 'a b:c'],
    ['multipart/form-data; boundary="a\\"b" ; x=y', 'a"b'],
    ['multipart/form-data; note="; boundary=evil"; boundary=good', 'good'],
    [`multipart/form-data; boundary=${boundary};`, boundary],
    ['multipart/form-data', undefined],
    ['multipart/form-data; boundary=', undefined],
    ['multipart/form-data; boundary=""', undefined],
    ['multipart/form-data; boundary="a', undefined],
    ['multipart/form-data; boundary=a; boundary=b', undefined],
    ['multipart/form-data; boundary="a "', undefined],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, undefined],
    ['multipart/form-data; boundary=é', undefined],
    ['multipart/mixed; boundary=abc', undefined],
    ['multipart/form-datax; boundary=abc', undefined],
    ['application/json', undefined],
    ['', undefined],
  ];
  for (const [type, expected] of cases) assert.equal(multipartBoundary(type), expected, type);
});

test('a text field is read past files and delimiters that are none', () => {
  const body = form(file, text('model', 'whisper-1'), text('prompt', ''), text('model', 'second'));
  assert.equal(multipartField(body, boundary, 'model'), 'whisper-1');
  assert.equal(multipartField(body, boundary, 'prompt'), '');
  assert.equal(multipartField(body, boundary, 'file'), undefined);
  assert.equal(multipartField(body, boundary, 'absent'), undefined);
  assert.equal(multipartField(new Uint8Array(body), boundary, 'model'), 'whisper-1');
  assert.equal(multipartField(Buffer.concat([Buffer.from('preamble\r\n'), form(text('a', 'é'))]), boundary, 'a'), 'é');
});

test('heads are read in the forms that clients write', () => {
  const heads = [
    'content-disposition: form-data; name=model\r\n\r\nm',
    'Content-Type: text/plain\r\nContent-Disposition:form-data;name="model"\r\nX-Y: z\r\n\r\nm',
    'Content-Disposition: form-data; name="mo\\"del"\r\n\r\nno',
    'CONTENT-DISPOSITION: FORM-DATA; NAME="model"\r\n\r\nm',
  ];
  for (const head of heads) assert.equal(multipartField(form(head), boundary, 'model'), head.endsWith('no') ? undefined : 'm', head);
  assert.equal(multipartField(form('Content-Disposition: form-data; name="mo\\"del"\r\n\r\nyes'), boundary, 'mo"del'), 'yes');
  // Delimiter lines may end in blanks (RFC 2046, 5.1.1).
  assert.equal(multipartField(Buffer.from(`--${boundary} \t\r\n${text('a', '1')}\r\n--${boundary}--`), boundary, 'a'), '1');
});

test('fields are replaced, added and removed; files keep every byte', () => {
  const body = form(text('model', 'a'), file, text('language', 'en'));
  assert.deepEqual(editMultipart(body, boundary, [set('model', 'bü')]), form(text('model', 'bü'), file, text('language', 'en')));
  assert.deepEqual(editMultipart(body, boundary, [remove('language')]), form(text('model', 'a'), file));
  assert.deepEqual(editMultipart(body, boundary, [set('x', '1'), preset('y', '2'), preset('model', 'no')]), form(text('model', 'a'), file, text('language', 'en'), text('x', '1'), text('y', '2')));
  assert.deepEqual(editMultipart(body, boundary, [remove('model'), remove('language'), set('model', 'z'), set('model', 'q')]), form(file, text('model', 'q')));
  assert.deepEqual(editMultipart(form(), boundary, [set('a', '1')]), form(text('a', '1')));
  assert.deepEqual(editMultipart(body, boundary, [set('a', '1'), remove('a'), set('model', 'b')]), form(text('model', 'b'), file, text('language', 'en')));
});

test('all fields of one name give way to the one that is set', () => {
  const body = form(text('granularity[]', 'word'), file, text('granularity[]', 'segment'));
  assert.deepEqual(editMultipart(body, boundary, [set('granularity[]', 'none')]), form(text('granularity[]', 'none'), file));
});

test('a name that belongs to a file is left alone', () => {
  const body = form(text('model', 'a'), file);
  assert.equal(editMultipart(body, boundary, [set('file', 'x'), remove('file'), preset('file', 'y')]), body);
  const broken = form('Content-Type: text/plain\r\n\r\nno name', text('model', 'a'));
  assert.deepEqual(editMultipart(broken, boundary, [set('model', 'b')]), form('Content-Type: text/plain\r\n\r\nno name', text('model', 'b')));
});

test('bytes that need no change are returned, not copied', () => {
  const body = form(text('model', 'a'));
  assert.equal(editMultipart(body, boundary, [preset('model', 'b'), remove('x')]), body);
});

test('preamble and epilogue stay', () => {
  const wrapped = Buffer.concat([Buffer.from('hello\r\n'), form(text('a', '1')), Buffer.from('bye')]);
  assert.equal(editMultipart(wrapped, boundary, [set('a', '2')]).toString(), wrapped.toString().replace('\r\n\r\n1', '\r\n\r\n2'));
});

test('nothing in a name or value can begin a part of its own', () => {
  const body = form(text('a', '1'));
  const edited = editMultipart(body, boundary, [set('x"; filename="y\r\nz', 'v\r\nw')]);
  assert.equal(multipartField(edited, boundary, 'x%22; filename=%22y%0D%0Az'), 'v\r\nw');
  assert.throws(() => editMultipart(body, boundary, [set('b', `1\r\n--${boundary}\r\n`)]), (error) => isGatewayError(error) && error.code === 'BODY_INVALID' && error.param === 'b');
});

test('broken forms are refused when edited and have no field when read', () => {
  const whole = form(text('model', 'a'), file);
  const head = form(text('model', 'a')).indexOf('\r\n\r\n');
  const broken = [
    Buffer.alloc(0), Buffer.from('junk'), Buffer.from(`--${boundary}`), Buffer.from(`--${boundary}\r\n`), whole.subarray(0, head), whole.subarray(0, head + 4),
    Buffer.from(whole.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'), form(`X: ${'y'.repeat(20_000)}\r\n\r\nz`),
  ];
  for (const bytes of broken) {
    assert.equal(multipartField(bytes, boundary, 'model'), undefined);
    assert.throws(() => editMultipart(bytes, boundary, [set('model', 'b')]), (error) => isGatewayError(error) && error.code === 'BODY_INVALID');
  }
  // Cut off behind the field: readable, not editable.
  for (let length = whole.length - boundary.length - 5; length > head + 60; length -= 7) {
    assert.throws(() => editMultipart(whole.subarray(0, length), boundary, [set('model', 'b')]), (error) => isGatewayError(error));
  }
  assert.throws(() => editMultipart(form(...Array.from({ length: 1_100 }, () => text('a', '1'))), boundary, [set('a', '2')]), (error) => isGatewayError(error));
});

test('a field too long for a name of anything is not read', () => {
  assert.equal(multipartField(form(text('a', 'x'.repeat(65_537)), text('b', '1')), boundary, 'a'), undefined);
  assert.equal(multipartField(form(text('a', 'x'.repeat(65_537)), text('b', '1')), boundary, 'b'), '1');
});
