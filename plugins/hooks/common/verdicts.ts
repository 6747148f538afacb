import type { CheckResult, HookDecision } from '@gateway/plugin-sdk';

/** Passes when every check has passed. A check that erred has passed, unless its config says that its errors are failures. */
export function decideByVerdicts(results: readonly CheckResult[], deny: boolean, denyOnSuccess: boolean): HookDecision {
  const pass = results.every((result) => (result.verdict === undefined ? !result.failOnError : result.verdict.pass));
  return { pass, deny: pass ? denyOnSuccess : deny };
}
