// Hot: runs for each event of a stream that is read.
// Providers that copy OpenAI's API differ in how they say that there is no error: without the member, or with an empty one in every chunk.

/** The answer, or the chunk, tells of an error. */
export function tellsError(body: Readonly<Record<string, unknown>>): boolean {
  const { error } = body;
  if (error === undefined || error === null) return false;
  return !isEmpty(error) || !Array.isArray(body.choices);
}

const isEmpty = (error: unknown): boolean =>
  error === '' || error === false || (typeof error === 'object' && error !== null && Object.keys(error).length === 0);

/** The same of JSON that begins with the member, without reading the rest. */
export const beginsWithError = (text: string): boolean => text.startsWith('{"error"') && !(emptyError.test(text) && text.includes('"choices"'));
const emptyError = /^\{"error"\s*:\s*(?:null|false|""|\{\s*\})/;
