import assert from 'node:assert/strict';
import { test } from 'node:test';
import { docsBlocks, readBlock, replaceBlock } from '../../../core/cli/docs-blocks.js';
import { errorCodes } from '../../../core/errors/codes.js';
import { describeSettings } from '../../../core/settings/describe.js';

test('the blocks have a row for every setting and every error code', () => {
  const [settings, errors] = docsBlocks();
  assert.ok(settings !== undefined && errors !== undefined);
  assert.equal(settings.text.split('\n').length, describeSettings().length + 2);
  assert.equal(errors.text.split('\n').length, Object.keys(errorCodes).length + 2);
});

test('a block is replaced between its markers, and nothing else is', () => {
  const content = 'before\n<!-- settings -->\nold\n<!-- /settings -->\nafter <!-- errors --> kept';
  const block = { file: 'README.md', name: 'settings', text: '| new |' };
  const replaced = replaceBlock(content, block);
  assert.equal(replaced, 'before\n<!-- settings -->\n\n| new |\n\n<!-- /settings -->\nafter <!-- errors --> kept');
  assert.equal(readBlock(replaced ?? '', 'settings'), '| new |');
  assert.equal(replaceBlock(content, { ...block, name: 'errors' }), undefined);
});
