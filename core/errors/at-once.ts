// Runs where a plugin has to answer at once. A function that was made `async` by mistake gives a promise there, which nobody would wait for, and
// whose rejection would end the process.

const heard = (): void => undefined;

/** The value; throws in the place of a promise, whose rejection is heard. */
export function atOnce<T>(value: T): T {
  if (value instanceof Promise) {
    value.catch(heard);
    throw new TypeError('gave a promise where it has to answer at once');
  }
  return value;
}
