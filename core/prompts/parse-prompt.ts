// Parses the text of a prompt when its version is stored: a list of messages in which each text is a template, one raw template that renders to such a list, or
// the template of a text completion. Threads that render do not load this file.

import type { PromptTemplate } from './prompt-template.js';
import { parseTemplate, templateCharsMax, TemplateFault, type Node, type Template } from './template.js';

/** Marks the place of a template while the messages are written as JSON. */
const holeShape = /"\ue000(\d+)\ue001"/g;
const levelsMax = 64;

/** `string` as clients send it. Throws TemplateFault. */
export function parsePrompt(string: string, isRaw: boolean): PromptTemplate {
  if (string.length > templateCharsMax) throw new TemplateFault(`is longer than ${templateCharsMax} characters`);
  if (isRaw) {
    const { nodes, names, partials } = parseTemplate(string);
    return { kind: 'raw', parts: [nodes], names, partials };
  }
  const messages = messagesOf(string);
  if (messages === undefined) {
    const { nodes, names, partials } = parseTemplate(string);
    return { kind: 'text', parts: [nodes], names, partials };
  }
  return messagesTemplate(messages);
}

/** The list of messages; undefined: the text is a text completion. Throws TemplateFault for a list of something else. */
function messagesOf(string: string): readonly unknown[] | undefined {
  if (!/^\s*\[/.test(string)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(string);
  } catch {
    // The text of a text completion may begin with a bracket too. If it looks like messages, it is refused as a faulty list.
    if (!/^\s*\[\s*\{\s*"/.test(string)) return undefined;
    throw new TemplateFault('is not valid JSON: give a list of messages, or is_raw_template 1 where tags stand outside of its texts');
  }
  if (!Array.isArray(value) || value.length === 0) throw new TemplateFault('must be a list of messages, or a text');
  for (const message of value) {
    if (typeof message !== 'object' || message === null || !('role' in message) || typeof message.role !== 'string') throw new TemplateFault('must be a list of messages, each with a role');
  }
  return value;
}

function messagesTemplate(messages: readonly unknown[]): PromptTemplate {
  const templates: Template[] = [];
  const json = JSON.stringify(withHoles(messages, templates, levelsMax));
  const parts: (string | readonly Node[])[] = [];
  let from = 0;
  for (const { index, 0: hole, 1: number } of json.matchAll(holeShape)) {
    const template = templates[Number(number)];
    if (template === undefined) continue;
    parts.push(json.slice(from, index), template.nodes);
    from = index + hole.length;
  }
  parts.push(json.slice(from));
  const partials = new Map(templates.flatMap((template) => template.partials).map((each) => [`${each.slug}@${each.version}`, each]));
  return { kind: 'chat', parts, names: [...new Set(templates.flatMap(({ names }) => names))], partials: [...partials.values()] };
}

/** Every text of the messages is a template. */
function withHoles(value: unknown, templates: Template[], levels: number): unknown {
  if (levels === 0) throw new TemplateFault(`nests lists and objects deeper than ${levelsMax} levels`);
  if (typeof value === 'string') {
    // Texts with the mark characters become templates as well, so that every mark in the JSON was made here.
    if (!value.includes('{{') && !/[\ue000\ue001]/.test(value)) return value;
    templates.push(parseTemplate(value));
    return `\ue000${templates.length - 1}\ue001`;
  }
  if (Array.isArray(value)) return value.map((each) => withHoles(each, templates, levels - 1));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.some(([name]) => name === '__proto__' || /[\ue000\ue001]/.test(name))) throw new TemplateFault('holds a name that cannot be a field');
  return Object.fromEntries(entries.map(([name, each]) => [name, withHoles(each, templates, levels - 1)]));
}
