import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { parseCustomHost } from '../../../core/upstream/custom-host.js';

const reasonFor = (text: string): string => {
  try {
    parseCustomHost(text);
  } catch (thrown) {
    assert.ok(isGatewayError(thrown), String(thrown));
    assert.equal(thrown.code, 'CUSTOM_HOST_INVALID');
    assert.equal(thrown.status, 400);
    assert.equal(thrown.param, 'custom_host');
    return thrown.message;
  }
  return '';
};

test('keeps scheme, port and path, and strips the slash at the end', () => {
  assert.equal(parseCustomHost('https://models.example.com/v1/').href, 'https://models.example.com/v1');
  assert.equal(parseCustomHost('http://models.example.com:8080/a/b').href, 'http://models.example.com:8080/a/b');
  assert.equal(parseCustomHost('HTTPS://Models.Example.COM:443').href, 'https://models.example.com/');
  assert.equal(parseCustomHost('http://[2001:DB8::1]:8080/v1//').href, 'http://[2001:db8::1]:8080/v1');
});

test('takes off the dot that ends a full name', () => {
  assert.equal(parseCustomHost('https://models.example.com./v1').hostname, 'models.example.com');
  assert.equal(parseCustomHost('http://localhost.:8080').host, 'localhost:8080');
});

test('odd spellings of an address come out in the one plain form', () => {
  const spellings = ['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '0x7f000001', '017700000001', '127.0.0.1.', '１２７.０.０.１', '127。0。0。1', '%31%32%37.0.0.1', '①②⑦.0.0.1'];
  for (const spelling of spellings) assert.equal(parseCustomHost(`http://${spelling}/v1`).hostname, '127.0.0.1', spelling);
  for (const spelling of ['[::ffff:127.0.0.1]', '[::FFFF:7f00:1]', '[0:0:0:0:0:ffff:7f00:0001]']) {
    assert.equal(parseCustomHost(`http://${spelling}/`).hostname, '[::ffff:7f00:1]', spelling);
  }
  for (const spelling of ['LOCALHOST', 'ｌｏｃａｌｈｏｓｔ', '%6cocalhost', 'loc\u00adalhost']) assert.equal(parseCustomHost(`http://${spelling}`).hostname, 'localhost', spelling);
});

test('refuses what is not an absolute http or https URL', () => {
  for (const text of ['', 'models.example.com', '//models.example.com', '/v1', 'ftp://models.example.com', 'file:///etc/passwd', 'unix:/run/a.sock', 'http:models.example.com',
    'http:/models.example.com', 'http://', 'http:///models.example.com', 'javascript:0', 'http://?a', 'ws://models.example.com']) {
    assert.match(reasonFor(text), /must be an absolute http:\/\/ or https:\/\/ URL/, text);
  }
});

test('refuses user info, query and fragment, even empty ones, and does not repeat them', () => {
  assert.match(reasonFor('https://user:hunter2@models.example.com'), /user name or password/);
  assert.doesNotMatch(reasonFor('https://user:hunter2@models.example.com'), /hunter2/);
  assert.match(reasonFor('https://@models.example.com'), /user name or password/);
  assert.match(reasonFor('https://public.example.com@127.0.0.1/'), /user name or password/);
  assert.match(reasonFor('https://models.example.com/v1?key=hunter2'), /query/);
  assert.match(reasonFor('https://models.example.com/v1?'), /query/);
  assert.match(reasonFor('https://models.example.com/v1#part'), /fragment/);
  assert.match(reasonFor('https://models.example.com/#'), /fragment/);
});

test('an @ in the path is not user info', () => {
  assert.equal(parseCustomHost('https://models.example.com/@org/v1').pathname, '/@org/v1');
});

test('refuses spaces, control characters and backslashes', () => {
  for (const text of [' https://a.example', 'https://a.example ', 'https://a.example\n', 'ht\ttps://a.example', 'https://a.example\\@b.example', 'https://a.exa\r\nmple',
    'https://a.example/\u0000', 'https://a.example/\u007f', 'https://a.example/\u00a0', 'https://a.example/a b']) {
    assert.match(reasonFor(text), /spaces, control characters or backslashes/, JSON.stringify(text));
  }
});

test('refuses ports outside 1 to 65535', () => {
  for (const port of ['0', '00', '65536', '99999999999', '']) assert.match(reasonFor(`https://models.example.com:${port}/v1`), /port must be a number from 1 to 65535/, port);
  assert.match(reasonFor('http://[::1]:0'), /port must be/);
  for (const port of ['-1', 'abc', '80a', '8%30']) assert.match(reasonFor(`https://models.example.com:${port}`), /not a valid URL/, port);
  assert.equal(parseCustomHost('https://models.example.com:65535').port, '65535');
});

test('refuses hosts that cannot be', () => {
  for (const host of ['.', '..', 'a..b', '.example', 'a.example..', '[::1', '[::1]x', '[::1%25eth0]', '256.0.0.1', '1.2.3.4.5', '0x100000000', 'a<b', 'a|b', '%', '%00', 'a%2fb', 'a%40b', 'a%3fb']) {
    assert.match(reasonFor(`http://${host}/`), /valid URL|valid host name/, host);
  }
});

test('refuses more than 2048 characters', () => {
  const base = 'https://models.example.com/';
  assert.match(reasonFor(base.padEnd(2049, 'a')), /longer than 2048 characters/);
  assert.equal(parseCustomHost(base.padEnd(2048, 'a')).href.length, 2048);
});
