import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dialects, type DialectName } from '../../../core/dialect/dialects.js';
import { answerDialect } from '../../../core/exchange/endpoint.js';
import { checkPath, matchRoute } from '../../../core/router/match.js';

/** What a match amounts to, in one line. */
function seen(method: string, path: string): string {
  const match = matchRoute(method, path);
  switch (match.kind) {
    case 'endpoint': return `${match.endpoint.name} ${match.endpoint.body}${match.suffix === '' ? '' : ` ${match.suffix}`}`;
    case 'proxy': return `proxy ${match.suffix}`;
    case 'methodNotAllowed': return `405 ${match.allowed}`;
    case 'prompt': return `prompt ${match.action.name} ${match.id}`;
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
    ['GET', '/v1/indexes/a%20b', 'proxy /indexes/a%20b'],
    ['POST', '/v1/proxy/chat/completions', 'proxy /chat/completions'],
    ['DELETE', '/v1/proxy/x//y/', 'proxy /x//y/'],
    ['GET', '/v1/proxyless', 'proxy /proxyless'],
    ['PATCH', '/v1/chat/completions', '405 GET, POST, PUT, DELETE'],
    ['HEAD', '/v1/anything', '405 GET, POST, PUT, DELETE'],
    ['OPTIONS', '/v1/chat/completions', '405 GET, POST, PUT, DELETE'],
    ['GET', '/health', 'health'],
    ['GET', '/v1/health', 'health'],
    ['GET', '/ready', 'ready'],
    ['GET', '/metrics', 'metrics'],
    ['POST', '/metrics', '405 GET'],
    ['GET', '/v1/metrics', 'proxy /metrics'],
    ['GET', '/metrics/', 'unknown'],
    ['POST', '/health', '405 GET'],
    ['GET', '/', 'unknown'],
    ['GET', '/v1', 'unknown'],
    ['GET', '/v1/', 'unknown'],
    ['GET', '/v1/proxy', 'unknown'],
    ['GET', '/v1/proxy/', 'unknown'],
    ['GET', '/v2/models', 'unknown'],
    ['POST', '/v1/prompts/p/completions', 'prompt completions p'],
    ['POST', '/v1/prompts/pp-a@latest/render', 'prompt render pp-a@latest'],
    ['POST', '/v2/prompts/p/generate', 'prompt generate p'],
    ['POST', '/prompts/p/render', 'prompt render p'],
    ['GET', '/v1/prompts/p/completions', 'control'],
    ['POST', '/v1/prompts/p/completions/', 'control'],
    ['POST', '/v1/prompts//completions', 'control'],
    ['POST', '/v1/prompts/partials/render', 'control'],
    ['POST', '/v1/prompts/p/versions', 'control'],
    ['POST', '/v1/prompts', 'control'],
    ['POST', '/v1/Prompts/p/completions', 'control'],
    ['POST', '/v1/labels/p/render', 'control'],
    ['GET', '/api-keys', 'control'],
    ['GET', '/v2/api-keys/1', 'control'],
    ['GET', '/v2', 'unknown'],
    ['GET', '/v2/', 'unknown'],
    ['GET', '/v2/api-keysx', 'unknown'],
    ['GET', '/v3/api-keys', 'unknown'],
    ['GET', '/models', 'unknown'],
    ['GET', 'api-keys', 'unknown'],
    ['*', '*', 'unknown'],
    ['GET', '/v1/realtime', 'unknown'],
    ['POST', '/v1/realtime/client_secrets', 'proxy /realtime/client_secrets'],
    ['PATCH', '/v1/prompts/p', 'control'],
    ['POST', '/v1/policies/rate-limits', 'control'],
    ['GET', '/v1/policies/rate-limits/5f', 'control'],
    ['GET', '/v1/policies', 'control'],
    ['POST', '/v1/responses/resp_1', 'proxy /responses/resp_1'],
    ['GET', '/v1/responses', 'proxy /responses'],
    ['POST', '/v1/responses/compact', 'proxy /responses/compact'],
    ['DELETE', '/v1/batches/b', 'proxy /batches/b'],
    ['POST', '/v1/fine_tuning/jobs/j/pause', 'proxy /fine_tuning/jobs/j/pause'],
    ['GET', '/v1/fine_tuning/jobs', 'fineTuning none'],
    ['GET', '/v1/fine_tuning', 'proxy /fine_tuning'],
    ['GET', '/v1/fine_tuning/jobsx/j', 'proxy /fine_tuning/jobsx/j'],
    ['GET', '/v1/files/file-1/', 'proxy /files/file-1/'],
    ['GET', '/v1/files//content', 'proxy /files//content'],
    ['GET', '/v1/files/file-1/content/', 'proxy /files/file-1/content/'],
    ['GET', '/v1/files/file-1/xcontent', 'proxy /files/file-1/xcontent'],
    ['GET', '/v1/files/file-1/content/content', 'proxy /files/file-1/content/content'],
    ['GET', '/v1/files/content', 'files none /content'],
    ['GET', '/v1/filesystem/x', 'proxy /filesystem/x'],
    ['GET', '/v1/models/gpt-4o', 'models none /gpt-4o'],
    ['GET', '/v1/models/', 'proxy /models/'],
    ['DELETE', '/v1/models/ft:gpt', 'proxy /models/ft:gpt'],
    ['POST', '/v1/chat/completions/', 'proxy /chat/completions/'],
    ['POST', '/v1/Chat/Completions', 'proxy /Chat/Completions'],
    ['PUT', '/v1/proxy/a', 'proxy /a'],
    ['GET', '/v1/proxy//', 'proxy //'],
    ['GET', '/v1/proxy/v1/x', 'proxy /v1/x'],
    ['GET', '/v1//x', 'proxy //x'],
    ['GET', '/v1/constructor/x', 'proxy /constructor/x'],
    ['PATCH', '/v1/proxy/x', '405 GET, POST, PUT, DELETE'],
    ['get', '/v1/models', '405 GET, POST, PUT, DELETE'],
    ['HEAD', '/health', '405 GET'],
    ['POST', '/v1/health', '405 GET'],
    ['GET', '/v1x/models', 'unknown'],
    ['GET', '', 'unknown'],
    ['PATCH', '/other', 'unknown'],
    ['GET', '/v1/promptsmith', 'proxy /promptsmith'],
    ['POST', '/v1//integrations', 'control'],
    ['POST', '/v1///api-keys/workspace/service', 'control'],
    ['POST', '/v1/v1/integrations', 'control'],
    ['POST', '/v1/v2//integrations', 'control'],
    ['POST', '/v1/%69ntegrations', 'control'],
    ['POST', '/v1/integrations;x=1', 'control'],
    ['POST', '/v1/integrations%2f', 'control'],
    ['POST', '/v1/integrations%00', 'control'],
    ['POST', '/v1/Integrations/x', 'control'],
    ['PATCH', '/v1//integrations', 'control'],
    ['GET', '/v1//promptsmith', 'proxy //promptsmith'],
    ['GET', '/v1/v1', 'proxy /v1'],
    ['GET', '/v1//', 'proxy //'],
    ['GET', '/v1/v1beta/users', 'proxy /v1beta/users'],
    ['GET', '/v1/v1/files/users', 'proxy /v1/files/users'],
    ['GET', '/v1/x%2fusers', 'proxy /x%2fusers'],
    ['POST', '/v1/proxy/integrations', 'proxy /integrations'],
    ['POST', '/v1/proxy//integrations', 'proxy //integrations'],
    ['GET', '/v1/__proto__', 'proxy /__proto__'],
  ];
  for (const [method, path, expected] of rows) it(`takes ${method} ${path} as ${expected}`, () => assert.equal(seen(method, path), expected));

  it('gives the same object for an exact path each time', () => {
    assert.equal(matchRoute('POST', '/v1/chat/completions'), matchRoute('POST', '/v1/chat/completions'));
  });

  it('gives exact matches that cannot be changed', () => {
    for (const [method, path] of [['POST', '/v1/chat/completions'], ['GET', '/health'], ['PATCH', '/v1/x'], ['GET', '/']] as const) {
      const match = matchRoute(method, path);
      assert.ok(Object.isFrozen(match), path);
      if (match.kind === 'endpoint') assert.ok(Object.isFrozen(match.endpoint), path);
    }
  });

  it('gives errors in the dialect of the API that was called', () => {
    for (const [path, dialect] of [['/v1/messages', 'messages'], ['/v1/messages/count_tokens', 'messages'], ['/v1/responses', 'responses'], ['/v1/chat/completions', 'chat'], ['/v1/other', 'chat']] as const) {
      const match = matchRoute('POST', path);
      assert.ok('endpoint' in match && match.endpoint.dialect === dialects[dialect], path);
    }
  });

  it('gives answers of each dialect at the endpoint that the dialect names', () => {
    const paths = { chat: '/v1/chat/completions', completions: '/v1/completions', messages: '/v1/messages', responses: '/v1/responses' };
    for (const [name, dialect] of Object.entries(dialects)) {
      const match = matchRoute('POST', paths[name as DialectName]);
      assert.ok(match.kind === 'endpoint' && answerDialect(match.endpoint) === dialect, name);
    }
    for (const path of ['/v1/messages/count_tokens', '/v1/embeddings', '/v1/rerank']) {
      const match = matchRoute('POST', path);
      assert.ok(match.kind === 'endpoint' && answerDialect(match.endpoint) === null, path);
    }
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
    for (const path of ['/v1/a.b/..c', '/v1/x%20y', '/v1//x///', '/v1/models/gpt-4.1', '/v1/a%2Fb', '/v1/...', '/v1/.hidden', '/v1/a;b=c/d', '/v1/x..;', '/v1/%2e%2e%2e', '/v1/~-_!$&()*+,=:@', '/v1/%ff', '']) assert.equal(checkPath(path), undefined, path);
  });

  it('may be long and full of escapes without taking long', () => {
    const started = process.cpuUsage().user;
    assert.equal(checkPath(`/v1/${'%2fa'.repeat(16_000)}`), undefined);
    assert.equal(checkPath(`/v1/${'/'.repeat(64_000)}`), undefined);
    assert.equal(matchRoute('GET', `/v1/files/${'/'.repeat(64_000)}`).kind, 'proxy');
    assert.ok(process.cpuUsage().user - started < 500_000);
  });

  it('may not climb, hide, or break out of its line', () => {
    for (const path of ['/v1/../x', '/v1/x/..', '/v1/./x', '/v1/%2e%2e/x', '/v1/x%2f..%2fy', '/v1/.%2E', '/v1/a\\b', '/v1/a b', '/v1/a#b', '/v1/a%zz', '/v1/a%2', '/v1/\u00e9', '/v1/a\u0001', '/v1/a\u007f', '/v1/a\tb', '/v1/%2E%2e', '/v1/x%5c..%5cy', '/v1/..;x/y', '/v1/x/.;', '/v1/..%3b/y', '/v1/%', '/v1/a%-1']) {
      assert.ok(checkPath(path), path);
    }
  });
});
