/**
 * How `letter-model.ts` was made: from the vocabulary of a tokenizer, whose words stand in the order of how often they occur in text of all
 * languages. Run by hand when the model is to change; the test compares.
 */
import { foldedWord, rowLength, symbolCount } from './letters.js';

/** Tokens that are a word of Latin letters with the blank before it. Shorter ones are mostly parts of codes. */
const word = /^ [\p{Script=Latin}]{3,}$/u;

/** Weight of a word by its place in the vocabulary: frequent words count more, but not so much that rare languages vanish. */
const weightOf = (rank: number): number => 1 / Math.pow(rank + 500, 0.7);

/** So often a letter is taken to follow any two others. */
const smoothing = 0.002;

/** One character for each trigram: how surprising its last letter is after the first two, in half bits, from `0` on. */
export function trainModel(vocabulary: readonly unknown[]): string {
  const counts = new Float64Array(symbolCount * symbolCount * symbolCount);
  let total = 0;
  vocabulary.forEach((token, rank) => {
    if (typeof token !== 'string' || !word.test(token)) return;
    const symbols = foldedWord(token.slice(1));
    if (symbols.length < 3) return;
    const weight = weightOf(rank);
    let first = 0;
    let second = 0;
    for (const third of symbols) {
      if (third === 0) return;
      const slot = (first * symbolCount + second) * symbolCount + third;
      counts[slot] = (counts[slot] ?? 0) + weight;
      total += weight;
      [first, second] = [second, third];
    }
  });
  const scale = 1_000_000 / total;
  let model = '';
  for (let row = 0; row < rowLength; row += 1) {
    let sum = 0;
    for (let third = 1; third < symbolCount; third += 1) sum += (counts[row * symbolCount + third] ?? 0) * scale;
    for (let third = 0; third < symbolCount; third += 1) {
      // A pair that hardly occurs says little about what follows it: it is surprising by itself.
      const probability = ((counts[row * symbolCount + third] ?? 0) * scale + smoothing * 10) / (sum + smoothing * 10 * 26 + 30);
      model += String.fromCharCode(0x30 + Math.min(surpriseMax, Math.round(-2 * Math.log2(probability))));
    }
  }
  return model;
}

const surpriseMax = 40;
