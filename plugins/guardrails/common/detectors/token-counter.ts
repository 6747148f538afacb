export const encodingNames = ['o200k_base', 'cl100k_base'] as const;
export type EncodingName = (typeof encodingNames)[number];

export interface TokenCount {
  readonly tokens: number;
  /** False when a run of characters without any word boundary was so long that it was counted in parts: then it is off by at most one token a part. */
  readonly isExact: boolean;
}

/** The longest token of both encodings, in bytes: 128 blanks. A text of n bytes has at least n / 128 tokens, and at most n. */
export const tokenBytesMax = 128;

/**
 * The encoder's cost grows with the square of a run that it cannot split: a letter repeated 100 000 times would take seconds. Runs longer than
 * this are counted in parts.
 */
const runLengthMax = 128;

/** Merged runs the encoder remembers. Its own default would keep hundreds of megabytes of what hostile texts are made of. */
const mergeCacheSize = 5000;

/** So that `<|endoftext|>` and its kin in a text are characters like any other; the encoder throws otherwise. */
const asText = { disallowedSpecial: new Set<string>() };

interface Encoder {
  countTokens(text: string, options: typeof asText): number;
  isWithinTokenLimit(text: string, limit: number, options: typeof asText): false | number;
}

const letter = 1;
const number = 4;

/** Counts tokens of OpenAI's encodings. The encoder and its vocabulary are loaded with the first counter that asks for them. */
export class TokenCounter {
  readonly #encoder: Encoder;
  readonly #classes = characterClasses();

  private constructor(encoder: Encoder) {
    this.#encoder = encoder;
  }

  static async load(name: EncodingName): Promise<TokenCounter> {
    const encoder = name === 'o200k_base' ? await import('gpt-tokenizer/encoding/o200k_base') : await import('gpt-tokenizer/encoding/cl100k_base');
    encoder.setMergeCacheSize(mergeCacheSize);
    return new TokenCounter(encoder);
  }

  /** The tokens of a text; counting stops as soon as there are more than `limit`, and then the answer is undefined. */
  count(text: string, limit: number): TokenCount | undefined {
    let tokens = 0;
    let isExact = true;
    let from = 0;
    const add = (to: number): boolean => {
      const found = this.#encoder.isWithinTokenLimit(from === 0 && to === text.length ? text : text.slice(from, to), limit - tokens, asText);
      if (found === false) return false;
      tokens += found;
      from = to;
      return true;
    };
    for (const cut of this.#cuts(text)) {
      isExact = false;
      if (!add(cut)) return undefined;
    }
    return add(text.length) ? { tokens, isExact } : undefined;
  }

  /** Where a text has to be cut because nothing in it ends a run. */
  #cuts(text: string): number[] {
    const classes = this.#classes;
    const cuts: number[] = [];
    let current = 0;
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const kind = classes[text.charCodeAt(at)] ?? letter;
      if (kind !== current || kind === number) {
        current = kind;
        start = at;
      } else if (at - start >= runLengthMax && !isTrailing(text.charCodeAt(at))) {
        cuts.push(at);
        start = at;
      }
    }
    return cuts;
  }

  /**
   * The last place before which no later character can change how the text is split into words: behind a letter, before something that is
   * neither letter, mark nor apostrophe. 0 when there is none.
   */
  settled(text: string): number {
    const classes = this.#classes;
    for (let at = text.length - 1; at > 0; at -= 1) {
      const code = text.charCodeAt(at);
      if (classes[code] !== letter && code !== 0x27 && code !== 0x2019 && classes[text.charCodeAt(at - 1)] === letter && !isSurrogate(text.charCodeAt(at - 1))) return at;
    }
    return 0;
  }
}

const isTrailing = (code: number): boolean => (code & 0xfc00) === 0xdc00;
const isSurrogate = (code: number): boolean => (code & 0xf800) === 0xd800;

/** The class of each UTF-16 unit, as the encoders' splitting sees it: letters and marks, blanks, digits, the rest. */
function characterClasses(): Uint8Array {
  const classes = new Uint8Array(0x10000);
  for (let code = 0; code < classes.length; code += 1) {
    const character = String.fromCharCode(code);
    classes[code] = isSurrogate(code) || /[\p{L}\p{M}]/u.test(character) ? letter : /\s/u.test(character) ? 2 : /\p{N}/u.test(character) ? number : 3;
  }
  return classes;
}
