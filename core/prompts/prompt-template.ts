// The parsed form of a prompt, as it is stored (parse-prompt.ts makes it): plain JSON. Rendering it gives JSON text that goes into a body unchanged.

import { RenderFault, Rendering, type FindPartial, type Variables } from './render.js';
import type { Node, PartialName } from './template.js';

export interface PromptTemplate {
  /** `chat`: JSON with templates inside of its strings. `raw`: one template that renders to the whole JSON. `text`: a text completion. */
  readonly kind: 'chat' | 'raw' | 'text';
  /** JSON text, and between two of them the nodes of one template; for `raw` and `text` the nodes of the only one. */
  readonly parts: readonly (string | readonly Node[])[];
  readonly names: readonly string[];
  readonly partials: readonly PartialName[];
}

/** JSON text: the list of messages, or for `text` the string. Throws RenderFault. */
export function renderPrompt({ kind, parts }: PromptTemplate, variables: Variables, find: FindPartial, charsMax: number): string {
  const rendering = new Rendering(variables, find, charsMax, kind === 'raw');
  if (kind === 'raw') return listText(rendering.render(parts[0] as readonly Node[]));
  let out = '';
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] as string | readonly Node[];
    out += typeof part === 'string' ? part : JSON.stringify(rendering.render(part));
  }
  return out;
}

function listText(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RenderFault('prompt', 'its raw template gives no valid JSON with these variables; values are JSON outside of strings, and text within them');
  }
  if (!Array.isArray(value)) throw new RenderFault('prompt', 'its raw template must give a list of messages');
  return text;
}
