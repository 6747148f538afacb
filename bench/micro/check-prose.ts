// English-like prose of any length, the same each time: common words in sentences of changing length, with names, numbers and paragraphs.
// Dashes and apostrophes are those of typography, as models write them. Nothing in it is personal data, a secret, code or a link, so that detectors read it to the end.

const words = (
  'the of and to in a is that for it was on are as with they at be this from have or by one had not but what all were when we there can an your which their said if do '
  + 'will each about how up out them then she many some so these would other into has more two like him see time could no make than first been its who now people my made '
  + 'over did down only way find use may water long little very after words called just where most know get through back much before go good new write our used me man '
  + 'too any day same right look think also around another came come work three word must because does part even place well such here take why things help put years '
  + 'different away again off went old number great tell men say small every found still between should home big give air line set own under read last never us '
  + 'left end along while might next sound below saw something thought both few those always show large often together asked house world going want school important '
  + 'until form food keep children feet land side without boy once animals life enough took four head above kind began almost live page got earth need far hand high '
  + 'year mother light country father let night following picture being study second soon story since white ever paper hard near sentence better best across during '
  + 'today however sure knew try told young sun thing whole hear example heard several change answer room sea against top turned learn point city play toward five '
  + 'himself usually money seen car morning body upon family later turn move face door cut done group true half red fish plants'
).split(' ');
const names = ['Rome', 'Vienna', 'March', 'Europe', 'Monday', 'Berlin'];
const wordsMin = 5;
const wordsSpread = 17;
const sentencesPerParagraph = 5;

/** mulberry32 (public domain): chance that is the same for each run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function prose(characters: number, seed = 7): string {
  const random = seededRandom(seed);
  const one = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  const sentences: string[] = [];
  let length = 0;
  while (length < characters) {
    const sentence = Array.from({ length: wordsMin + Math.floor(random() * wordsSpread) }, () => {
      const chance = random();
      if (chance < 0.01) return String(2 + Math.floor(random() * 90));
      return (chance < 0.03 ? one(names) : one(words)) + (chance > 0.99 ? '’s' : chance > 0.985 ? ' –' : chance > 0.95 ? ',' : '');
    }).join(' ').replace(/(?:,| –)$/, '');
    const end = sentences.length % sentencesPerParagraph === sentencesPerParagraph - 1 ? '.\n\n' : '. ';
    sentences.push(sentence.charAt(0).toUpperCase() + sentence.slice(1) + end);
    length += sentence.length + end.length;
  }
  // Flat, as a parsed body's texts are.
  return Buffer.from(sentences.join('').slice(0, characters - 1).trimEnd()).toString().concat('.');
}
