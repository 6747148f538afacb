/** The parameter `lookBack` of checks that search in a stream. Kept apart from the search itself, so that a definition loads no library. */
export const lookBackParam = {
  type: 'integer',
  minimum: 1,
  maximum: 8192,
  default: 256,
  description: 'In a stream: the longest match that is found across parts. As many characters are held back, or fewer when no match can be so long.',
} as const;

/** The most that `lookBack` may be. */
export const lookBackLimit = lookBackParam.maximum;
/** A new search every so many characters of the look-back. */
export const stepsInLookBack = 8;
/** What a search sees of the text before it: one whole character, for `^` and `\b`. */
export const contextLength = 2;
/** Most characters that a search holds back: the look-back, what came since the last step, and one character behind a match. */
export const lookBackMax = lookBackLimit + lookBackLimit / stepsInLookBack + contextLength;
