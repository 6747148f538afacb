import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isOwnPort, Presence, type Occupant } from '../../../core/storage/presence.js';
import { temporaryFolder } from '../../support/child-gateway.js';

const refuse = (thrown: unknown): void => { throw thrown; };
function enter(folder: string, occupant: Occupant): Presence {
  const presence = Presence.enter(folder, occupant, refuse);
  assert.ok(presence !== null);
  return presence;
}

describe('a data directory', () => {
  it('takes any number of gateways, or one command alone', () => {
    const folder = temporaryFolder();
    const gateways = [enter(folder, 'gateway'), enter(folder, 'gateway')];
    assert.throws(() => enter(folder, 'command'), { message: `a gateway runs in ${folder} (process ${process.pid}); stop it first` });
    for (const gateway of gateways) gateway.leave();
    const command = enter(folder, 'command');
    for (const occupant of ['gateway', 'command'] as const) assert.throws(() => enter(folder, occupant), { message: `a gateway command works in ${folder} (process ${process.pid}); wait until it has ended` });
    command.leave();
    assert.deepEqual(readdirSync(join(folder, 'in-use')), []);
  });

  it('is free of those that ended without a word', () => {
    const folder = temporaryFolder();
    const { href } = new URL('../../../core/storage/presence.js', import.meta.url);
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', `import { Presence } from '${href}'; Presence.enter(${JSON.stringify(folder)}, 'gateway', () => {}); process.kill(process.pid, 'SIGKILL');`]);
    assert.equal(status, null, String(stderr));
    assert.equal(readdirSync(join(folder, 'in-use')).length, 1);
    enter(folder, 'command').leave();
    assert.deepEqual(readdirSync(join(folder, 'in-use')), []);
  });

  it('takes one of another machine for alive until it has been silent for a minute', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'in-use', 'gateway.1.1.elsewhere.0');
    mkdirSync(join(folder, 'in-use'));
    writeFileSync(file, '');
    assert.throws(() => enter(folder, 'command'), /a gateway runs in/);
    const before = Date.now() / 1000 - 61;
    utimesSync(file, before, before);
    enter(folder, 'command').leave();
  });

  it('knows which port is that of a gateway that runs in it', () => {
    const folder = temporaryFolder();
    const address = { host: '127.0.0.1', port: 4321 };
    assert.equal(isOwnPort(folder, address), false);
    const gateway = enter(folder, 'gateway');
    assert.equal(isOwnPort(folder, address), true, 'one of a build that does not tell where it listens');
    gateway.tell(address);
    for (const [asked, expected] of [[address, true], [{ ...address, host: '0.0.0.0' }, true], [{ ...address, host: 'localhost' }, true], [{ ...address, host: '::1' }, false], [{ ...address, host: '127.0.0.2' }, false], [{ ...address, port: 4322 }, false]] as const) assert.equal(isOwnPort(folder, asked), expected, JSON.stringify(asked));
    gateway.tell({ host: 'localhost', port: 4321 });
    for (const host of ['127.0.0.1', '::1', 'LOCALHOST']) assert.equal(isOwnPort(folder, { host, port: 4321 }), true, host);
    gateway.leave();
    assert.equal(isOwnPort(folder, address), false);
  });

  it('that has no room keeps no gateway from its start', () => {
    const told: unknown[] = [];
    assert.equal(Presence.enter('/proc/none', 'gateway', (thrown) => told.push(thrown)), null);
    assert.equal(told.length, 1);
    assert.throws(() => Presence.enter('/proc/none', 'command', refuse), /cannot be written/);
  });
});
