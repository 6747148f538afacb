// Makes the definitions of the unified routes; runs when the route table is loaded. Rules come from the specification's tables: what a table
// clearly forbids is refused, members it does not know pass, and what OpenAI's own API takes beyond the tables passes as well.

import type { EndpointName } from '@gateway/plugin-sdk';
import type { Dialect } from '../dialect/dialect.js';
import { dialects } from '../dialect/dialects.js';
import type { EndpointDefinition } from '../exchange/endpoint.js';
import { fieldRules, schemaOf, type FieldRules } from './rules.js';

/** Of nearly all of the data plane: it calls models. */
const scope = 'completions.write';

/** A route whose JSON body is checked. */
export const jsonEndpoint = (name: EndpointName, rules: FieldRules, dialect: Dialect = dialects.chat, isSingleTarget = false): EndpointDefinition =>
  Object.freeze({ name, dialect, scope, body: 'json', validate: fieldRules(rules), schema: () => schemaOf(rules), isSingleTarget });

/** An upload: multipart/form-data, relayed as it is. */
export const uploadEndpoint = (name: EndpointName, isSingleTarget = false): EndpointDefinition =>
  Object.freeze({ name, dialect: dialects.chat, scope, body: 'multipart', validate: null, isSingleTarget });

/** A call whose body, if any, nobody looks at. */
export const plainEndpoint = (name: EndpointName, body: 'any' | 'none', dialect: Dialect = dialects.chat, isSingleTarget = false): EndpointDefinition =>
  Object.freeze({ name, dialect, scope, body, validate: null, isSingleTarget });
