import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineExporter, type LogReader } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { exporterParams } from '../../core/exporter-params.js';
import { Registry } from '../../core/registry/registry.js';

const registry = new Registry({ packages: [], fromFolder: process.cwd(), hostOf: () => fakeHost() });
const settings = { logStoreBytesMax: 5_000_000, logStoreDays: 7 };
const reader = (): LogReader => assert.fail('nobody reads here');
const pluginWith = (properties: Readonly<Record<string, { readonly type: 'integer'; readonly default: number }>>, isRead: boolean) =>
  defineExporter({ title: 'A', describe: 'a', params: { type: 'object', properties }, create: () => ({ export: () => undefined }), ...(isRead ? { reader } : {}) });
const integer = { type: 'integer', default: 1 } as const;
const paramsOf = (plugin: ReturnType<typeof pluginWith>, params: Readonly<Record<string, unknown>> = {}): unknown => exporterParams({ registry, settings }, plugin, { id: 'acme.a', params });

describe('the parameters of an exporter', () => {
  it('have from the settings how much an exporter keeps that can be read, as far as its entry does not say', async () => {
    const store = await registry.find('exporter', 'store');
    assert.ok(store !== undefined);
    const { bytesMax, ageDaysMax } = exporterParams({ registry, settings }, store, { id: 'store', params: { bytesMax: 2_000_000 } });
    assert.deepEqual({ bytesMax, ageDaysMax }, { bytesMax: 2_000_000, ageDaysMax: 7 });
    assert.deepEqual(paramsOf(pluginWith({ bytesMax: integer, ageDaysMax: integer, other: integer }, true)), { bytesMax: 5_000_000, ageDaysMax: 7, other: 1 });
  });

  it('have nothing from them where it has no such parameter, or nothing to read', () => {
    assert.deepEqual(paramsOf(pluginWith({ ageDaysMax: integer }, true)), { ageDaysMax: 7 });
    assert.deepEqual(paramsOf(pluginWith({ bytesMax: integer, ageDaysMax: integer }, false)), { bytesMax: 1, ageDaysMax: 1 });
  });

  it('are refused with the name of the exporter', () => {
    assert.throws(() => paramsOf(pluginWith({ bytesMax: integer }, true), { bytesMax: 'many' }), { code: 'SETTINGS_INVALID', message: 'exporter acme.a: bytesMax must be integer' });
  });
});
