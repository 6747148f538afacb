export * from './split-chunks.js';
