import { ParameterError, type Check, type CheckInput, type Json, type Verdict, type Weight } from '@gateway/plugin-sdk';
import { Ajv2020, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { constant } from '../common/request/verdict.js';
import { jsonGroups, type JsonGroup } from '../common/text/json-groups.js';
import { PatternBudget } from '../common/text/pattern-size.js';
import { TextPattern } from '../common/text/pattern.js';

/** Errors that are shown. */
const errorsShownMax = 20;
/** Characters of a schema, as JSON. */
const schemaCharactersMax = 20_000;
/** What a compiled schema holds for each of its characters, about: generated code, closures and the schema itself. */
const bytesPerCharacter = 64;
/** What a character of a schema takes for each character of text, about. */
const nanosecondsPerCharacter = 0.02;

interface Judged {
  readonly group: number;
  readonly fits: boolean;
  readonly hasJson: boolean;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

const found = constant({ pass: true, data: { validationErrors: [], explanation: 'JSON that fits the schema was found' } });

/** Looks for JSON that fits a schema in each choice. */
export class JsonSchemaCheck implements Check {
  readonly weight: Weight;
  readonly #validate: ValidateFunction;
  readonly #names: ReadonlySet<string>;
  readonly #not: boolean;

  constructor(schema: object, not: boolean) {
    const budget = new PatternBudget();
    this.#validate = compile(schema, budget);
    const { length } = JSON.stringify(schema);
    const { bytes, nanosecondsPerCharacter: ofPatterns = 0 } = budget.weight;
    this.weight = { bytes: bytes + length * bytesPerCharacter, nanosecondsPerCharacter: ofPatterns + length * nanosecondsPerCharacter };
    this.#names = namesIn(schema);
    this.#not = not;
  }

  evaluate(input: CheckInput): Verdict {
    const judged = jsonGroups(input).map((group) => this.#judge(group));
    const wrong = judged.find(({ fits }) => fits === this.#not);
    const shown = wrong ?? judged[0];
    if (shown === undefined) throw new Error('the answer has no choice that could be judged');
    if (wrong === undefined && shown.fits) return found;
    const where = wrong !== undefined && judged.length > 1 ? ` in choice ${wrong.group}` : '';
    const explanation = shown.fits ? `JSON that fits the schema was found${where}`
      : shown.hasJson ? `no JSON that was found${where} fits the schema: ${shown.errors.length === 1 ? 'one error' : `${shown.errors.length} errors`}, see validationErrors`
        : `no JSON was found${where}`;
    const data: Json = {
      validationErrors: shown.errors.slice(0, errorsShownMax),
      ...(where === '' ? {} : { choice: shown.group }),
      explanation,
    };
    return wrong === undefined ? { pass: true, data } : { pass: false, why: explanation, data };
  }

  /** The first value that fits; else the errors of the first value. */
  #judge({ group, candidates }: JsonGroup): Judged {
    let errors: Judged['errors'] = [];
    for (let index = 0; index < candidates.length; index += 1) {
      if (this.#validate(candidates[index])) return { group, fits: true, hasJson: true, errors: [] };
      if (index === 0) errors = (this.#validate.errors ?? []).map((error) => this.#shown(error));
    }
    return { group, fits: false, hasJson: candidates.length > 0, errors };
  }

  /** A name that the schema does not have is part of the answer, and so of what may be withheld. */
  #shown({ instancePath, message, keyword }: ErrorObject): { readonly path: string; readonly message: string } {
    const path = instancePath.split('/').map((name) => (/^\d{0,5}$/.test(name) || this.#names.has(name.replaceAll('~1', '/').replaceAll('~0', '~')) ? name : '*')).join('/');
    return { path: path === '' ? '/' : path, message: message ?? `breaks ${keyword}` };
  }
}

/** Names of members anywhere in the schema; compiling it has refused one that is nested too deep. */
function namesIn(value: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) namesIn(item, names);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      names.add(name);
      namesIn(inner, names);
    }
  }
  return names;
}

let schemaOfSchemas: Ajv2020 | undefined;

function compile(schema: object, budget: PatternBudget): ValidateFunction {
  if (JSON.stringify(schema).length > schemaCharactersMax) throw new ParameterError('schema', `has more than ${schemaCharactersMax} characters; shorten it`);
  if ('$async' in schema) throw new ParameterError('schema.$async', 'is not a keyword of JSON Schema; leave it out');
  // Whatever draft it says it is of, it is read as 2020-12: an older one is not loaded, and the name alone is no reason to refuse it.
  const keywords: AnySchemaObject = Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema'));
  // The schema of schemas takes long to compile, so all checks share it; what they compile themselves stays their own, and goes with them.
  schemaOfSchemas ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  // Formats are notes, as draft 2020-12 has it by default. Patterns come from clients: they run on RE2.
  const regExp = Object.assign((source: string) => TextPattern.compileExact(source, 'schema', budget), { code: 'undefined' });
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false, addUsedSchema: false, meta: false, validateSchema: false, code: { regExp, optimize: false } });
  try {
    if (schemaOfSchemas.validateSchema(keywords) !== true) throw new Error(schemaOfSchemas.errorsText(schemaOfSchemas.errors, { dataVar: 'schema' }));
    return ajv.compile(keywords);
  } catch (thrown) {
    if (thrown instanceof ParameterError) throw thrown;
    if (thrown instanceof RangeError) throw new ParameterError('schema', 'is nested too deep');
    throw new ParameterError('schema', `is not a JSON Schema of draft 2020-12: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
