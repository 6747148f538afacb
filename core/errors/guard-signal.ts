// Runs when a plugin asks for the signal of its call. The platform ends the process when a listener of a signal throws, or gives a promise that
// rejects, and no `try` around abort() can keep it from that: so the listeners themselves are fenced.

type Listener = (event: Event) => unknown;
type AddOptions = Parameters<AbortSignal['addEventListener']>[2];
type RemoveOptions = Parameters<AbortSignal['removeEventListener']>[2];
type Given = Listener | { handleEvent(event: Event): unknown } | null;

/** The same signal; what its listeners throw goes to `onThrow`. */
export function guardSignal(signal: AbortSignal, onThrow: (thrown: unknown) => void): AbortSignal {
  const fencedOf = new WeakMap<object, Listener>();
  const fence = (given: Exclude<Given, null>): Listener => {
    let fenced = fencedOf.get(given);
    if (fenced === undefined) {
      fenced = (event) => {
        try {
          const result: unknown = typeof given === 'function' ? given.call(signal, event) : given.handleEvent(event);
          if (result instanceof Promise) result.catch(onThrow);
        } catch (thrown) {
          onThrow(thrown);
        }
      };
      fencedOf.set(given, fenced);
    }
    return fenced;
  };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  let assigned: Listener | null = null;
  Object.defineProperties(signal, {
    addEventListener: { value: (type: string, given: Given, options?: AddOptions) => { if (given !== null && given !== undefined) add(type as 'abort', fence(given), options); } },
    removeEventListener: { value: (type: string, given: Given, options?: RemoveOptions) => { if (given !== null && given !== undefined) remove(type as 'abort', fencedOf.get(given) ?? given as Listener, options); } },
    onabort: {
      get: () => assigned,
      set: (given: unknown) => {
        if (assigned !== null) remove('abort', fence(assigned));
        assigned = typeof given === 'function' ? given as Listener : null;
        if (assigned !== null) add('abort', fence(assigned));
      },
    },
  });
  return signal;
}
