export interface DetectedLanguage {
  /** ISO 639-1. */
  readonly language: string;
  /** 0 to 1: how well the text fits the language. Languages that are alike have much the same. */
  readonly confidence: number;
  readonly isReliable: boolean;
  /** The confidence of all languages that came into question. */
  readonly scores: Readonly<Record<string, number>>;
}

interface Eld {
  detect(text: string): { readonly language: string; getScores(): Record<string, number>; isReliable(): boolean };
}

/** The library reads the first 350 bytes or so of what it is given. Of longer texts it gets this many samples, evenly spread. */
const samplesMax = 3;
const sampleLength = 400;

export class LanguageDetector {
  readonly #eld: Eld;

  private constructor(eld: Eld) {
    this.#eld = eld;
  }

  /** The library and its data (1.6 MB) are loaded with the first detector. */
  static async load(): Promise<LanguageDetector> {
    // The typings of the package describe the root entry; the other entries have the same shape.
    const { eld } = await import('eld/small');
    return new LanguageDetector(eld);
  }

  /** Undefined when the text has nothing that belongs to a language. */
  detect(text: string): DetectedLanguage | undefined {
    const samples = samplesOf(text);
    if (samples.length === 1) {
      const found = this.#eld.detect(samples[0] ?? '');
      if (found.language === '') return undefined;
      const scores = found.getScores();
      return { language: found.language, confidence: rounded(scores[found.language] ?? 0), isReliable: found.isReliable(), scores };
    }
    const sums: Record<string, number> = {};
    let judged = 0;
    let reliable = 0;
    for (const sample of samples) {
      const found = this.#eld.detect(sample);
      if (found.language === '') continue;
      judged += 1;
      if (found.isReliable()) reliable += 1;
      for (const [language, score] of Object.entries(found.getScores())) sums[language] = (sums[language] ?? 0) + score;
    }
    if (judged === 0) return undefined;
    const scores = Object.fromEntries(Object.entries(sums).map(([language, sum]) => [language, sum / judged]));
    const [best] = Object.entries(scores).sort(([, one], [, other]) => other - one);
    return best === undefined ? undefined : { language: best[0], confidence: rounded(best[1]), isReliable: reliable * 2 > judged, scores };
  }
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

function samplesOf(text: string): string[] {
  if (text.length <= sampleLength * 2) return [prose(text)];
  const count = text.length <= sampleLength * 5 ? 2 : samplesMax;
  const step = (text.length - sampleLength) / (count - 1);
  return Array.from({ length: count }, (_, index) => {
    const from = Math.round(index * step);
    const sample = text.slice(from, from + sampleLength);
    // Not from the middle of a word.
    const blank = from === 0 ? -1 : sample.indexOf(' ');
    return prose(blank > 0 && blank < 40 ? sample.slice(blank) : sample);
  });
}

/** Without addresses, numbers and other words of no language. */
const prose = (text: string): string => text.replace(/(?:https?:\/\/|www\.)\S{0,2000}|[^\s@]{1,64}@\S{1,200}|\S{0,40}[0-9_{}<>=\\]\S{0,40}/g, ' ');

/** Letters in a text; one of Chinese, Japanese or Korean says as much as two and a half of an alphabet. */
export function letterCount(text: string, enough: number): number {
  let letters = 0;
  for (let at = 0; at < text.length && letters < enough; at += 1) {
    const code = text.charCodeAt(at);
    const isLetter = code < 0x80
      ? (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
      : code >= 0xaa && code !== 0xd7 && code !== 0xf7 && (code < 0x2000 || code > 0x303f);
    if (isLetter) letters += code >= 0x3040 && code < 0xd7b0 ? 2.5 : 1;
  }
  return letters;
}
