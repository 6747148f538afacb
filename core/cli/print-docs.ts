// Prints the generated parts of the documentation, or writes them into place: `node dist/core/cli/print-docs.js [--write]`.
// A tool for developers, run by hand; the gateway never imports it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { docsBlocks, replaceBlock } from './docs-blocks.js';

const root = new URL('../../../', import.meta.url);
const isWriting = process.argv.includes('--write');

for (const block of docsBlocks()) {
  if (!isWriting) {
    console.log(`${block.file}, between <!-- ${block.name} --> and <!-- /${block.name} -->:\n\n${block.text}\n`);
    continue;
  }
  const file = new URL(block.file, root);
  const content = existsSync(file) ? replaceBlock(readFileSync(file, 'utf8'), block) : undefined;
  if (content === undefined) {
    console.error(`${block.file} has no <!-- ${block.name} --> ... <!-- /${block.name} --> markers; add them first`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, content);
    console.log(`${block.file}: wrote the ${block.name} table`);
  }
}
