import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkPath, matchRoute } from '../../../core/router/match.js';

/** What a match amounts to, in one line. */
function seen(method: string, path: string): string {
  const match = matchRoute(method, path);
  switch (match.kind) {
    case 'endpoint': return `${match.endpoint.name} ${match.endpoint.body}${match.suffix === '' ? '' : ` ${match.suffix}`}`;
    case 'proxy': return `proxy ${match.suffix}`;
    case 'methodNotAllowed': return `405 ${match.allowed}`;
    default: return match.kind;
  }
}

describe('the route table', () => {
  const rows: readonly [string, string, string][] = [
    ['POST', '/v1/chat/completions', 'chatCompletions json'],
    ['POST', '/v1/completions', 'completions json'],
    ['POST', '/v1/embeddings', 'embeddings json'],
    ['POST', '/v1/images/generations', 'imageGenerations json'],
    ['POST', '/v1/images/edits', 'imageEdits multipart'],
    ['POST', '/v1/images/variations', 'imageVariations multipart'],
    ['POST', '/v1/audio/speech', 'speech json'],
    ['POST', '/v1/audio/transcriptions', 'transcriptions multipart'],
    ['POST', '/v1/audio/translations', 'translations multipart'],
    ['POST', '/v1/moderations', 'moderations json'],
    ['POST', '/v1/rerank', 'rerank json'],
    ['POST', '/v1/messages', 'messages json'],
    ['POST', '/v1/messages/count_tokens', 'countTokens json'],
    ['POST', '/v1/responses', 'responses json'],
    ['GET', '/v1/responses/resp_1', 'responses none /resp_1'],
    ['DELETE', '/v1/responses/resp_1', 'responses none /resp_1'],
    ['GET', '/v1/responses/resp_1/input_items', 'responses none /resp_1/input_items'],
    ['POST', '/v1/responses/resp_1/cancel', 'responses any /resp_1/cancel'],
    ['GET', '/v1/files', 'files none'],
    ['POST', '/v1/files', 'files multipart'],
    ['GET', '/v1/files/file-1', 'files none /file-1'],
    ['DELETE', '/v1/files/file-1', 'files none /file-1'],
    ['GET', '/v1/files/file-1/content', 'files none /file-1/content'],
    ['POST', '/v1/batches', 'batches json'],
    ['GET', '/v1/batches', 'batches none'],
    ['GET', '/v1/batches/b', 'batches none /b'],
    ['POST', '/v1/batches/b/cancel', 'batches any /b/cancel'],
    ['POST', '/v1/fine_tuning/jobs', 'fineTuning json'],
    ['GET', '/v1/fine_tuning/jobs/j', 'fineTuning none /j'],
    ['POST', '/v1/fine_tuning/jobs/j/cancel', 'fineTuning any /j/cancel'],
    ['GET', '/v1/fine_tuning/jobs/j/checkpoints', 'fineTuning none /j/checkpoints'],
    ['GET', '/v1/fine_tuning/jobs/j/events', 'fineTuning none /j/events'],
    ['GET', '/v1/models', 'models none'],
    ['GET', '/v1/models/meta-llama/Llama-3', 'models none /meta-llama/Llama-3'],
    ['GET', '/v1/chat/completions', 'proxy /chat/completions'],
    ['PUT', '/v1/files/file-1', 'proxy /files/file-1'],
    ['GET', '/v1/files/file-1/other', 'proxy /files/file-1/other'],
    ['GET', '/v1/files/', 'proxy /files/'],
    ['GET', '/v1/collections/a%20b', 'proxy /collections/a%20b'],
    ['POST', '/v1/proxy/chat/completions', 'proxy /chat/completions'],
    ['DELETE', '/v1/proxy/x//y/', 'proxy /x//y/'],
    ['GET', '/v1/proxyless', 'proxy /proxyless'],
    ['PATCH', '/v1/chat/completions', '405 GET, POST, PUT, DELETE'],
    ['HEAD', '/v1/anything', '405 GET, POST, PUT, DELETE'],
    ['OPTIONS', '/v1/chat/completions', '405 GET, POST, PUT, DELETE'],
    ['GET', '/health', 'health'],
    ['GET', '/v1/health', 'health'],
    ['GET', '/ready', 'ready'],
    ['POST', '/health', '405 GET'],
    ['GET', '/', 'unknown'],
    ['GET', '/v1', 'unknown'],
    ['GET', '/v1/', 'unknown'],
    ['GET', '/v1/proxy', 'unknown'],
    ['GET', '/v1/proxy/', 'unknown'],
    ['GET', '/v2/models', 'unknown'],
    ['POST', '/v1/prompts/p/completions', 'unknown'],
    ['GET', '/v1/realtime', 'unknown'],
    ['GET', '/v1/promptsmith', 'proxy /promptsmith'],
    ['GET', '/v1/__proto__', 'proxy /__proto__'],
  ];
  for (const [method, path, expected] of rows) it(`takes ${method} ${path} as ${expected}`, () => assert.equal(seen(method, path), expected));

  it('gives the same object for an exact path each time', () => {
    assert.equal(matchRoute('POST', '/v1/chat/completions'), matchRoute('POST', '/v1/chat/completions'));
  });

  it('lets files, batches and fine-tuning have one target only', () => {
    for (const path of ['/v1/files', '/v1/batches', '/v1/fine_tuning/jobs']) {
      const match = matchRoute('GET', path);
      assert.ok(match.kind === 'endpoint' && match.endpoint.isSingleTarget);
    }
  });
});

describe('a path', () => {
  it('may hold escapes, dots in names and repeated slashes', () => {
    for (const path of ['/v1/a.b/..c', '/v1/x%20y', '/v1//x///', '/v1/models/gpt-4.1', '/v1/a%2Fb', '/v1/...']) assert.equal(checkPath(path), undefined, path);
  });

  it('may not climb, hide, or break out of its line', () => {
    for (const path of ['/v1/../x', '/v1/x/..', '/v1/./x', '/v1/%2e%2e/x', '/v1/x%2f..%2fy', '/v1/.%2E', '/v1/a\\b', '/v1/a b', '/v1/a#b', '/v1/a%zz', '/v1/a%2', '/v1/\u00e9', '/v1/a\u0001']) {
      assert.ok(checkPath(path), path);
    }
  });
});
