// What checks call: a server for webhooks, logs, pages, images and keys, and tokens signed with one of those keys.

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { sendJson, startUpstream, type Answer } from '../../support/upstream.js';
import type { Surroundings } from './check-case.js';

/** One pixel. */
const image = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');

/** Every text of a body with the word in it, changed. */
const rewritten = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('judge this', 'JUDGED this'));

export async function startSurroundings(): Promise<Surroundings> {
  const pair = await generateKeyPair('RS256');
  const stranger = await generateKeyPair('RS256');
  const keys = { keys: [{ ...await exportJWK(pair.publicKey), kid: 'one', alg: 'RS256', use: 'sig' }] };
  const sign = (expires: string, key: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']): Promise<string> =>
    new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid: 'one' }).setSubject('ann').setIssuedAt().setExpirationTime(expires).sign(key);
  const posted: any[] = [];
  const answers: Record<string, Answer> = {
    '/accept': (_, response) => sendJson(response, 200, { verdict: true }),
    '/reject': (_, response) => sendJson(response, 200, { verdict: false, data: { reason: 'because' } }),
    '/rewrite': (received, response) => {
      const { request, response: answer, eventType } = received.json() as { request: { json: unknown }; response: { json: unknown }; eventType: string };
      const transformedData = eventType === 'beforeRequestHook' ? { request: { json: rewritten(request.json) } } : { response: { json: rewritten(answer.json) } };
      sendJson(response, 200, { verdict: true, transformedData });
    },
    '/collect': (_, response) => sendJson(response, 202, {}),
    '/broken': (_, response) => sendJson(response, 503, { error: 'broken' }),
    '/page': (_, response) => { response.writeHead(200, { 'content-type': 'text/html' }); response.end(); },
    '/image.png': (_, response) => { response.writeHead(200, { 'content-type': 'image/png' }); response.end(image); },
    '/keys': (_, response) => sendJson(response, 200, keys),
  };
  const server = await startUpstream((received, response, request) => {
    if (received.method === 'POST') posted.push(received.json());
    const answer = answers[received.url];
    if (answer === undefined) sendJson(response, 404, { error: 'gone' });
    else answer(received, response, request);
  });
  return {
    url: server.url, keys, image, posted,
    token: await sign('1h', pair.privateKey), expiredToken: await sign('-1h', pair.privateKey), forgedToken: await sign('1h', stranger.privateKey),
  };
}
