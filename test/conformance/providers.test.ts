// Every folder below providers/ is held to the contract, whoever adds it: no list is kept here. The catalogue table is read, not trusted.

import { endpointNames, type EndpointSpec, type ObjectSchema, type ParamRule, type ProviderPlugin } from '@gateway/plugin-sdk';
import { Ajv } from 'ajv';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseId } from '../../core/registry/ids.js';

const here = dirname(fileURLToPath(import.meta.url));
/** Beside this file's own output, whatever the output folder is called. */
const built = join(here, '../../providers');
const sourceRoot = join(findRoot(here), 'providers');

const importMsMax = 50;
/** The machine may be busy: one quick import out of these says that importing is quick. */
const importTriesMax = 50;
const authTypes = ['bearer', 'none', 'signed', 'header', 'query'];
/** Where a definition may hold a function. */
const functionPlace = /^(?:baseUrl|error|sign|transport|endpoints\.[a-zA-Z]+(?:\.(?:request|response|stream|headers|framing\.decoder))?)$/;
const headerName = /^[a-z0-9-]+$/;

function findRoot(from: string): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'gateway') return from;
  const above = dirname(from);
  assert.notEqual(above, from, 'no package.json of the gateway above this file');
  return findRoot(above);
}

const foldersIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== 'common').map((entry) => entry.name).sort();

const moduleOf = (id: string): string => pathToFileURL(join(built, id, 'provider.js')).href;

const ids = foldersIn(built);
const plugins = new Map<string, ProviderPlugin>();
for (const id of ids) plugins.set(id, (await import(moduleOf(id))).default);

const all = [...plugins];
const none = (faults: readonly string[]): void => assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);

/** Paths of the functions in a definition: `transport`, `endpoints.messages.request`. */
function functionsIn(value: unknown, path = ''): string[] {
  if (typeof value === 'function') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => functionsIn(inner, path === '' ? name : `${path}.${name}`));
}

const templatesIn = (text: string): string[] => [...text.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] ?? '');

function baseUrlFaults(plugin: ProviderPlugin): string[] {
  const { baseUrl } = plugin;
  if (baseUrl === '' || typeof baseUrl === 'function') return [];
  const filled = baseUrl.replace(/\{\w+\}/g, 'x');
  if (!URL.canParse(filled)) return [`baseUrl ${baseUrl} is not a URL`];
  const url = new URL(filled);
  const faults: string[] = [];
  if (url.protocol !== 'https:') faults.push(`baseUrl ${baseUrl} is not https`);
  if (baseUrl.endsWith('/')) faults.push(`baseUrl ${baseUrl} ends in a slash`);
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.port !== '') faults.push(`baseUrl ${baseUrl} holds more than a host and a path`);
  for (const name of templatesIn(baseUrl)) if (!(name in plugin.params.properties)) faults.push(`baseUrl names {${name}}, which params does not have`);
  return faults;
}

function authFaults(plugin: ProviderPlugin): string[] {
  const { auth } = plugin;
  const faults: string[] = [];
  if (!authTypes.includes(auth.type)) return [`auth type ${String(auth.type)} is unknown`];
  const known = auth.type === 'header' ? ['type', 'name', 'prefix'] : auth.type === 'query' ? ['type', 'name'] : auth.type === 'signed' ? ['type', 'covers'] : auth.type === 'bearer' ? ['type', 'isOptional'] : ['type'];
  for (const name of Object.keys(auth)) if (!known.includes(name)) faults.push(`auth of type ${auth.type} has no ${name}`);
  if ((auth.type === 'header' && !headerName.test(auth.name)) || (auth.type === 'query' && auth.name === '')) faults.push('auth has no usable name');
  if ((auth.type === 'signed') !== (plugin.sign !== undefined)) faults.push('auth type signed and sign() go together');
  if (auth.type !== 'none' && auth.type !== 'signed' && plugin.params.properties.api_key === undefined) faults.push('the API key it sends is not a parameter (api_key)');
  return faults;
}

function headerFaults(plugin: ProviderPlugin): string[] {
  return Object.entries(plugin.headers ?? {}).flatMap(([name, value]) => [
    ...(headerName.test(name) ? [] : [`header ${name} is not in lower case`]),
    ...templatesIn(value).filter((credential) => !(credential in plugin.params.properties)).map((credential) => `header ${name} names {${credential}}, which params does not have`),
  ]);
}

function ruleFaults(place: string, rule: ParamRule, name: string): string[] {
  const faults: string[] = [];
  for (const key of Object.keys(rule)) if (!['rename', 'default', 'min', 'max', 'refuse', 'without'].includes(key)) faults.push(`${place} has an unknown rule ${key}`);
  if (Object.keys(rule).length === 0) faults.push(`${place} says nothing`);
  if (rule.refuse !== undefined && (rule.refuse === '' || Object.keys(rule).some((key) => key !== 'refuse' && key !== 'without'))) faults.push(`${place}: refuse needs a reason, and nothing but without beside it`);
  if (rule.rename === name || rule.rename === '') faults.push(`${place} renames to itself`);
  if (rule.min !== undefined && rule.max !== undefined && rule.min > rule.max) faults.push(`${place} lets nothing through`);
  return faults;
}

function endpointFaults(plugin: ProviderPlugin): string[] {
  return Object.entries(plugin.endpoints).flatMap(([name, spec]) => {
    if (name === 'proxy' || !(endpointNames as readonly string[]).includes(name)) return [`endpoint ${name} is not in the contract`];
    // A function chooses by call: fixtures show what it chooses.
    if (typeof spec === 'function') return [];
    const { path, streamPath = path, params = {} }: EndpointSpec = typeof spec === 'string' ? { path: spec } : spec ?? { path: '' };
    const faults: string[] = [];
    const { roles } = typeof spec === 'string' ? {} : spec ?? {};
    if (roles !== undefined && (name !== 'chatCompletions' || Object.entries(roles).some(([from, to]) => from === to || to === ''))) faults.push(`roles of ${name} must belong to chatCompletions and change something`);
    for (const each of new Set([path, streamPath])) {
      const [bare = ''] = each.split('?');
      if (!bare.startsWith('/') || bare.endsWith('/') || /[#\s]|\/\//.test(each)) faults.push(`path ${each} of ${name} must be /like/this`);
      if (templatesIn(each).some((template) => template !== 'model' && !(template in plugin.params.properties))) faults.push(`path ${each} of ${name} may name {model} and parameters only`);
    }
    for (const [field, rule] of Object.entries(params)) faults.push(...ruleFaults(`${name}.params.${field}`, rule, field));
    return faults;
  });
}

/** An object schema is closed unless it opens itself; a provider's parameters never do. */
function schemaFaults(params: ObjectSchema): string[] {
  if (params.type !== 'object' || (params.additionalProperties !== undefined && params.additionalProperties !== false)) return ['params must be a closed object schema'];
  try {
    const validate = new Ajv({ strict: true, keywords: ['secret'] }).compile({ ...params, additionalProperties: false });
    return validate({ 'not-a-parameter': 'x' }) ? ['params takes what it does not name'] : [];
  } catch (thrown) {
    return [`params does not compile: ${String(thrown)}`];
  }
}

function dataFaults(plugin: ProviderPlugin): string[] {
  const functions = functionsIn(plugin);
  if (functions.length > 0) return functions.filter((path) => !functionPlace.test(path)).map((path) => `${path} is a function`);
  try {
    assert.deepStrictEqual(JSON.parse(JSON.stringify(plugin)), plugin);
    return [];
  } catch {
    return ['it is changed by a turn through JSON'];
  }
}

function faultsOf(plugin: ProviderPlugin): string[] {
  const faults = [...dataFaults(plugin), ...baseUrlFaults(plugin), ...authFaults(plugin), ...headerFaults(plugin), ...endpointFaults(plugin), ...schemaFaults(plugin.params)];
  if (plugin.kind !== 'provider' || plugin.contract !== 1) faults.push('kind must be provider, contract 1');
  if ([plugin.title, plugin.describe].some((text) => String(text).trim() === '')) faults.push('title and describe must say something');
  return faults;
}

const isFolderName = (name: string): boolean => /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && parseId(name)?.name === name;

/** Names and paths as the provider's own README lists them. */
function readmeFaults(plugin: ProviderPlugin, text: string): string[] {
  const faults: string[] = [];
  const links = [...text.matchAll(/https:\/\/[^\s<>)`\]]+/g)].map((match) => match[0]);
  if (!/^# \S/.test(text)) faults.push('README.md has no heading');
  if (plugin.transport !== undefined) return faults;
  if (typeof plugin.baseUrl === 'function' ? !/^- Base URL: `https:\/\//m.test(text) : plugin.baseUrl === '' ? !text.includes('`custom_host`') : !text.includes(`Base URL: \`${plugin.baseUrl}\``)) faults.push('README.md does not name the base URL, or that a custom_host is needed');
  const [, documentation = ''] = /^- Documentation: <([^>]+)>$/m.exec(text) ?? [];
  if (!links.includes(documentation)) faults.push('README.md has no line "- Documentation: <https://...>"');
  if (!/^- Looked up: \d{4}-\d\d-\d\d$/m.test(text)) faults.push('README.md does not say when the documentation was looked up');
  const listed = [...(/^- Endpoints: (.*)$/m.exec(text)?.[1] ?? '').matchAll(/`([a-zA-Z]+)`/g)].map((match) => match[1]);
  if (listed.join() !== Object.keys(plugin.endpoints).join()) faults.push(`README.md lists the endpoints ${listed.join(', ')}; the definition has ${Object.keys(plugin.endpoints).join(', ')}`);
  return faults;
}

/** What becomes of `developer` and of `max_completion_tokens` is decided for each provider whose bytes are relayed, and told. */
function chatReadmeFaults(plugin: ProviderPlugin, text: string): string[] {
  const chat = plugin.endpoints.chatCompletions;
  if (chat === undefined || typeof chat === 'function' || plugin.transport !== undefined) return [];
  const { roles, params, request }: EndpointSpec = typeof chat === 'string' ? { path: chat } : chat;
  if (request !== undefined) return [];
  const faults: string[] = [];
  const isSystem = /`developer` messages go up as `system`/.test(text);
  if (!isSystem && !/`developer` messages.* go up as they are/.test(text)) faults.push('README.md does not say what becomes of developer messages');
  if (isSystem !== (roles?.developer === 'system')) faults.push('README.md and roles say different things of developer messages');
  const isRenamed = /`max_completion_tokens`.* as `max_tokens`/.test(text);
  if (!isRenamed && !/`max_completion_tokens`.* as (?:it is|they are)/.test(text)) faults.push('README.md does not say what becomes of max_completion_tokens');
  if (isRenamed !== (params?.max_completion_tokens?.rename === 'max_tokens')) faults.push('README.md and params say different things of max_completion_tokens');
  return faults;
}

function authCell({ auth }: ProviderPlugin): string {
  return auth.type === 'header' || auth.type === 'query' ? `${auth.type} \`${auth.name}\`` : auth.type;
}

function row(id: string, plugin: ProviderPlugin): string {
  const endpoints = Object.keys(plugin.endpoints).join(', ');
  return `| [${id}](${id}/README.md) | ${typeof plugin.baseUrl === 'function' ? 'by credentials' : plugin.baseUrl === '' ? 'custom host' : `\`${plugin.baseUrl}\``} | ${authCell(plugin)} | ${endpoints === '' ? 'proxy route only' : endpoints} |`;
}

describe('providers', () => {
  test('are found, each with its source', () => {
    assert.ok(ids.length >= 30, `only ${ids.length} providers in ${built}`);
    assert.deepEqual(ids.filter((id) => !existsSync(join(sourceRoot, id, 'provider.ts'))), []);
    assert.deepEqual(foldersIn(sourceRoot).filter((id) => !plugins.has(id)), []);
  });

  test('have folders named by the id rule', () => none(ids.filter((id) => !isFolderName(id))));

  test('keep to the contract', () => none(all.flatMap(([id, plugin]) => faultsOf(plugin).map((fault) => `${id}: ${fault}`))));

  test('have titles of their own', () => {
    const titles = all.map(([, plugin]) => plugin.title);
    assert.deepEqual(titles.filter((title, index) => titles.indexOf(title) !== index), []);
  });

  test('have a README that names base URL, endpoints and documentation', () => none(ids.flatMap((id) => {
    const path = join(sourceRoot, id, 'README.md');
    const plugin = plugins.get(id)!;
    return existsSync(path) ? [...readmeFaults(plugin, readFileSync(path, 'utf8')), ...chatReadmeFaults(plugin, readFileSync(path, 'utf8'))].map((fault) => `${id}: ${fault}`) : [`${id}: README.md is missing`];
  })));

  test('that are in the table of providers/README.md are there as they are', (context) => {
    const written = readFileSync(join(sourceRoot, 'README.md'), 'utf8').split('\n').filter((line) => /^\| \[/.test(line));
    const expected = all.filter(([, plugin]) => plugin.transport === undefined).map(([id, plugin]) => row(id, plugin));
    none(written.filter((line) => !expected.includes(line)).map((line) => `not so: ${line}`));
    // A new provider touches no file but its own: its row may follow later.
    assert.deepEqual(written, expected.filter((line) => written.includes(line)), 'the rows are sorted by id, each once');
    for (const line of expected) if (!written.includes(line)) context.diagnostic(`the table lacks ${line}`);
  });

  test('open nothing and take next to no time when they are imported', async () => {
    const before = process.getActiveResourcesInfo().sort();
    for (const id of ids) {
      let quickestMs = Infinity;
      // A query makes it a module of its own, evaluated anew.
      for (let tries = 0; tries < importTriesMax && quickestMs >= importMsMax; tries += 1) {
        const startedAtMs = performance.now();
        await import(`${moduleOf(id)}?again=${tries}`);
        quickestMs = Math.min(quickestMs, performance.now() - startedAtMs);
      }
      assert.ok(quickestMs < importMsMax, `${id} took ${quickestMs.toFixed(1)} ms`);
    }
    assert.deepEqual(process.getActiveResourcesInfo().sort(), before);
  });
});

describe('the rules', () => {
  const good = plugins.get('openai')!;
  const withChange = (change: object): string[] => faultsOf({ ...good, ...change });

  test('find nothing in a good definition', () => assert.deepEqual(withChange({}), []));

  test('find each fault of a definition', () => {
    const bad: [object, RegExp][] = [
      [{ kind: 'hook' }, /kind must be provider/], [{ contract: 2 }, /contract 1/], [{ title: ' ' }, /must say something/],
      [{ baseUrl: 'http://api.example/v1' }, /not https/], [{ baseUrl: 'https://api.example/v1/' }, /ends in a slash/], [{ baseUrl: 'api.example' }, /not a URL/],
      [{ baseUrl: 'https://{region}.example' }, /\{region\}/], [{ baseUrl: 'https://api.example/v1?x=1' }, /more than a host/],
      [{ auth: { type: 'basic' } }, /auth type basic/], [{ auth: { type: 'bearer', name: 'x' } }, /has no name/], [{ auth: { type: 'header', name: 'X-Key' } }, /no usable name/],
      [{ auth: { type: 'query', name: '' } }, /no usable name/], [{ auth: { type: 'signed' } }, /sign\(\)/], [{ headers: { 'X-A': 'b' } }, /lower case/], [{ headers: { 'x-a': '{b}' } }, /\{b\}/],
      [{ endpoints: { chat: '/chat' } }, /not in the contract/], [{ endpoints: { proxy: '/' } }, /not in the contract/], [{ endpoints: { models: 'models' } }, /must be \/like/],
      [{ endpoints: { models: '/models/' } }, /must be \/like/], [{ endpoints: { models: '/{region}' } }, /\{model\} and parameters only/],
      [{ endpoints: { models: { path: '/models', params: { a: { drop: true } } } } }, /unknown rule drop/], [{ endpoints: { models: { path: '/models', params: { a: {} } } } }, /says nothing/],
      [{ endpoints: { models: { path: '/models', params: { a: { refuse: 'no', min: 1 } } } } }, /nothing but without beside it/], [{ endpoints: { models: { path: '/models', params: { a: { rename: 'a' } } } } }, /to itself/],
      [{ endpoints: { models: { path: '/models', params: { a: { min: 2, max: 1 } } } } }, /lets nothing through/],
      [{ params: { type: 'object', properties: {} } }, /api_key/], [{ params: { ...good.params, additionalProperties: true } }, /closed/],
      [{ params: { ...good.params, properties: { ...good.params.properties, a: { type: 'text' } } } }, /does not compile/],
      [{ describe: () => 'x' }, /describe is a function/], [{ params: { ...good.params, description: undefined } }, /turn through JSON/],
    ];
    for (const [change, message] of bad) {
      const faults = withChange(change);
      assert.ok(faults.some((fault) => message.test(fault)), `${JSON.stringify(change)} gives ${faults.join('; ')}`);
    }
  });

  test('find a wrong folder name and a wrong README', () => {
    for (const name of ['together.ai', 'togetherAi', 'together_ai', '-ai', 'ai-']) assert.ok(!isFolderName(name), name);
    for (const name of ['together-ai', '302ai', 'z-ai']) assert.ok(isFolderName(name), name);
    assert.equal(readmeFaults(good, 'OpenAI').length, 5);
    assert.equal(chatReadmeFaults(good, 'OpenAI').length, 2);
    assert.equal(chatReadmeFaults(good, '`developer` messages go up as `system`, `max_completion_tokens` as `max_tokens`').length, 2);
    assert.deepEqual(readmeFaults({ ...good, transport: () => ({ send: () => ({ pause() {}, resume() {}, cancel() {} }) }) }, '# Mock'), []);
  });

  test('print rows for headers and providers without endpoints', () => {
    assert.equal(row('a', { ...good, baseUrl: '', auth: { type: 'header', name: 'api-key' }, endpoints: {} }), '| [a](a/README.md) | custom host | header `api-key` | proxy route only |');
  });
});
