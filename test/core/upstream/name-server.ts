// A name server on loopback (RFC 1035, as much of it as tests need): knows some names, denies others, and says nothing about the rest.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after } from 'node:test';

export interface Zone {
  readonly [name: string]: { readonly a?: readonly string[]; readonly aaaa?: readonly string[]; readonly ttl?: number } | 'silent' | 'failing' | 'half-silent';
}

export interface NameServer {
  readonly address: string;
  /** `A example.com`, in the order of their coming. */
  readonly asked: string[];
  zone: Zone;
}

/** Names that are not in the zone do not exist. Call it at the top level of a test file. */
export async function startNameServer(zone: Zone = {}): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const names: NameServer = { address: `127.0.0.1:${socket.address().port}`, asked: [], zone };
  socket.on('message', (question, from) => {
    const { name, end } = nameAt(question);
    const type = question.readUInt16BE(end) === 28 ? 'AAAA' : 'A';
    names.asked.push(`${type} ${name}`);
    const known = names.zone[name];
    if (known === 'silent' || (known === 'half-silent' && type === 'AAAA')) return;
    const entry = known === 'half-silent' ? { a: ['127.0.0.1'] } : known;
    const records = entry === undefined || typeof entry === 'string' ? [] : (type === 'A' ? entry.a ?? [] : entry.aaaa ?? []);
    const head = Buffer.from(question.subarray(0, end + 4));
    head.writeUInt16BE(0x8180 | (entry === undefined ? 3 : entry === 'failing' ? 2 : 0), 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    const ttl = typeof entry === 'object' ? entry.ttl ?? 60 : 60;
    socket.send(Buffer.concat([head, ...records.map((address) => record(address, ttl))]), from.port, from.address);
  });
  after(() => { socket.close(); });
  return names;
}

function nameAt(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function record(address: string, ttl: number): Buffer {
  const isFour = !address.includes(':');
  const data = isFour ? Buffer.from(address.split('.').map(Number)) : Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);
  const head = Buffer.alloc(12);
  // The name of the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(isFour ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
