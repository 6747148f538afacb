/** One text of a body: what somebody wrote, or will read. */
export interface TextPiece {
  /** Place in the body, name by name: `['messages', 2, 'content', 0, 'text']`. Behind a text that is JSON the place goes on inside of it. */
  readonly at: readonly (string | number)[];
  /**
   * `text`: what is said. `arguments`: one value, or the name of one, in the arguments of a tool call. `thinking`: the model's reasoning. `field`:
   * any other text of the body: names, descriptions, metadata, citations, and whatever no list of harmless places knows.
   */
  readonly kind: 'text' | 'arguments' | 'thinking' | 'field';
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** What belongs together: the index of the message or list item, of an answer the choice. */
  readonly group: number;
  readonly text: string;
  /** From here on the names in `at` are not the dialect's but were chosen by whoever wrote the body. */
  readonly ownFrom?: number;
  /** The text is the name of the member at this place, not its value; an edit renames it. */
  readonly isName?: true;
  /** The text is told by a list of parts, which an edit takes out as a whole: `logprobs`. */
  readonly isList?: true;
  /** The text was read out of a file that the place holds in base64, behind this; an edit encodes it anew. */
  readonly fileBefore?: string;
}

/** The characters from `from` up to, not including, `to` (UTF-16 units) become `text`. */
export interface SpanEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface TextEdit extends SpanEdit {
  /** Index in `pieces()`. */
  readonly piece: number;
}
