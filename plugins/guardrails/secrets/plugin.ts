import { defineGuardrail, ParameterError, placeOf, type Check, type CheckInput, type Exchange, type SpanEdit, type StreamCheck, type TextEdit, type TextWindow, type Verdict, type WindowResult } from '@gateway/plugin-sdk';
import { constant } from '../common/request/verdict.js';
import { AllowList } from '../common/spans/allow-list.js';
import { SpanStream } from '../common/spans/span-stream.js';
import type { Span } from '../common/spans/span.js';
import { Tally } from '../common/spans/tally.js';
import { categories } from './categories.js';
import { lookBackMax, SecretFinder } from './finder.js';
import { assignments, namedValues, prefixedTokens } from './token-patterns.js';

export default defineGuardrail({
  title: 'Secrets',
  describe: 'Finds keys, tokens, passwords in URLs and private keys by the formats of their services, on this machine; refuses or replaces them.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events', changes: 'both' },
  needsFor: ({ redact }) => ({ request: 'json', response: 'events', ...(redact ? { changes: 'both' } : {}) }),
  lookBackMax,
  runs: 'either',
  params: {
    type: 'object',
    properties: {
      categories: { type: 'array', items: { type: 'string', enum: categories }, description: 'Whose secrets count; all when left out.' },
      redact: { type: 'boolean', default: false, description: 'Replace finds by [SECRET_<category>] and pass, instead of failing.' },
      entropy: { type: 'boolean', default: false, description: 'Count values that look made by chance behind names such as api_key or password too (category GENERIC).' },
      allow: { type: 'array', items: { type: 'string', minLength: 1 }, default: [], description: 'Values that never count.' },
      not: { type: 'boolean', default: false, description: 'Pass when a secret is found, and fail when there is none.' },
    },
  },
  create({ categories: chosen, redact, entropy, allow, not }): Check {
    if (chosen?.length === 0) throw new ParameterError('categories', 'is empty; leave it out for all categories');
    if (not && redact) throw new ParameterError('not', 'cannot go with redact, which passes whatever is found');
    if (chosen?.includes('GENERIC') === true && !entropy) throw new ParameterError('categories', 'has GENERIC, which is found with entropy only; set entropy to true');
    const set: ReadonlySet<string> = new Set(chosen ?? categories);
    const recognisers = [...prefixedTokens, ...namedValues, ...(entropy ? assignments : [])].filter(({ category }) => set.has(category));
    return new SecretsCheck({ finder: new SecretFinder(recognisers, set.has('PRIVATE_KEY')), allow: new AllowList(allow), redact, not });
  },
});

interface Settings {
  readonly finder: SecretFinder;
  readonly allow: AllowList;
  readonly redact: boolean;
  readonly not: boolean;
}

const placeholderOf = (category: string): string => `[SECRET_${category}]`;

class SecretsCheck implements Check {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  evaluate({ pieces }: CheckInput): Verdict {
    const { finder, allow, redact } = this.#settings;
    const tally = new Tally();
    const edits: TextEdit[] = [];
    pieces().forEach((piece, index) => {
      const spans: Span[] = [];
      finder.find(piece.text, 0, true, spans);
      for (const { from, to, category } of spans) {
        if (allow.has(piece.text.slice(from, to))) continue;
        tally.add(category, placeOf(piece));
        if (redact) edits.push({ piece: index, from, to, text: placeholderOf(category) });
      }
    });
    return verdictOf(tally, this.#settings, edits);
  }

  stream(_exchange: Exchange): StreamCheck {
    return new SecretsStream(this.#settings);
  }
}

class SecretsStream implements StreamCheck {
  readonly #settings: Settings;
  readonly #spans: SpanStream;
  readonly #tally = new Tally();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#spans = new SpanStream(settings.finder);
  }

  push(window: TextWindow): WindowResult {
    const { allow, redact, not } = this.#settings;
    const { release, spans } = this.#spans.push(window);
    const edits: SpanEdit[] = [];
    for (const { from, to, category, isRest } of spans) {
      if (!isRest) {
        if (allow.has(window.text.slice(from, to))) continue;
        this.#tally.add(category, window.channel);
        if (!redact && !not) return { release: 0, fails: true };
      }
      if (redact) edits.push({ from, to, text: isRest ? '' : placeholderOf(category) });
    }
    return edits.length === 0 ? { release } : { release, edits };
  }

  verdict(): Verdict {
    return verdictOf(this.#tally, this.#settings, []);
  }
}

const nothingFound = constant({ pass: true, data: { detectedCategories: [], entities: [], explanation: 'no secret found' } });

function verdictOf(tally: Tally, { redact, not }: Settings, edits: readonly TextEdit[]): Verdict {
  if (tally.count === 0 && (redact || !not)) return nothingFound;
  const names = tally.categories().join(', ');
  const explanation = tally.count === 0 ? 'no secret found' : `${redact ? 'secrets were replaced' : 'secrets found'}: ${names}`;
  const pass = redact || (tally.count > 0) === not;
  return { pass, ...(pass ? {} : { why: explanation }), data: tally.data(explanation), ...(edits.length === 0 ? {} : { edits }) };
}
