// Which plugins a plan is made of. Runs when plugins have changed.

import type { Plan, PlanNode } from './plan.js';

/** `plugins` are kind and id: `guardrail/acme.pii`. Checks that were missing when the plan was compiled count as used. */
export const usesAny = (plan: Plan, plugins: ReadonlySet<string>): boolean => nodeUses(plan.root, plugins);

function nodeUses(node: PlanNode, plugins: ReadonlySet<string>): boolean {
  if (node.kind === 'group') return plugins.has(`strategy/${node.mode}`) || node.children.some((child) => nodeUses(child, plugins));
  if (plugins.has(`provider/${node.provider.id}`) || (node.cache !== null && plugins.has(`cache/${node.cache.mode}`))) return true;
  const { before, after } = node;
  return [...before ?? [], ...after?.judging ?? [], ...after?.background ?? []].some(({ type, checks }) => plugins.has(`hook/${type}`) || checks.some(({ id }) => plugins.has(`guardrail/${id}`)));
}
