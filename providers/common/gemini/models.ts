/** Facts about models that only their names tell. */

/**
 * Gemini 3 and later: thinking by level, thought signatures required, ids on function calls, media in function responses. The aliases
 * without a number (`gemini-flash-latest`) point to such models as well.
 */
export function isGeminiThree(model: string): boolean {
  const [, major] = /gemini-(?:[a-z-]*-)?(\d+)/.exec(model) ?? [];
  if (major === undefined) return /gemini-[a-z-]*latest/.test(model);
  // Old experiments are numbered by their date.
  return Number(major) >= 3 && Number(major) < 100;
}

/** Pro models know no thinking level `minimal` and cannot stop thinking. */
export const isGeminiPro = (model: string): boolean => /gemini-(?:[\d.]+-)?pro/.test(model);

/** The one Gemini 2.5 that cannot stop thinking, and what it thinks at least. */
export const isGeminiTwoPro = (model: string): boolean => /gemini-2\.5-pro/.test(model);
export const leastBudget = 128;

/** Models that never think: there is nothing to turn off, and they refuse to be told. */
export const neverThinks = (model: string): boolean => /gemini-(?:1\.|2\.0)|gemini-2\.5-[a-z-]*image|gemini-[\d.]+-[a-z-]*tts|gemma-[1-3](?!\d)|learnlm/.test(model);

/** Gemma up to 3 has no place for system messages. */
export const hasNoSystem = (model: string): boolean => /gemma-[1-3]/.test(model);

export const isImagen = (model: string): boolean => /(?:^|[/.])(?:imagen|imagegeneration)/.test(model);
