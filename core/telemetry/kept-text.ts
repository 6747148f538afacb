/** A text that goes into record after record. It knows its number in the dictionary that has it (core/logs/dictionary.ts), so that no call looks it up. */
export class KeptText {
  number = 0;
  /** Of the dictionary that gave the number, since it last began anew; null: none did. */
  era: object | null = null;

  constructor(readonly text: string) {}
}
