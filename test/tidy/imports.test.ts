import assert from 'node:assert/strict';
import { builtinModules } from 'node:module';
import { describe, test } from 'node:test';
import ts from 'typescript';
import { hiddenLoadsOf, importsOf, socketGlobalsOf, type Import } from './arrows.js';
import { isTest, parseSource, placeOf, readText, sources, walk, type Source } from './sources.js';

/** core/README.md explains them. A folder imports only from rings below its own. */
const rings: readonly (readonly string[])[] = [
  ['errors'],
  ['settings', 'dialect', 'declare'],
  ['body', 'storage', 'telemetry'],
  ['prompts'],
  ['exchange', 'snapshot', 'upstream', 'workers'],
  ['auth', 'config', 'limits', 'logs', 'registry', 'stream'],
  ['plan', 'secrets'],
  ['pipeline'],
  ['endpoints', 'control-plane'],
  ['router', 'server'],
  ['openapi'],
  // The files directly in core are one folder here: ''.
  ['', 'cli'],
];
/** Arrows inside a ring: the edge routes, the entry runs the command line and the command line the app. */
const neighbours = ['settings > declare', 'server > router', ' > cli', 'cli > '];

const edgeFile = 'core/server/uws.ts';
/** Of the gateway; and the command line, which calls the gateway that its user names. */
const socketFiles = ['core/upstream/egress.ts', 'core/upstream/system-names.ts', 'core/cli/control-client.ts'];
/** May start a process: the one that ends this one. */
const processFile = 'core/process-end.ts';
/** May load modules whose names only the run knows: plugins by id, worker modules by URL, the edge library by platform, models where they are installed. */
const loaderFiles = [edgeFile, 'core/registry/registry.ts', 'core/registry/packages.ts', 'core/workers/entry.ts', 'plugins/caches/semantic/engine.ts', 'plugins/caches/semantic/frame-index.ts'];

const socketModules = ['net', 'tls', 'http', 'https', 'http2', 'dgram', 'dns', 'dns/promises', 'inspector', 'inspector/promises', 'cluster', 'child_process', 'repl', 'undici'];
/** What these modules have that opens nothing. */
const plainNames: Readonly<Record<string, readonly string[] | undefined>> = { net: ['isIP', 'isIPv4', 'isIPv6', 'BlockList'], http: ['STATUS_CODES'], inspector: ['Session'] };
/** Libraries of the product that open no socket by themselves. A new one is added here after someone looked. */
const quietLibraries = ['@gateway/plugin-sdk', '@opentelemetry/api', '@opentelemetry/otlp-transformer', '@opentelemetry/resources', '@opentelemetry/sdk-metrics', '@opentelemetry/sdk-trace', '@pydantic/genai-prices', '@smithy/eventstream-codec', '@smithy/signature-v4', 'ajv', 'ajv-formats', 'eld', 'eventsource-parser', 'find-my-way', 'gpt-tokenizer', 'jose', 'jsonc-parser', 'libphonenumber-js', 'lmdb', 'lru-cache', 'msgpackr', 'mustache', 'openid-client', 'piscina', 'prom-client', 're2js', 'yaml'];

const product = sources.filter(({ path }) => !path.startsWith('test/') && !path.startsWith('bench/') && !isTest(path));
const imports = sources.flatMap(importsOf);
const topOf = (path: string): string => path.split('/')[0] ?? '';
const withoutPrefix = (specifier: string): string => specifier.replace(/^node:/, '');
const isBuiltin = (specifier: string): boolean => specifier.startsWith('node:') || builtinModules.includes(specifier);
const libraryOf = (specifier: string): string => specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
const describeImport = ({ place, specifier }: Import): string => `${place} imports ${specifier}`;

function none(faults: readonly string[]): void {
  assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);
}

const coreFolderOf = (path: string): string => path.split('/').length === 2 ? '' : path.split('/')[1] ?? '';
const ringOf = (folder: string): number => rings.findIndex((ring) => ring.includes(folder));

function coreFault(arrow: Import): string | undefined {
  if (!arrow.from.startsWith('core/') || !arrow.isRelative) return undefined;
  if (!arrow.target.startsWith('core/')) return `${describeImport(arrow)}, which is not in core`;
  const [from, to] = [coreFolderOf(arrow.from), coreFolderOf(arrow.target)];
  const [fromRing, toRing] = [ringOf(from), ringOf(to)];
  if (fromRing === -1 || toRing === -1) return `${describeImport(arrow)}: core/${fromRing === -1 ? from : to} has no ring yet; give it one here and in core/README.md`;
  return from === to || toRing < fromRing || neighbours.includes(`${from} > ${to}`) ? undefined : `${describeImport(arrow)}: ring ${fromRing} may not reach ring ${toRing}`;
}

/** The plugin's own folder: providers/groq, plugins/strategies/fallback. */
const ownFolderOf = (path: string): string => path.split('/').slice(0, path.startsWith('providers/') ? 2 : 3).join('/');

/** The seed of all that tests draw at random. */
const isSeed = ({ from, target }: Import): boolean => isTest(from) && /^test\/support\/(?:fast-check|seed)\.ts$/.test(target);

function pluginFault(arrow: Import): string | undefined {
  if (!/^(?:plugins|providers)\//.test(arrow.from)) return undefined;
  if (arrow.isRelative) {
    const isOwn = arrow.target.startsWith(`${ownFolderOf(arrow.from)}/`);
    const isCommon = /^(?:providers|plugins(?:\/[^/]+)?)\/common\//.test(arrow.target) && topOf(arrow.target) === topOf(arrow.from);
    return isOwn || isCommon || isSeed(arrow) ? undefined : `${describeImport(arrow)}: only its own folder and common/ are allowed`;
  }
  const isTestKit = arrow.specifier === '@gateway/plugin-sdk/testing';
  return isTestKit && !isTest(arrow.from) ? `${describeImport(arrow)} outside a test` : undefined;
}

/** A package of its own, as a third party has it. */
const templateFolder = 'plugin-sdk/template/';

function templateFault(arrow: Import): string | undefined {
  if (arrow.isRelative) return arrow.target.startsWith(templateFolder) ? undefined : `${describeImport(arrow)}, which is not copied out with it`;
  const isKit = arrow.specifier === '@gateway/plugin-sdk/testing';
  if (isBuiltin(arrow.specifier) || isKit) return isTest(arrow.from) ? undefined : `${describeImport(arrow)} outside a test`;
  return arrow.specifier === '@gateway/plugin-sdk' ? undefined : `${describeImport(arrow)}, which its package.json does not list`;
}

function sdkFault(arrow: Import): string | undefined {
  if (!arrow.from.startsWith('plugin-sdk/')) return undefined;
  if (arrow.from.startsWith(templateFolder)) return templateFault(arrow);
  if (arrow.isRelative) return arrow.target.startsWith('plugin-sdk/') ? undefined : `${describeImport(arrow)}, which is not in the SDK`;
  if (isBuiltin(arrow.specifier)) return undefined;
  const manifest = JSON.parse(readText('plugin-sdk/package.json'));
  const isListed = libraryOf(arrow.specifier) in { ...manifest.dependencies, ...manifest.peerDependencies };
  return isListed && !arrow.from.startsWith('plugin-sdk/src/') ? undefined : `${describeImport(arrow)}: the SDK imports nothing${isListed ? ' in src' : ' its package.json does not list'}`;
}

/** The bench measures the very attacks that the tests survive. */
const sharedWithBench = ['test/fault/hostile-package/', 'test/core/registry/plugin-package.'];

function testFault(arrow: Import): string | undefined {
  const top = topOf(arrow.target);
  if (!arrow.isRelative || topOf(arrow.from) === 'test' || isSeed(arrow)) return undefined;
  if (topOf(arrow.from) === 'bench' && sharedWithBench.some((place) => arrow.target.startsWith(place))) return undefined;
  const isOutside = (top === 'test' || top === 'bench') && topOf(arrow.from) !== top;
  return isOutside || (isTest(arrow.target) && !isTest(arrow.from)) ? describeImport(arrow) : undefined;
}

const edgeLibrary = /^(?:uWebSockets\.js|uwebsockets|@uwsjs\/.*)$/;

function edgeFaults(source: Source): string[] {
  if (source.path === edgeFile || source.path.startsWith('bench/load/') || source.path.startsWith('test/tidy/')) return [];
  const found = importsOf(source).filter(({ specifier }) => edgeLibrary.test(specifier)).map(describeImport);
  walk(source, (node) => {
    if ((ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && node.text.startsWith('@uwsjs/')) found.push(`${placeOf(source, node)} names ${node.text}`);
  });
  return found;
}

function socketFaults(source: Source): string[] {
  const isBound = /^(?:core|plugins|providers|plugin-sdk\/src)\//.test(source.path) && !isTest(source.path);
  if (!isBound || socketFiles.includes(source.path)) return [];
  const faults = importsOf(source).filter(({ specifier, names }) => {
    const name = withoutPrefix(specifier);
    const plain = plainNames[name];
    if (plain !== undefined) return names.length === 0 || !names.every((each) => plain.includes(each));
    if (name === 'child_process' && source.path === processFile) return false;
    return socketModules.includes(name) || name.startsWith('undici/');
  }).map(describeImport);
  faults.push(...socketGlobalsOf(source).map((place) => `${place} uses a global that opens sockets`));
  if (!loaderFiles.includes(source.path)) faults.push(...hiddenLoadsOf(source).map((place) => `${place} loads a module whose name is not written there`));
  return faults;
}

describe('imports', () => {
  test('are found at all', () => {
    assert.ok(sources.length > 100, `only ${sources.length} sources`);
    assert.ok(imports.some(({ from, target }) => from === 'core/app.ts' && target === 'core/thread.ts'));
  });

  test('in core go only to rings below', () => none(imports.flatMap((arrow) => coreFault(arrow) ?? [])));
  test('of plugins and providers stay with the SDK and their own folder', () => none(imports.flatMap((arrow) => pluginFault(arrow) ?? [])));
  test('of the SDK stay inside it', () => none(imports.flatMap((arrow) => sdkFault(arrow) ?? [])));
  test('never lead to tests or the bench from outside', () => none(imports.flatMap((arrow) => testFault(arrow) ?? [])));
  test('of the edge library are in one file', () => none(sources.flatMap(edgeFaults)));
  test('that could open a socket are in the egress files alone', () => none(product.flatMap(socketFaults)));

  test('of the product are dependencies that someone has looked at', () => {
    const { dependencies } = JSON.parse(readText('package.json'));
    none(product.filter(({ path }) => /^(?:core|plugins|providers)\//.test(path)).flatMap(importsOf).flatMap((arrow) => {
      if (arrow.isRelative || isBuiltin(arrow.specifier)) return [];
      const library = libraryOf(arrow.specifier);
      if (!(library in dependencies) && !edgeLibrary.test(library)) return [`${describeImport(arrow)}, which is not a dependency in package.json`];
      return quietLibraries.includes(library) || socketFiles.includes(arrow.from) ? [] : [`${describeImport(arrow)}: list it in quietLibraries if it opens no socket`];
    }));
  });
});

describe('the rules themselves', () => {
  const arrowsIn = (path: string, text: string): Import[] => importsOf(parseSource(path, text));
  const faultsIn = (fault: (arrow: Import) => string | undefined, path: string, text: string): number => arrowsIn(path, text).filter((arrow) => fault(arrow) !== undefined).length;

  test('refuse arrows upwards, sideways and out of core', () => {
    assert.equal(faultsIn(coreFault, 'core/body/x.ts', "import { a } from '../plan/plan.js';"), 1);
    assert.equal(faultsIn(coreFault, 'core/body/x.ts', "import type { a } from '../storage/a.js';"), 1);
    assert.equal(faultsIn(coreFault, 'core/body/x.ts', "export * from '../app.js';"), 1);
    assert.equal(faultsIn(coreFault, 'core/body/x.ts', "type T = import('../plan/plan.js').Plan;"), 1);
    assert.equal(faultsIn(coreFault, 'core/registry/x.ts', "await import('../../providers/groq/provider.js');"), 1);
    assert.equal(faultsIn(coreFault, 'core/body/x.ts', "import { a } from '../novel/a.js';"), 1);
    assert.equal(faultsIn(coreFault, 'core/plan/x.ts', "import { a } from '../body/scan.js'; import { b } from './b.js';"), 0);
  });

  test('refuse plugins that import core or each other', () => {
    assert.equal(faultsIn(pluginFault, 'providers/a/provider.ts', "import b from '../b/provider.js';"), 1);
    assert.equal(faultsIn(pluginFault, 'plugins/hooks/a/plugin.ts', "import b from '../../strategies/b/plugin.js';"), 1);
    assert.equal(faultsIn(pluginFault, 'providers/a/provider.ts', "import b from '../../core/body/scan.js';"), 1);
    assert.equal(faultsIn(pluginFault, 'providers/a/provider.ts', "import b from '@gateway/plugin-sdk/testing';"), 1);
    assert.equal(faultsIn(pluginFault, 'providers/a/provider.ts', "import b from '../common/b.js'; import c from './c.js'; import d from '@gateway/plugin-sdk';"), 0);
  });

  test('refuse every way to a socket', () => {
    const refused = [
      "import { connect } from 'node:net';", "import net from 'net';", "import * as net from 'node:net';", "import { isIP, connect } from 'node:net';", "import { STATUS_CODES, request } from 'node:http';", "import 'node:tls';",
      "import { request } from 'https';", "await import('node:http2');", "import { lookup } from 'node:dns/promises';", "import { spawn } from 'node:child_process';", "import { fetch } from 'undici';",
      "await fetch('http://x');", "const get = fetch;", "globalThis.fetch('x');", "new WebSocket('ws://x');", "new EventSource('x');", "const tools = { fetch };",
      'const name = "node:net"; await import(name);', "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); require('node:net');",
      "process.getBuiltinModule('node:net');", "eval('x');", "new Function('x')();", "export { request } from 'node:http';",
    ];
    for (const text of refused) assert.notDeepEqual(socketFaults(parseSource('core/plan/x.ts', text)), [], text);
    for (const text of refused) assert.deepEqual(socketFaults(parseSource('core/upstream/egress.ts', text)), [], text);
    for (const text of ["import { isIP, BlockList } from 'node:net';", "import { STATUS_CODES } from 'node:http';", "host.fetch({ url });", 'const x = { fetch: 1 };', 'interface H { fetch(): void }', 'class H { fetch() {} }', "import { readFileSync } from 'node:fs';"]) {
      assert.deepEqual(socketFaults(parseSource('core/plan/x.ts', text)), [], text);
    }
  });

  test('refuse the edge library elsewhere', () => {
    assert.equal(edgeFaults(parseSource('core/app.ts', "import uws from 'uWebSockets.js';")).length, 1);
    assert.equal(edgeFaults(parseSource('core/app.ts', 'load(`@uwsjs/${platform}`);')).length, 1);
    assert.equal(edgeFaults(parseSource('core/app.ts', "throw new Error('no uWebSockets.js');")).length, 0);
  });

  test('refuse product code that imports tests, and SDK code that imports anything', () => {
    assert.equal(faultsIn(testFault, 'core/app.ts', "import { x } from '../test/support/gateway.js';"), 1);
    assert.equal(faultsIn(testFault, 'plugins/caches/a/plugin.test.ts', "import fc from '../../../test/support/fast-check.js';"), 0);
    assert.equal(faultsIn(testFault, 'plugins/caches/a/plugin.ts', "import fc from '../../../test/support/fast-check.js';"), 1);
    assert.equal(faultsIn(testFault, 'providers/a/a.test.ts', "import { x } from '../../bench/main.js';"), 1);
    assert.equal(faultsIn(testFault, 'plugins/storage/a/plugin.ts', "import { x } from './test-writer.js';"), 1);
    assert.equal(faultsIn(testFault, 'plugins/storage/a/plugin.test.ts', "import { x } from './test-writer.js';"), 0);
    assert.equal(faultsIn(testFault, 'test/a.test.ts', "import { x } from '../core/app.js'; import { y } from '../bench/main.js';"), 0);
    assert.equal(faultsIn(sdkFault, 'plugin-sdk/src/x.ts', "import { x } from '../../core/app.js'; import { y } from 'ajv';"), 2);
    assert.equal(faultsIn(sdkFault, 'plugin-sdk/src/x.ts', "import { x } from './x.js'; import type { y } from 'node:http';"), 0);
    assert.equal(faultsIn(sdkFault, 'plugin-sdk/template/src/x.ts', "import { x } from '@gateway/plugin-sdk'; import { y } from './y.js';"), 0);
    assert.equal(faultsIn(sdkFault, 'plugin-sdk/template/src/x.ts', "import { x } from '../../src/x.js'; import { y } from 'ajv'; import { z } from 'node:fs'; import { k } from '@gateway/plugin-sdk/testing';"), 4);
    assert.equal(faultsIn(sdkFault, 'plugin-sdk/template/src/x.test.ts', "import { z } from 'node:fs'; import { k } from '@gateway/plugin-sdk/testing';"), 0);
  });
});
