// Long work in slices: other control calls get their turn in between.

export const nextTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });
