import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProviderPlugin } from '@gateway/plugin-sdk';
import ts from 'typescript';
import { isPluginKind, nameOf, places } from '../../core/registry/ids.js';
import { entriesBelow, parseSource, placeOf, sources, walk, type Source } from './sources.js';

/** Ids of all built-in plugins, in both spellings. */
const ids = new Set(Object.values(places).flatMap(({ folder }) => entriesBelow(folder)
  .filter(({ path, isFolder }) => isFolder && !path.slice(folder.length + 1).includes('/') && !path.endsWith('/common'))
  .flatMap(({ path }) => [path.slice(folder.length + 1), nameOf(path.slice(folder.length + 1))])));

/** Ids that are words of core as well, and what they are there. */
const words: ReadonlyMap<string, string> = new Map([
  ['http', 'a scheme'], ['file', 'a part of a message'], ['log', 'a record of a call, the log thread'], ['mutator', 'a sort of hook in configs'],
]);

/** Elsewhere what looks like an id is a fault. An entry whose place is gone fails the test. */
const allowed: ReadonlyMap<string, string> = new Map([
  ['core/settings/schema.ts lmdb', 'the storage of a gateway without settings'],
  ['core/settings/schema.ts store', 'the exporter of a gateway without settings'],
  ['core/cli/start.ts mock', 'the first call that a newcomer makes'],
  ['core/openapi/example.ts openai', 'an example'],
  ['core/openapi/inference-paths.ts openai', 'an example'],
  ['core/control-plane/resources/analytics/graphs.ts fallback', 'a figure: calls that another target took'],
  ['core/control-plane/resources/logs/log-view.ts semantic', 'how an answer of a cache matched'],
  ['core/control-plane/resources/logs/log-view.ts simple', 'how an answer of a cache matched'],
  ['core/control-plane/resources/logs/log-view.ts single', 'a call with one target'],
  ['core/pipeline/cache/kept-answer.ts semantic', 'how an answer of a cache matched'],
  ['core/prompts/prompt-body.ts store', 'a member of a completion'],
  ['core/spend.ts memory', 'where a journal is'],
  ['core/control-thread.ts store', 'a subject of reports'],
  ['core/thread-services.ts store', 'a subject of reports'],
  ['core/thread.ts store', 'a subject of reports'],
  ['core/workers/check-entry.ts store', 'a function of the host'],
  ...['config', 'rules', 'schema'].flatMap((file) => ['cloud1', 'cloud2', 'cloud3'].map((family) => [`core/config/${file}.ts ${family}`, 'members of the format of configs'] as const)),
  ...['config', 'schema'].map((file) => [`core/config/${file}.ts vendor`, 'members of the format of configs'] as const),
]);

/** Members may be called `store` or `memory`; none is called as a provider is. */
const providerIds = new Set(entriesBelow(places.provider.folder).filter(({ path, isFolder }) => isFolder && path.split('/').length === 2 && !path.endsWith('/common')).map(({ path }) => nameOf(path.split('/')[1] ?? '')));

/**
 * Beginnings of the names that clients and providers have for credentials, as providers say them: `aws_` and `cloud1_`. They name providers as well as ids do.
 * A member that the gateway reads by itself (`deployment_name` of virtual keys) begins with no name of a provider.
 */
const families = await familiesOf(sources.filter(({ path, text }) => /^providers\/[^/]+\/provider\.ts$/.test(path) && /^ {2}aliases:/m.test(text)).map(({ path }) => path.split('/')[1] ?? ''));

async function familiesOf(providers: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const id of providers) {
    const { default: plugin } = await import(new URL(`../../providers/${id}/provider.js`, import.meta.url).href) as { readonly default: ProviderPlugin };
    const isOfProvider = (word: string): boolean => `${id} ${plugin.title}`.toLowerCase().includes(word);
    for (const [own, aliases] of Object.entries(plugin.aliases ?? {})) {
      for (const alias of aliases) {
        const [family = '', ...rest] = alias.split('_');
        if (rest.length === 0 || !isOfProvider(family)) continue;
        found.add(family);
        if (own.endsWith(`_${rest.join('_')}`)) found.add(own.slice(0, -rest.join('_').length - 1));
      }
    }
  }
  return found;
}

/** `'aws_region'`, `/^aws_/`, `{ aws_region: 1 }`, `config.aws_region`. */
function familyIn(node: ts.Node): string | undefined {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isRegularExpressionLiteral(node) || ts.isIdentifier(node);
  if (!isText) return undefined;
  for (const [, word = ''] of node.text.replace(/\\d/g, '0').matchAll(/(?<![A-Za-z0-9])([a-z]+\d?)_/g)) {
    for (const family of families) if (family === word || (word.endsWith('0') && family.replace(/\d$/, '0') === word)) return family;
  }
  // `/^(?:aws|azure)_/`
  const [, listed = ''] = /\(\??:?([a-z0-9|[\]]+)\)_/.exec(node.text) ?? [];
  return listed.split('|').find((word) => families.has(word));
}

/** The client dialects are core's own. */
const isJudged = ({ path }: Source): boolean => path.startsWith('core/') && !path.startsWith('core/dialect/');
const isMemberName = (node: ts.Identifier): boolean => (ts.isPropertyAssignment(node.parent) || ts.isPropertyAccessExpression(node.parent)) && node.parent.name === node;

/** `'groq'`, `{ groq: 1 }`, `byId.groq`; kinds of plugin are core's to know. */
function nameIn(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return ts.isLiteralTypeNode(node.parent) || !ids.has(node.text) || words.has(node.text) || isPluginKind(node.text) ? undefined : node.text;
  return ts.isIdentifier(node) && providerIds.has(node.text) && isMemberName(node) ? node.text : undefined;
}

function namesIn(source: Source): { readonly key: string; readonly place: string }[] {
  const found: { key: string; place: string }[] = [];
  walk(source, (node) => {
    const name = nameIn(node) ?? familyIn(node);
    if (name !== undefined) found.push({ key: `${source.path} ${name}`, place: `${placeOf(source, node)}: '${name}'` });
  });
  return found;
}

describe('core', () => {
  const found = sources.filter(isJudged).flatMap(namesIn);

  test('names no plugin', () => {
    for (const id of ['openai', 'togetherAi', 'together-ai', 'lmdb', 'prometheus', 'regexMatch', 'loadbalance']) assert.ok(ids.has(id), id);
    const faults = found.filter(({ key }) => !allowed.has(key)).map(({ place }) => `${place} is a plugin; decide by what a plugin says of itself, or say in the test what else it means`);
    assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);
  });

  test('still has every place where a name is something else', () => {
    const keys = new Set(found.map(({ key }) => key));
    assert.deepEqual([...allowed.keys()].filter((key) => !keys.has(key)), []);
  });
});

describe('the rule itself', () => {
  test('knows the families of credentials from the providers', () => {
    for (const family of ['aws', 'azure', 'vertex', 'openai', 'huggingface', 'cloud1', 'cloud2', 'cloud3', 'vendor']) assert.ok(families.has(family), family);
    for (const word of ['deployment', 'model', 'custom', 'api', 'resource']) assert.ok(!families.has(word), word);
  });


  const faultsIn = (text: string): number => namesIn(parseSource('core/x.ts', text)).length;

  test('catches texts and members', () => {
    for (const text of ["if (id === 'store') f();", "const logStore = 'store';", "switch (id) { case 'anthropic': }", 'const urls = { groq: 1 };', "const urls = { 'mistral-ai': 1 };", 'urls.openai;', 'f(`prometheus`);',
      "const plain = new Set(['aws_region']);", 'const families = [/^azure_/];', 'const family = /^(?:openai|aws|vertex)_/;', 'const own = /^(?:provider|cloud\\d_\\w+)$/;', 'f(config.cloud2_region);', 'const f = { huggingface_base_url: 1 };', 'f(`${x} of vertex_region`);']) {
      assert.equal(faultsIn(text), 1, text);
    }
  });

  test('leaves alone kinds, common words and types', () => {
    for (const text of ["registry.find('guardrail', id);", "const scheme = isTls ? 'https' : 'http';", "type Match = 'semantic' | 'exact';", 'host.store(); const a = { memory: 1 };', "fail('add store to the setting exporters');"]) {
      assert.equal(faultsIn(text), 0, text);
    }
  });
});
