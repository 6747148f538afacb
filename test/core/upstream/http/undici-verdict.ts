// undici as the second opinion on an answer.

import { Client } from 'undici';

export interface Answered {
  /** 0: no head was told. */
  readonly status: number;
  /** One character for each byte. */
  readonly body: string;
  /** Empty: the answer was whole. */
  readonly fault: string;
}

export async function askUndici(url: URL, method: string): Promise<Answered> {
  const client = new Client(url.origin);
  let status = 0;
  let body = '';
  try {
    const answer = await client.request({ method: method === 'HEAD' ? 'HEAD' : 'GET', path: '/' });
    status = answer.statusCode;
    for await (const chunk of answer.body) body += Buffer.from(chunk).toString('latin1');
    return { status, body, fault: '' };
  } catch (thrown) {
    return { status, body, fault: String(thrown) };
  } finally {
    await client.destroy();
  }
}
