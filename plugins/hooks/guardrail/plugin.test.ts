import { conformHook } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

conformHook(plugin, [
  { results: [], pass: true, deny: false },
  { results: ['pass', 'pass'], pass: true, deny: false },
  { results: ['pass', 'fail'], pass: false, deny: false },
  { results: ['error'], pass: true, deny: false },
  { results: ['error that counts', 'pass'], pass: false, deny: false },
  { params: { deny: true }, results: ['pass', 'error'], pass: true, deny: false },
  { params: { deny: true }, results: ['fail'], pass: false, deny: true },
  { params: { deny: true }, results: ['error that counts'], pass: false, deny: true },
  { params: { deny_on_success: true }, results: ['pass'], pass: true, deny: true },
  { params: { deny_on_success: true }, results: ['fail'], pass: false, deny: false },
]);
