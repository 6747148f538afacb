import { guardrails, type GuardrailRow } from '../../../storage/tables/guardrails.js';
import { DeclaredSecret, declareSlugged } from '../../define-declared.js';
import { replacedChecks } from '../configs/config-secrets.js';
import { definitionOf } from './check-guardrail.js';
import { guardrailsResource } from './resource.js';

export const guardrailsDeclared = declareSlugged<GuardrailRow>({
  section: 'guardrails', resource: guardrailsResource, table: guardrails, level: 'either',
  all: ({ repository, caller }) => repository.each(guardrails, { index: 'workspace', parts: [caller.organisationId] }),
  view: async (context, { row }) => {
    const definition = definitionOf(context, row);
    return {
      slug: row.slug, name: row.name, actions: definition?.actions ?? null,
      // Those that were left out of a backup are like no others.
      checks: definition === null ? null : await replacedChecks(definition.checks, context.services.registry, ({ text, place }) => DeclaredSecret.of(text, place.replace(/^checks/, 'check'))),
    };
  },
});
