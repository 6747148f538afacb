/** What the name of a model tells about it. */
export interface Model {
  /** `anthropic`, `amazon`, `cohere` ...; empty when the name does not tell: an application inference profile, a provisioned or imported model. */
  readonly vendor: string;
  /** The id of the foundation model without region prefix (`anthropic.claude-sonnet-4-5-20250929-v1:0`); empty when the name does not tell. */
  readonly id: string;
}

/** Prefixes of inference profiles that route between regions. */
const regionPrefix = /^(?:global|us-gov|us|eu|apac|ap|au|jp|ca|sa|me|mx|il|af|uk|in|kr)\./;

/** Resources whose name holds the id of the foundation model. `custom-model` has it before the id of the custom one. */
const namedResource = /^(?:foundation-model|inference-profile|custom-model)\/([^/]+)/;

export function readModel(name: string): Model {
  let id = name;
  if (name.startsWith('arn:')) {
    // arn:partition:service:region:account:resource, where the resource may hold colons as well.
    const resource = name.split(':').slice(5).join(':');
    id = namedResource.exec(resource)?.[1] ?? '';
  }
  id = id.replace(regionPrefix, '');
  const dot = id.indexOf('.');
  return dot <= 0 ? { vendor: '', id: '' } : { vendor: id.slice(0, dot), id };
}

export const isClaude = (model: Model): boolean => model.id.startsWith('anthropic.claude');
/** Opaque names are treated as Claude where the dialects agree: most application inference profiles are made for it. */
export const isClaudeOrUnknown = (model: Model): boolean => model.vendor === 'anthropic' || model.vendor === '';
export const isNova = (model: Model): boolean => model.id.startsWith('amazon.nova');
export const isNova2 = (model: Model): boolean => model.id.startsWith('amazon.nova-2');

/** Version of a Claude model as a number to compare (`4.5`); 0 when the name has none. Both `claude-3-7-sonnet` and `claude-sonnet-4-5` are names. */
export function claudeVersion(model: Model): number {
  if (!isClaude(model)) return 0;
  // A date has eight digits, a version one or two.
  const [, major, minor] = /-(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(model.id) ?? [];
  return major === undefined ? 0 : Number(major) + Number(minor ?? 0) / 10;
}

/** Models whose answers and tool calls Bedrock can hold to a JSON Schema. */
export function hasStructuredOutput(model: Model): boolean {
  switch (model.vendor) {
    case 'amazon': case 'meta': case 'cohere': case 'ai21': case 'writer': return false;
    case 'anthropic': return claudeVersion(model) >= 4.5;
    default: return true;
  }
}

/** Searches the web by the tool `nova_grounding`. */
export const hasWebGrounding = (model: Model): boolean => isNova2(model) || model.id.startsWith('amazon.nova-premier');

/** Takes `effort`, which says how much a model thinks and writes. */
export const hasEffort = (model: Model): boolean => isClaude(model) && (claudeVersion(model) >= 4.6 || /claude-opus-4-5/.test(model.id));
/** Decides itself how much to think. */
export const hasAdaptiveThinking = (model: Model): boolean => claudeVersion(model) >= 4.6;
/** Takes a number of tokens to think with. */
export const hasThinkingBudget = (model: Model): boolean => claudeVersion(model) >= 3.7;
