// Names of prompts in paths, with the prompt version: `slug`, `slug@3`, `slug@latest`, `slug@label`.

export interface PromptName {
  readonly idOrSlug: string;
  /** Empty: the published one; else `latest`, a number, or the name of a label. */
  readonly version: string;
}

export function promptName(text: string): PromptName {
  const at = text.indexOf('@');
  if (at === -1) return { idOrSlug: text, version: '' };
  const version = text.slice(at + 1);
  return { idOrSlug: text.slice(0, at), version: version === 'default' ? '' : version };
}

export const isVersionNumber = (version: string): boolean => /^\d{1,9}$/.test(version);
