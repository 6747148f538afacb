// Timers of Node.js take no longer delay than a 32-bit integer holds: one that is longer fires after 1 ms. What a client or a setting may give is refused
// beyond it; what plugins ask for is cut.

/** About 24 days. */
export const timerMsMax = 2_147_483_647;

export const timerMs = (delayMs: number): number => Math.min(delayMs, timerMsMax);
