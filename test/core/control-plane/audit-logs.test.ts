import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAudit } from '../../../core/control-plane/resources/audit-logs/read-audit.js';
import { Change } from '../../../core/storage/change.js';
import { startControl } from '../../support/control.js';

const workspace = '/v1/workspaces/first-workspace';
const minuteMs = 60_000;

describe('reading the audit log', () => {
  it('gives pages between two times, newest first', async () => {
    const control = await startControl();
    const start = control.clock.nowMs;
    for (let index = 0; index < 40; index += 1) {
      control.clock.nowMs = start + index * minuteMs;
      await control.call('PUT', workspace, { name: `Name ${index}` });
    }
    const at = (minute: number): string => new Date(start + minute * minuteMs).toISOString();
    const page = async (query: string) => (await control.call('GET', `/v1/audit-logs?start_time=${at(10)}&end_time=${at(19)}&${query}`)).body as { records: { timestamp: string; request_body: string }[]; total: number; has_more: boolean };
    const first = await page('page_size=4');
    assert.deepEqual([first.total, first.has_more, first.records.map(({ timestamp }) => timestamp)], [10, true, [at(19), at(18), at(17), at(16)]]);
    const last = await page('page_size=4&current_page=2');
    assert.deepEqual([last.has_more, last.records.map(({ request_body }) => request_body)], [false, ['{"name":"Name 11"}', '{"name":"Name 10"}']]);
    assert.equal((await page('request_id=call-12')).total, 1);
    assert.equal((await page('page_size=0')).records.length, 0);
    assert.equal((await page('workspace_id=first-workspace')).total, 0);
  });

  it('of many entries reads those between the times alone, and counts no more than it may', async () => {
    const control = await startControl();
    const { repository } = control;
    const change = new Change();
    for (let index = 0; index < 12_000; index += 1) change.audit.push({ timestamp: index < 6_000 ? 1 : 100_000_000 });
    // Ten commits: places are found by commit.
    for (let start = 0; start < change.audit.length; start += 1_200) {
      const part = new Change();
      part.audit.push(...change.audit.slice(start, start + 1_200));
      await repository.commit(part);
    }
    let looked = 0;
    const count = (): boolean => { looked += 1; return true; };
    const late = await readAudit(repository, { startMs: 90_000_000, endMs: 200_000_000, offset: 0, limit: 1 }, count);
    assert.deepEqual([late.total, late.isCut, looked], [6_000, false, 6_000]);
    const all = await readAudit(repository, { startMs: 0, endMs: 200_000_000, offset: 9_999, limit: 5 }, () => true);
    assert.deepEqual([all.total, all.isCut, all.entries.length], [10_000, true, 1]);
  });
});
