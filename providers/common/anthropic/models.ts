/** What the translation must know of a Claude model; everything else is left to the provider to accept or reject. */
export interface ModelTraits {
  /** `max_tokens` when the client named none: the API requires the field. */
  readonly defaultMaxTokens: number;
  /** How the model is told to think: `adaptive` with an effort, `budget` with a number of tokens, or not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
}

const newest: ModelTraits = { defaultMaxTokens: 64_000, thinking: 'adaptive' };

// Older names put the version first (claude-3-5-sonnet-20241022), newer ones the family (claude-opus-4-1-20250805). A date is not a version.
const versionFirst = /claude-(?:v)?(\d)(?:[-.](\d))?(?![\d])/;
const familyFirst = /claude-([a-z]+)-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/;

/**
 * The traits of a model, found by its name wherever the name stands (`us.anthropic.claude-opus-4-6-v1`, `claude-sonnet-4-5@20250929`).
 * A name that is not known counts as a new model: those are what appears next.
 */
export function traitsOf(model: string): ModelTraits {
  if (model.includes('claude-instant')) return { defaultMaxTokens: 4096, thinking: 'none' };
  const [, family = '', major = '', minor = ''] = familyFirst.exec(model) ?? [];
  if (family !== '') return traitsOfVersion(Number(major) + Number(minor) / 10, family);
  const [, oldMajor = '', oldMinor = ''] = versionFirst.exec(model) ?? [];
  return oldMajor === '' ? newest : traitsOfVersion(Number(oldMajor) + Number(oldMinor) / 10, '');
}

function traitsOfVersion(version: number, family: string): ModelTraits {
  if (version < 3.5) return { defaultMaxTokens: 4096, thinking: 'none' };
  if (version < 3.7) return { defaultMaxTokens: 8192, thinking: 'none' };
  if (version >= 4 && version < 4.5 && family === 'opus') return { defaultMaxTokens: 32_000, thinking: 'budget' };
  return version < 4.6 ? { defaultMaxTokens: 64_000, thinking: 'budget' } : newest;
}
