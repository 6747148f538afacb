// Reads a question: its words, numbers, names, negations, person, time and what it asks for.

import { fillers, functionWords, irregular, negations, numberWords, opposed, ordinals, phrases, synonyms, units } from './veto-words.js';

export type Asks = 'what' | 'who' | 'when' | 'where' | 'why' | 'quantity' | 'manner' | 'decision' | 'which' | 'whose';

export interface Question {
  /** All words in lower case, in order. */
  readonly tokens: readonly string[];
  /** For each token its stem when it is a content word, else empty. */
  readonly stems: readonly string[];
  /** The stems of the content words, in order. */
  readonly content: readonly string[];
  /** Numbers, in order, as text: `15`, `o1` for "first". */
  readonly numbers: readonly string[];
  readonly operators: readonly string[];
  /** Stems of capitalised words that do not begin a sentence. */
  readonly names: ReadonlySet<string>;
  /** Words with dots, underscores, digits or capitals within, as they are written. */
  readonly identifiers: readonly string[];
  readonly isNegated: boolean;
  readonly possessors: ReadonlySet<string>;
  /** Third persons. */
  readonly persons: ReadonlySet<string>;
  readonly tense: 'past' | 'present' | 'future' | undefined;
  readonly asks: Asks;
  /** "What does X cause", not "what causes X". */
  readonly asksForObject: boolean;
  readonly language: string;
  /** Written without spaces between words. */
  readonly unspaced: boolean;
  /** Only letters and digits, in lower case. */
  readonly bare: string;
}

const unspacedScript = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;
const identifierPattern = /[\p{L}\p{N}][._/:@][\p{L}\p{N}]|_|\p{Ll}\p{Lu}|\p{L}\p{N}|[#@]/u;
const numberPattern = /^([$€£¥₹]?)(\d[\d.,:/-]*)(\p{L}+|%)?$/u;
const possessives: Readonly<Record<string, string>> = {
  my: 'speaker', mine: 'speaker', our: 'speaker', ours: 'speaker', your: 'listener', yours: 'listener', his: 'he', her: 'she', their: 'they',
};
const thirdPersons: Readonly<Record<string, string>> = { he: 'he', him: 'he', his: 'he', she: 'she', her: 'she', hers: 'she', they: 'they', them: 'they', their: 'they' };
const pastWords = new Set(['was', 'were', 'did', 'had']);
const presentWords = new Set(['is', 'are', 'do', 'does', 'has', 'have', 'am']);

export function readQuestion(text: string): Question {
  const plain = text.normalize('NFKC').replace(/[’‘`]/gu, "'");
  const unspaced = unspacedScript.test(plain);
  const bare = plain.toLowerCase().replace(/[^\p{L}\p{M}\p{N}+*/<>=-]+/gu, '');
  const raw = rawWords(plain);
  const language = languageOf(raw.map(({ word }) => word.toLowerCase()));
  const tokens = joined(raw.map(({ word }) => word.toLowerCase()).join(' '));
  const small = functionWords[language] ?? new Set<string>();
  const numbers: string[] = [];
  const operators: string[] = [];
  const stems: string[] = [];
  const persons = new Set<string>();
  const possessors = new Set<string>();
  let negated = 0;
  let hasPast = false;
  let hasPresent = false;
  let hasFuture = false;
  for (const token of tokens) {
    const stemmed = readToken(token, language, small, numbers, operators);
    stems.push(stemmed);
    if (negations.has(token.replace(/'/gu, '')) || /n't$/u.test(token)) negated += 1;
    const [person, possessor] = [thirdPersons[token], possessives[token]];
    if (language === 'en' && person !== undefined) persons.add(person);
    if (language === 'en' && possessor !== undefined) possessors.add(possessor);
    hasPast ||= pastWords.has(token);
    hasPresent ||= presentWords.has(token);
    hasFuture ||= token === 'will' || token === "'ll";
  }
  const names = new Set<string>();
  const identifiers: string[] = [];
  for (const { word, begins } of raw) {
    if (identifierPattern.test(word) && !numberPattern.test(word.toLowerCase())) identifiers.push(word);
    else if (!begins && /^\p{Lu}/u.test(word) && word !== 'I') names.add(stem(word.toLowerCase().replace(/'s?$/u, ''), language));
  }
  const firstNames = joined([...names].join(' '));
  return {
    tokens, stems, content: stems.filter((word) => word !== ''), numbers, operators: operators.sort(),
    names: new Set(firstNames.filter((name) => !functionWords['en']?.has(name) && !fillers.has(name) && !numberWords.has(name) && !ordinals.has(name))),
    identifiers: identifiers.sort(), isNegated: negated % 2 === 1, possessors, persons,
    tense: language !== 'en' ? undefined : hasFuture ? 'future' : hasPast ? 'past' : hasPresent ? 'present' : undefined,
    asks: asksFor(tokens), asksForObject: /(?:^| )(?:what|who|whom|which) (?:do|does|did) /u.test(tokens.join(' ')), language, unspaced, bare,
  };
}

interface RawWord {
  readonly word: string;
  /** It begins a sentence: its capital says nothing. */
  readonly begins: boolean;
}

function rawWords(text: string): RawWord[] {
  const found: RawWord[] = [];
  let end = 0;
  for (const match of text.matchAll(/[\p{L}\p{M}\p{N}$€£¥₹%_.,:/@#'-]+|[+*<>=^&|~]+/gu)) {
    const begins = found.length === 0 || /[.?!:¿¡]\s*$/u.test(text.slice(Math.max(0, end - 1), match.index));
    end = match.index + match[0].length;
    // Marks at the ends belong to the sentence, not to the word.
    const trimmed = match[0].replace(/^[.,:'@]+|[.,:/']+$/gu, '');
    if (trimmed === '') {
      if (/^[/-]+$/u.test(match[0])) found.push({ word: match[0], begins: false });
      continue;
    }
    if (/^-+$/u.test(trimmed)) found.push({ word: trimmed, begins: false });
    else if (/^\p{L}+(?:-\p{L}+)+$/u.test(trimmed)) for (const [index, part] of trimmed.split('-').entries()) found.push({ word: part, begins: begins && index === 0 });
    else found.push({ word: trimmed, begins });
  }
  return found;
}

/** Phrases as one word, then the words. */
function joined(text: string): string[] {
  let padded = ` ${text} `;
  for (const [phrase, word] of phrases) if (padded.includes(` ${phrase} `)) padded = padded.replaceAll(` ${phrase} `, word === '' ? ' ' : ` ${word} `);
  return padded.split(' ').filter((word) => word !== '');
}

/** The stem of a content word, else empty; numbers and operators go into their lists. */
function readToken(token: string, language: string, small: ReadonlySet<string>, numbers: string[], operators: string[]): string {
  if (/^[+*/<>=^&|~-]+$/u.test(token)) {
    operators.push(token);
    return '';
  }
  const number = numberPattern.exec(token);
  if (number !== null) {
    const [, currency = '', digits = '', suffix = ''] = number;
    numbers.push(digits.replace(/,(?=\d{3}(?:\D|$))/gu, '').replace(/[.,:/-]+$/u, ''));
    return units.get(currency) ?? units.get(suffix) ?? suffix;
  }
  const written = numberWords.get(token);
  if (written !== undefined) {
    numbers.push(String(written));
    return '';
  }
  const place = ordinals.get(token);
  if (place !== undefined) {
    numbers.push(`o${place}`);
    return '';
  }
  if (token.length === 1 && /\d/u.test(token)) return '';
  const unit = units.get(token);
  if (unit !== undefined && language === 'en') return unit;
  const word = token.replace(/'s?$/u, '').replace(/n't$/u, '');
  if (negations.has(token.replace(/'/gu, '')) || small.has(word) || word === '' || (language === 'en' && fillers.has(word))) return '';
  const stemmed = stem(word, language);
  return language === 'en' && fillers.has(stemmed) ? '' : stemmed;
}

/** Light: endings of number and of verbs go. Both texts are stemmed alike, so a wrong stem does no harm unless two words meet in it. */
export function stem(word: string, language: string): string {
  if (language !== 'en') return word;
  const known = irregular.get(word);
  if (known !== undefined) return known;
  if (synonyms.has(word) || word.length < 4) return word;
  let cut = word;
  if (cut.endsWith('ies') && cut.length > 4) cut = `${cut.slice(0, -3)}y`;
  else if (/(?:s|x|z|ch|sh)es$/u.test(cut)) cut = cut.slice(0, -2);
  else if (cut.endsWith('s') && !/(?:ss|us|is)$/u.test(cut)) cut = cut.slice(0, -1);
  if (synonyms.has(cut)) return cut;
  for (const ending of ['ing', 'ed']) {
    if (!cut.endsWith(ending) || cut.length - ending.length < 3 || !/[aeiouy]/u.test(cut.slice(0, -ending.length))) continue;
    cut = cut.slice(0, -ending.length);
    if (/([b-df-hj-np-tv-z])\1$/u.test(cut) && !/(?:ll|ss|zz)$/u.test(cut)) cut = cut.slice(0, -1);
    break;
  }
  if (synonyms.has(cut)) return cut;
  return cut.length > 3 && cut.endsWith('e') ? cut.slice(0, -1) : cut;
}

/** The language whose small words are the most; English when none is. */
function languageOf(tokens: readonly string[]): string {
  let best = 'en';
  let most = 0;
  for (const [language, small] of Object.entries(functionWords)) {
    let count = 0;
    for (const token of tokens) if (small.has(token)) count += 1;
    if (count > most) [best, most] = [language, count];
  }
  const letters = tokens.join('');
  if (most === 0 && /[^\p{Script=Latin}\p{N}\p{P}\p{S}\s]/u.test(letters)) return 'other';
  return best;
}

const measures = new Set(['many', 'much', 'long', 'far', 'high', 'tall', 'big', 'large', 'old', 'fast', 'deep', 'often', 'heavy', 'wide', 'hot', 'cold', 'expensive', 'soon']);
const openers = new Set(['is', 'are', 'can', 'could', 'should', 'do', 'does', 'did', 'was', 'were', 'will', 'has', 'have', 'may', 'must']);

function asksFor(tokens: readonly string[]): Asks {
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1] ?? '';
    if (token === 'how') {
      if (measures.has(next)) return 'quantity';
      return 'manner';
    }
    if (token === 'who' || token === 'whom') return 'who';
    if (token === 'whose') return 'whose';
    if (token === 'when') return 'when';
    if (token === 'where') return 'where';
    if (token === 'why') return 'why';
    if (token === 'which') return 'which';
    if (token === 'what') return 'what';
    if (index === 0 && openers.has(token)) return next === 'you' ? 'what' : 'decision';
  }
  return 'what';
}

/** Words that say in another way what an interrogative asks. */
const support: Readonly<Partial<Record<Asks, ReadonlySet<string>>>> = {
  who: new Set(['person', 'author', 'painter', 'inventor', 'name', 'people']),
  when: new Set(['time', 'year', 'date', 'day', 'hour', 'month', 'open']),
  where: new Set(['place', 'location', 'located', 'city', 'country']),
  why: new Set(['reason', 'caus', 'make', 'explanation']),
  quantity: new Set(['number', 'population', 'people', 'height', 'high', 'tall', 'length', 'long', 'distance', 'far', 'speed', 'fast', 'size', 'big', 'large', 'price',
    'cost', 'amount', 'much', 'many', 'day', 'hour', 'time', 'temperature', 'age', 'old', 'live', 'percent']),
  manner: new Set<string>(),
};
const neutral: ReadonlySet<Asks> = new Set(['what', 'which']);

const classes = new Set(['city', 'country', 'person', 'place', 'town']);

function withoutClass(question: Question, words: readonly string[]): readonly string[] {
  return words.filter((word) => !(classes.has(word) && ['which', 'what'].includes(question.tokens[question.stems.indexOf(word) - 1] ?? '')));
}

/** The differing words that are left when those that only ask are taken away; `different` when the texts ask for different things. */
export function questionOf(a: Question, b: Question, left: readonly string[], right: readonly string[]): 'different' | readonly [readonly string[], readonly string[]] {
  if (a.asks === b.asks) return [left, right];
  if (neutral.has(a.asks) && neutral.has(b.asks)) {
    // "Which city is the capital": the class that the answer belongs to may be left out.
    if (left.length > 0 && right.length > 0) return [left, right];
    return [withoutClass(a, left), withoutClass(b, right)];
  }
  const [strong, weak] = neutral.has(a.asks) ? [b.asks, a] : [a.asks, b];
  if (!neutral.has(weak.asks)) return 'different';
  // "How do I ..." and "steps to ..." ask alike; so do commands. "What is X" and "how is X" do as well, as far as words tell.
  if (strong === 'manner') return [left, right];
  if (strong === 'decision') return 'different';
  const helpers = support[strong];
  if (helpers === undefined || !weak.stems.some((stemmed) => helpers.has(stemmed)) && !weak.tokens.some((token) => helpers.has(token))) return 'different';
  const without = (words: readonly string[]): string[] => words.filter((word) => !helpers.has(word));
  return [without(left), without(right)];
}

export function antonymsBetween(left: readonly string[], right: readonly string[]): boolean {
  return left.some((one) => right.some((other) => opposed(one, other)));
}

export function sameSequence(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

export function sameSet(left: Iterable<string>, right: Iterable<string>): boolean {
  return sameSequence([...left].sort(), [...right].sort());
}
