export * from './conform-exporter.js';
export * from './conform-storage.js';
export * from './fake-host.js';
export * from './split-chunks.js';
