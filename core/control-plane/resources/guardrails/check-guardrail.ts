// Whether checks can be stored as a guardrail: they are made once, as a call would have them made. Secrets among their parameters are shown masked.

import type { CheckConfig } from '../../../config/config.js';
import { HookCompiler } from '../../../plan/compile-hooks.js';
import { closeAll } from '../../../plan/compile.js';
import type { GuardrailDefinition } from '../../../plan/guardrail-definition.js';
import { PlanWeight } from '../../../plan/plan-weight.js';
import { absentSecret } from '../../../storage/sealer.js';
import { openGuardrail } from '../../../storage/open-rows.js';
import type { GuardrailRow } from '../../../storage/tables/guardrails.js';
import type { Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { isMasked, refuseGatewayKeys } from '../common/secret-text.js';
import { checkSecrets, maskedChecks, unmaskedChecks } from '../configs/config-secrets.js';
import type { checksField } from './guardrail-fields.js';

type Given = Static<typeof checksField>;

const unused = (): never => { throw new TypeError('a check that is only tried was called'); };

/** `stored`: the checks whose secrets replace masked ones. Throws CONFIG_INVALID, FIELD_INVALID. */
export async function checkedChecks(context: ControlContext, given: Given, stored: readonly CheckConfig[] | null): Promise<readonly CheckConfig[]> {
  const { registry } = context.services;
  const plain = given.map(({ id, parameters = {}, name, is_enabled: isEnabled = true }): CheckConfig => ({ id, parameters: parameters as CheckConfig['parameters'], ...(name === undefined ? {} : { name }), is_enabled: isEnabled }));
  const checks = isMasked(JSON.stringify(plain)) ? await unmaskedChecks(plain, stored, registry) : plain;
  await refuseGatewayKeys(context, (await checkSecrets(checks, registry)).map(({ place, text }) => [place, text] as const));
  const compiler = new HookCompiler({ registry, poolCheck: unused }, new PlanWeight());
  try {
    await compiler.tryChecks(checks, 'checks');
  } finally {
    closeAll(compiler.instances);
  }
  return checks;
}

/** Null: it was left out of the backup that was restored, or given up with a master key. */
export function definitionOf(context: ControlContext, row: GuardrailRow): GuardrailDefinition | null {
  return row.sealedDefinition === absentSecret ? null : JSON.parse(openGuardrail(row, context.sealer));
}

/** As replies show them. */
export const shownChecks = (context: ControlContext, checks: readonly CheckConfig[]): Promise<readonly CheckConfig[]> => maskedChecks(checks, context.services.registry);
