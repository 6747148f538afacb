/** Whether the answer came out of a cache, or from a call that was already on its way: it used nothing and cost nothing. `cacheStatus`: of a record. */
export const isCachedAnswer = (cacheStatus: string): boolean => cacheStatus === 'HIT' || cacheStatus === 'SEMANTIC HIT' || cacheStatus === 'SHARED';
