// What an integration allows of models holds however a body says its model.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestGateway } from '../support/gateway.js';
import { storedData } from '../support/stored.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream((_, response) => sendJson(response, 200, chatCompletion));
const { rows, environment } = await storedData();
const model = (slug: string, enabled: boolean): object => ({ slug, name: null, enabled, is_custom: true, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null });
for (const [id, aiProviderId] of [['listed', 'openai'], ['azure', 'azure-openai'], ['bedrock', 'bedrock'], ['gemini', 'google'], ['claude', 'anthropic']] as const) {
  await rows.integration(id, { key: 'sk-stored' }, {
    aiProviderId, customHost: `${upstream.url}/v1`, allowAllModels: false, models: [model('allowed', true), model('disabled', false)] as never,
  });
  await rows.provider(id, id);
}
await rows.integration('all', { key: 'sk-stored' }, { customHost: `${upstream.url}/v1`, models: [model('disabled', false)] as never });
await rows.provider('all', 'all');
await rows.key('key-of-models-0000000');
const gateway = await startTestGateway(environment);

async function call(path: string, provider: string, contentType: string, body: string, method = 'POST'): Promise<{ readonly status: number; readonly text: string; readonly isSent: boolean }> {
  const before = upstream.received.length;
  const response = await fetch(gateway.url + path, { method, headers: { 'x-gateway-api-key': 'key-of-models-0000000', 'x-gateway-provider': provider, 'content-type': contentType }, body });
  return { status: response.status, text: await response.text(), isSent: upstream.received.length > before };
}

const messages = '"messages":[{"role":"user","content":"x"}],"max_tokens":5,"input":"x","prompt":"x"';
const form = (...heads: readonly string[]): string => `${heads.map((head) => `--b\r\nContent-Disposition: form-data; ${head}\r\n`).join('')}--b--\r\n`;
const file = 'name="file"; filename="a.wav"\r\n\r\nsound';

describe('a list of models', () => {
  it('holds for JSON bodies that name a model twice', async () => {
    for (const provider of ['@listed', '@all']) {
      for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/responses', '/v1/embeddings', '/v1/images/generations', '/v1/proxy/chat/completions']) {
        for (const members of ['"model":"disabled","model":"allowed"', '"mod\\u0065l":"disabled","model":"allowed"', '"model":"allowed","mod\\u0065l":"disabled"']) {
          const { status, text, isSent } = await call(path, provider, 'application/json', `{${members},${messages}}`);
          assert.ok(!isSent && status >= 400 && status < 500, `${provider} ${path} ${members}: ${status} ${text}`);
        }
        assert.equal((await call(path, provider, 'application/json', `{"model":"allowed",${messages}}`)).isSent, true, path);
      }
    }
  });

  it('holds for lists of models, and for what a config puts in', async () => {
    for (const provider of ['@listed', '@all']) {
      for (const models of ['["allowed","disabled"]', '"disabled"', '[["disabled"]]', '{"0":"disabled"}']) {
        for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
          const { status, text, isSent } = await call(path, provider, 'application/json', `{"model":"allowed","models":${models},${messages}}`);
          assert.ok(!isSent && status >= 400 && status < 500, `${provider} ${path} ${models}: ${status} ${text}`);
        }
      }
      assert.equal((await call('/v1/chat/completions', provider, 'application/json', `{"model":"allowed","models":["allowed"],${messages}}`)).isSent, true);
      for (const params of ['{"Model":"disabled"}', '{"models":["disabled"]}']) {
        const before = upstream.received.length;
        const response = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST', headers: { 'x-gateway-api-key': 'key-of-models-0000000', 'x-gateway-config': `{"provider":"${provider}","override_params":${params}}`, 'content-type': 'application/json' }, body: `{"model":"allowed",${messages}}`,
        });
        assert.ok(response.status >= 400 && response.status < 500 && upstream.received.length === before, `${provider} ${params}: ${await response.text()}`);
      }
    }
  });

  it('holds for forms that name a model twice, or in a way that not all read', async () => {
    for (const provider of ['@listed', '@all']) {
      for (const path of ['/v1/audio/transcriptions', '/v1/proxy/audio/transcriptions', '/v1/images/edits']) {
        for (const heads of [
          ['name="model"\r\n\r\nallowed', 'name="model"\r\n\r\ndisabled'],
          ['name="model"\r\n\r\nallowed', 'name="model"; filename="m"\r\n\r\ndisabled'],
          ['name="model"; filename=""\r\n\r\ndisabled'],
          ['name="model"\r\n\r\nallowed', 'name="x\\"; name=\\"model"\r\n\r\ndisabled'],
          ['name="model"\r\n\r\nallowed', 'name="x"\r\n\r\n\n--b\nContent-Disposition: form-data; name="model"\n\ndisabled\n'],
          ['name=model; filename*=utf-8\'\'m\r\n\r\ndisabled'],
          ['name="model"\r\n\r\nallowed', 'name*=utf-8\'\'model\r\n\r\ndisabled'],
        ]) {
          const { status, text, isSent } = await call(path, provider, 'multipart/form-data; boundary=b', form(file, ...heads));
          assert.ok(!isSent && status >= 400 && status < 500, `${provider} ${path} ${JSON.stringify(heads)}: ${status} ${text}`);
        }
        assert.equal((await call(path, provider, 'multipart/form-data; boundary=b', form(file, 'name="model"\r\n\r\nallowed'))).isSent, true, path);
      }
    }
  });

  it('holds for bodies of other content types, and where none is named', async () => {
    const chat = `{"model":"disabled",${messages}}`;
    for (const provider of ['@listed', '@all']) {
      for (const [type, body] of [['text/plain', chat], ['application/json', `\ufeff${chat}`], ['application/octet-stream', chat]] as const) {
        const { status, text, isSent } = await call('/v1/proxy/chat/completions', provider, type, body);
        assert.ok(!isSent && status >= 400 && status < 500, `${provider} ${type}: ${status} ${text}`);
      }
    }
    assert.equal((await call('/v1/images/generations', '@listed', 'application/json', '{"prompt":"x"}')).status, 403);
    assert.equal((await call('/v1/images/edits', '@listed', 'multipart/form-data; boundary=b', form(file, 'name="prompt"\r\n\r\nx'))).status, 403);
    assert.equal((await call('/v1/files', '@listed', 'multipart/form-data; boundary=b', form(file, 'name="purpose"\r\n\r\nbatch'))).isSent, true);
  });

  it('holds where the path of a relayed call names the model', async () => {
    for (const [provider, path] of [
      ['@azure', '/deployments/disabled/chat/completions'], ['@bedrock', '/model/disabled/converse'], ['@gemini', '/v1beta/models/disabled:generateContent'],
    ] as const) {
      const { status, text, isSent } = await call(`/v1/proxy${path}`, provider, 'application/json', `{"model":"allowed",${messages}}`);
      assert.ok(!isSent && status >= 400 && status < 500, `${provider} ${path}: ${status} ${text}`);
    }
    assert.equal((await call('/v1/proxy/v1beta/models/allowed:generateContent', '@gemini', 'application/json', '{"contents":[]}')).isSent, true);
    assert.equal((await call('/v1/proxy/model/dis%61bled/converse', '@bedrock', 'application/json', '{"messages":[]}')).status, 403);
  });
});
