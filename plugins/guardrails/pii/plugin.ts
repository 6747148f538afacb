import { defineGuardrail, ParameterError, placeOf, type Check, type CheckInput, type Exchange, type Json, type SpanEdit, type StreamCheck, type TextEdit, type TextPiece, type TextWindow, type Verdict, type WindowResult } from '@gateway/plugin-sdk';
import type { CountryCode } from 'libphonenumber-js/core';
import { constant } from '../common/request/verdict.js';
import { AllowList } from '../common/spans/allow-list.js';
import { SpanStream } from '../common/spans/span-stream.js';
import type { Span } from '../common/spans/span.js';
import { Tally } from '../common/spans/tally.js';
import { categories, recognisersOf } from './categories.js';
import type { PhoneCheck } from './contact-patterns.js';
import { lookBackMax, PersonalDataFinder } from './finder.js';
import { nameTrigger } from './name-patterns.js';
import { Numbering, PlaceholderStyle, Restoration, type Mapping } from './placeholders.js';

const notesKey = 'default.pii';

export default defineGuardrail({
  title: 'Personal data',
  describe: 'Finds personal data by its format, check digits and the words around it, on this machine; refuses it, or replaces it and puts it back into the answer.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events', changes: 'both' },
  needsFor: ({ redact, restore }) => ({ request: 'json', response: 'events', ...(redact || restore ? { changes: 'both' } : {}) }),
  lookBackMax,
  // The mapping of placeholders is kept with the exchange, which the worker pool does not see.
  runs: 'either',
  // Restoring needs the notes of the exchange, which do not leave its thread.
  runsFor: ({ restore }) => (restore ? 'loop' : 'either'),
  params: {
    type: 'object',
    properties: {
      categories: { type: 'array', items: { type: 'string', enum: categories }, description: 'What counts as personal data; all when left out.' },
      redact: { type: 'boolean', default: false, description: 'Replace finds by placeholders and pass, instead of failing.' },
      restore: { type: 'boolean', default: false, description: 'Input, with redact: every value has a placeholder of its own. Output: placeholders of this exchange are put back to what they stand for.' },
      placeholder: { type: 'string', minLength: 1, description: 'What stands for a find; {category} and {number} are filled in. Default [{category}], with restore [{category}_{number}].' },
      defaultCountry: { type: 'string', pattern: '^[A-Z]{2}$', default: 'US', description: 'Two letters: how phone numbers without a country code are read.' },
      allow: { type: 'array', items: { type: 'string', minLength: 1 }, default: [], description: 'Values that never count, and domains whose mail addresses never count.' },
      not: { type: 'boolean', default: false, description: 'Pass when personal data is found, and fail when there is none.' },
    },
  },
  async create({ categories: chosen, redact, restore, placeholder, defaultCountry, allow, not }): Promise<Check> {
    if (chosen?.length === 0) throw new ParameterError('categories', 'is empty; leave it out for all categories');
    if (not && (redact || restore)) throw new ParameterError('not', 'cannot go with redact or restore, which pass whatever is found');
    const style = new PlaceholderStyle(placeholder ?? (restore ? '[{category}_{number}]' : '[{category}]'), restore);
    const set: ReadonlySet<string> = new Set(chosen ?? categories);
    const { country, isPhone } = await phoneCheck(defaultCountry, set.has('PHONE_NUMBER'));
    const hasNames = set.has('NAME');
    const finder = new PersonalDataFinder(recognisersOf(set, country, isPhone), hasNames ? nameTrigger : undefined, hasNames || set.has('LOCATION_ADDRESS'));
    return new PersonalDataCheck({ finder, allow: new AllowList(allow), style, redact, restore, not });
  },
});

/** The metadata of all countries is read only when phone numbers are looked for. */
async function phoneCheck(country: string, isNeeded: boolean): Promise<{ readonly country: CountryCode; readonly isPhone: PhoneCheck }> {
  if (!isNeeded) return { country: 'US', isPhone: () => false };
  const { isSupportedCountry, isValidPhoneNumber } = await import('libphonenumber-js/min');
  if (!isSupportedCountry(country)) throw new ParameterError('defaultCountry', 'is not a country with phone numbers; give two capital letters such as US or DE');
  return { country, isPhone: (number, from) => isValidPhoneNumber(number, from) };
}

interface Settings {
  readonly finder: PersonalDataFinder;
  readonly allow: AllowList;
  readonly style: PlaceholderStyle;
  readonly redact: boolean;
  readonly restore: boolean;
  readonly not: boolean;
}

class PersonalDataCheck implements Check {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  evaluate({ stage, exchange, pieces }: CheckInput): Verdict {
    const { finder, allow, style, redact, restore } = this.#settings;
    const isOutput = stage === 'output';
    const tally = new Tally();
    const edits: TextEdit[] = [];
    const list = pieces();
    let numbering: Numbering | undefined;
    for (let index = 0; index < list.length && (!isOutput || redact || !restore); index += 1) {
      const piece = list[index] as TextPiece;
      const { text } = piece;
      for (const { from, to, category } of spansOf(finder, text)) {
        const value = text.slice(from, to);
        if (allow.has(value)) continue;
        tally.add(category, placeOf(piece));
        if (!redact) continue;
        numbering ??= new Numbering(style, restore && !isOutput ? mappingOf(exchange) : undefined, restore ? list.map((other) => other.text) : []);
        edits.push({ piece: index, from, to, text: numbering.placeholderOf(category, value) });
      }
    }
    let restored = 0;
    const mapping = isOutput && restore ? givenMapping(exchange) : undefined;
    if (mapping !== undefined) {
      const restoration = new Restoration(mapping);
      list.forEach(({ text }, piece) => {
        for (const { from, to, value } of restoration.find(text, true).places) {
          edits.push({ piece, from, to, text: value });
          restored += 1;
        }
      });
    }
    return verdictOf(tally, restored, this.#settings, edits);
  }

  stream(exchange: Exchange): StreamCheck {
    return new PersonalDataStream(exchange, this.#settings);
  }
}

class PersonalDataStream implements StreamCheck {
  readonly #settings: Settings;
  readonly #spans: SpanStream | undefined;
  readonly #restoration: Restoration | undefined;
  readonly #tally = new Tally();
  #numbering: Numbering | undefined;
  #restored = 0;

  constructor(exchange: Exchange, settings: Settings) {
    this.#settings = settings;
    const mapping = settings.restore ? givenMapping(exchange) : undefined;
    this.#spans = settings.redact || !settings.restore ? new SpanStream(settings.finder) : undefined;
    this.#restoration = mapping === undefined ? undefined : new Restoration(mapping);
  }

  push(window: TextWindow): WindowResult {
    const { text, isLast, channel } = window;
    const { redact, allow, style, not } = this.#settings;
    const settled = this.#spans?.push(window);
    const found = this.#restoration?.find(text, isLast);
    const release = Math.min(settled?.release ?? text.length, found?.settled ?? text.length);
    const edits: SpanEdit[] = [];
    for (const { from, to, category } of settled?.spans ?? []) {
      if (to > release) break;
      const value = text.slice(from, to);
      if (allow.has(value)) continue;
      this.#tally.add(category, channel);
      if (!redact) return not ? { release } : { release: 0, fails: true };
      this.#numbering ??= new Numbering(style);
      edits.push({ from, to, text: this.#numbering.placeholderOf(category, value) });
    }
    for (const { from, to, value } of found?.places ?? []) {
      if (to > release) break;
      this.#restored += 1;
      edits.push({ from, to, text: value });
    }
    if (edits.length === 0) return { release };
    return { release, edits: edits.length > 1 ? edits.sort((left, right) => left.from - right.from) : edits };
  }

  verdict(): Verdict {
    return verdictOf(this.#tally, this.#restored, this.#settings);
  }
}

function spansOf(finder: PersonalDataFinder, text: string): readonly Span[] {
  const spans: Span[] = [];
  finder.find(text, 0, true, spans);
  return spans;
}

const nothingFound = constant({ pass: true, data: { detectedCategories: [], entities: [], explanation: 'no personal data found' } });

function verdictOf(tally: Tally, restored: number, { redact, not }: Settings, edits?: readonly TextEdit[]): Verdict {
  if (tally.count === 0 && restored === 0 && (redact || !not)) return nothingFound;
  const names = tally.categories().join(', ');
  const explanation = tally.count === 0
    ? restored === 0 ? 'no personal data found' : 'placeholders were replaced by what they stand for'
    : redact ? `personal data was replaced: ${names}` : `personal data found: ${names}`;
  const pass = redact || (tally.count > 0) === not;
  const data: Json = tally.data(explanation);
  return { pass, ...(pass ? {} : { why: explanation }), data, ...(edits === undefined || edits.length === 0 ? {} : { edits }) };
}

const isMapping = (value: unknown): value is Mapping => value instanceof Map;

/** Placeholders that the input check gave in this exchange. */
function givenMapping({ notes }: Exchange): Mapping | undefined {
  const value = notes.get(notesKey);
  return isMapping(value) && value.size > 0 ? value : undefined;
}

function mappingOf({ notes }: Exchange): Mapping {
  const known = notes.get(notesKey);
  if (isMapping(known)) return known;
  const mapping: Mapping = new Map();
  notes.set(notesKey, mapping);
  return mapping;
}
