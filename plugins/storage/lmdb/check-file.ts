// LMDB maps its file into memory and trusts it: a file that is not an LMDB file, or was cut off, ends the process with a signal, past any
// catch. So the head of the file is read first. Layout: lmdb.h and mdb.c of LMDB's 1.0 line (data version 2), 64-bit.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

const magic = 0xbeefc0de;
const dataVersion = 2;
const headerBytes = 24;
const metaBytes = 160;
const pageBytesMin = 512;
const pageBytesMax = 65_536;
/** Page number of an empty tree. */
const noPage = 0xffff_ffff_ffff_ffffn;

interface Meta {
  readonly pageBytes: number;
  /** Root pages of the trees of free pages and of rows. */
  readonly roots: readonly bigint[];
  /** Pages that the trees hold. */
  readonly pages: bigint;
  readonly transaction: bigint;
}

/** Why LMDB must not open this file; undefined when it may, also when there is none yet. */
export function faultOfFile(path: string): string | undefined {
  // The layout below is that of the machines we run on; elsewhere LMDB's own checks have to do.
  if (endianness() !== 'LE') return undefined;
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
  try {
    if (fstatSync(file).size === 0) return undefined;
    const first = readMeta(file, 0);
    if (first === undefined) return 'it does not begin as an LMDB file does';
    const second = readMeta(file, first.pageBytes);
    if (second === undefined) return 'its second header is missing or damaged';
    const newest = second.transaction > first.transaction ? second : first;
    // After the headers: another process may be writing, and a commit makes the file longer before it tells of its pages.
    const pages = BigInt(Math.floor(fstatSync(file).size / first.pageBytes));
    if (newest.pages + 2n > pages || newest.roots.some((root) => root !== noPage && root >= pages)) return 'it is shorter than its rows; it was cut off';
    return undefined;
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, at: number): Meta | undefined {
  const bytes = Buffer.alloc(metaBytes);
  if (readSync(file, bytes, 0, metaBytes, at) < metaBytes) return undefined;
  if (bytes.readUInt32LE(headerBytes) !== magic || bytes.readUInt32LE(headerBytes + 4) !== dataVersion) return undefined;
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < pageBytesMin || pageBytes > pageBytesMax || (pageBytes & (pageBytes - 1)) !== 0) return undefined;
  // Two tree records (free pages, rows) of 48 bytes: size, flags, depth, branch, leaf and overflow pages, entries, root.
  const treePages = (tree: number): bigint => bytes.readBigUInt64LE(tree + 8) + bytes.readBigUInt64LE(tree + 16) + bytes.readBigUInt64LE(tree + 24);
  return {
    pageBytes,
    roots: [bytes.readBigUInt64LE(88), bytes.readBigUInt64LE(136)],
    pages: treePages(48) + treePages(96),
    transaction: bytes.readBigUInt64LE(152),
  };
}
