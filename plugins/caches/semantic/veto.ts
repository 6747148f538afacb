// Vectors of questions that differ in one number, name or "not" are nearly the same. The veto reads both texts and says where a match is none.
// It is pure. Where only the model can tell whether two words mean the same, it says which words to compare.

import { antonymsBetween, questionOf, readQuestion, sameSequence, sameSet, type Question } from './question.js';
import { commands, exact, polar, synonyms, units } from './veto-words.js';

export type Judgement =
  | { readonly verdict: 'same' }
  | { readonly verdict: 'different'; readonly why: string }
  /** The texts differ in these words; they mean the same when the model finds the words near enough. */
  | { readonly verdict: 'compare'; readonly left: string; readonly right: string };

/** The model's similarity of two differing words from which they count as one. Measured on the tuning half of the labelled pairs. */
export const wordSimilarityMin = 0.88;
/** More differing words than this on one side are never compared. */
const differingWordsMax = 1;
/** A text with more than this many words more than the other says more. */
const lengthRatioMax = 3;

const same: Judgement = { verdict: 'same' };
const different = (why: string): Judgement => ({ verdict: 'different', why });

/** Whether an answer to `left` may answer `right`, as far as words tell. */
export function judge(left: string, right: string): Judgement {
  if (left === right) return same;
  const [a, b] = [readQuestion(left), readQuestion(right)];
  if (a.unspaced || b.unspaced) return a.bare === b.bare ? same : different('texts without spaces are only matched when they are the same but for punctuation');
  const longest = Math.max(a.tokens.length, b.tokens.length);
  if (longest > 6 && longest > lengthRatioMax * Math.min(a.tokens.length, b.tokens.length)) return different('one text is much longer');
  if (a.language !== b.language) return different('the languages differ');
  if (!sameSequence(a.numbers, b.numbers)) return different('the numbers differ');
  if (!sameSet(a.operators, b.operators)) return different('the operators differ');
  if (a.isNegated !== b.isNegated) return different('one text is negated');
  if (!sameSet(a.identifiers, b.identifiers)) return different('the identifiers differ');
  if (missingName(a, b) || missingName(b, a)) return different('the names differ');
  if (a.possessors.size > 0 && b.possessors.size > 0 && !sameSet(a.possessors, b.possessors)) return different('the persons differ');
  if (!sameSet(a.persons, b.persons)) return different('the persons differ');
  if (a.tense !== undefined && b.tense !== undefined && a.tense !== b.tense) return different('the times differ');
  return judgeContent(a, b);
}

function judgeContent(a: Question, b: Question): Judgement {
  const [left, right] = differences(a, b);
  if (antonymsBetween(left, right) || antonymsBetween(onlyIn(a, b), onlyIn(b, a))) return different('a word is the opposite of another');
  for (const word of [...left, ...right]) if (polar.has(word)) return different('a word that turns the meaning stands in one text only');
  const asked = questionOf(a, b, left, right);
  if (asked === 'different') return different('they ask for different things');
  const [leftRest, rightRest] = asked;
  if (leftRest.length === 0 && rightRest.length === 0) return judgeOrder(a, b);
  if (leftRest.length === 0 || rightRest.length === 0) return different('one text says more');
  if (leftRest.length > differingWordsMax || rightRest.length > differingWordsMax) return different('the texts differ in several words');
  for (const word of [...leftRest, ...rightRest]) {
    if (exact.has(word) || units.has(word) || commands.has(word)) return different('a word that nothing else stands for differs');
  }
  // The model knows little of other languages: there, words are the same or they are not.
  if (a.language !== 'en') return different('the words differ');
  const [leftWord = '', rightWord = ''] = [leftRest[0], rightRest[0]];
  return { verdict: 'compare', left: leftWord, right: rightWord };
}

/** All words of one text, small ones too, that the other lacks. */
const onlyIn = (a: Question, b: Question): string[] => a.tokens.filter((token) => !b.tokens.includes(token));

/** The content words of each text that have no counterpart in the other. */
function differences(a: Question, b: Question): readonly [string[], string[]] {
  const rest = [...b.content];
  const left: string[] = [];
  for (const word of a.content) {
    const index = rest.findIndex((other) => alike(word, other));
    if (index === -1) left.push(word);
    else rest.splice(index, 1);
  }
  return [left, rest];
}

function alike(left: string, right: string): boolean {
  if (left === right) return true;
  const [leftGroups, rightGroups] = [synonyms.get(left), synonyms.get(right)];
  return leftGroups !== undefined && rightGroups !== undefined && leftGroups.some((group) => rightGroups.includes(group));
}

const prepositions = new Set(['in', 'on', 'at', 'for', 'with', 'to', 'from', 'into', 'about', 'as', 'of', 'by', 'via', 'using', 'per', 'against']);
/** Prepositions that stand for each other, and those that do before the name of a tool or place: "in Java", "with Java". */
const alikePrepositions = ['of for', 'of in', 'to into', 'at on', 'at in', 'using with', 'using in', 'via using', 'via with', 'via by'];
const alikeBeforeNames = ['in on', 'in with', 'on with', 'in for', 'on for', 'using on'];

/** One and the same word stands behind unlike prepositions: the rent "for Anna" is not the rent "to Anna". */
function turnedByPreposition(a: Question, b: Question): boolean {
  const [left, right] = [behindPrepositions(a), behindPrepositions(b)];
  for (const [word, one] of left) {
    const other = right.get(word);
    if (other === undefined || other === one || a.content.filter((content) => content === word).length > 1) continue;
    const pairs = a.names.has(word) || b.names.has(word) ? [...alikePrepositions, ...alikeBeforeNames] : alikePrepositions;
    if (!pairs.includes(`${one} ${other}`) && !pairs.includes(`${other} ${one}`)) return true;
  }
  return false;
}

/** Each content word with the last preposition between it and the content word before it. */
function behindPrepositions(question: Question): Map<string, string> {
  const found = new Map<string, string>();
  let last = '';
  for (const [index, token] of question.tokens.entries()) {
    const word = question.stems[index] ?? '';
    if (word !== '') {
      if (last !== '' && !found.has(word)) found.set(word, last);
      last = '';
    } else if (prepositions.has(token)) {
      last = token;
    }
  }
  return found;
}

const directed = new Set(['from', 'to', 'into', 'than', 'over', 'by', 'between', 'for', 'against', 'vs', 'versus', 'of', 'with']);
const oriented = new Set(['from', 'to', 'into', 'than', 'over', 'against']);

/** Small words that turn the direction, the place or the time of what is asked. "To" is none of them: it also only begins an infinitive. */
const turning = ['from', 'out', 'off', 'up', 'down', 'over', 'under', 'above', 'below', 'until', 'since', 'between', 'among', 'through', 'than', 'during', 'within', 'against'];

/** The same words in another order: "miles to km" is not "km to miles", but "in Python a list" is "a list in Python". */
function judgeOrder(a: Question, b: Question): Judgement {
  for (const word of turning) if (a.tokens.includes(word) !== b.tokens.includes(word)) return different('a small word that turns the meaning stands in one text only');
  if (turnedByPreposition(a, b)) return different('the words before a word turn the meaning');
  const [left, right] = [roles(a), roles(b)];
  for (const [marker, word] of left) {
    const other = right.get(marker);
    if (oriented.has(marker) && other !== undefined && !alike(word, other)) return different('the roles of the words differ');
  }
  const isOrdered = a.content.length === b.content.length && a.content.every((word, index) => alike(word, b.content[index] ?? ''));
  const byOne = left.has('by') !== right.has('by');
  if (isOrdered) return byOne ? different('the roles of the words differ') : same;
  if (byOne) return same;
  // "What causes X" asks for the doer, "what does X cause" for what is done.
  if (a.asksForObject !== b.asksForObject) return different('the roles of the words differ');
  if (sameShape(a, b)) return different('the words stand in another order');
  // With the same small words and marks on both sides a change of order changes who does what to whom.
  for (const marker of oriented) if (a.tokens.includes(marker) !== b.tokens.includes(marker) && left.size + right.size > 2) return different('the roles of the words differ');
  return inversions(a, b) > 4 ? different('the words stand in another order') : same;
}

/** The word after each marker of a role. */
function roles(question: Question): Map<string, string> {
  const found = new Map<string, string>();
  for (const [index, token] of question.tokens.entries()) {
    if (!directed.has(token) || found.has(token)) continue;
    const next = question.stems.find((stem, at) => at > index && stem !== '');
    if (next !== undefined) found.set(token, next);
  }
  return found;
}

/** The small words are the same and in the same places. */
function sameShape(a: Question, b: Question): boolean {
  const shape = (question: Question): string => question.tokens.map((token, index) => (question.stems[index] === '' ? token : '#')).join(' ');
  return shape(a) === shape(b);
}

function inversions(a: Question, b: Question): number {
  const places = a.content.map((word) => b.content.findIndex((other) => alike(word, other)));
  let count = 0;
  for (let left = 0; left < places.length; left += 1) {
    for (let right = left + 1; right < places.length; right += 1) if ((places[left] ?? 0) > (places[right] ?? 0)) count += 1;
  }
  return count;
}

/** A name of one text that is not in the other, in any spelling of its case. */
function missingName(a: Question, b: Question): boolean {
  for (const name of a.names) if (!b.stems.some((stem) => alike(stem, name)) && !b.tokens.includes(name)) return true;
  return false;
}
