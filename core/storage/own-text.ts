// Copies of texts that stand alone. The texts of a row that was read are views of one text with the whole row in it, which lives for as long as any
// of them: whoever keeps a few texts of a row for long keeps copies.

/** Shorter texts are never views. */
const viewCharsMin = 13;

export function ownText(text: string): string {
  if (text.length < viewCharsMin) return text;
  const copy = Buffer.from(text, 'latin1').toString('latin1');
  // Characters beyond latin-1, which JSON keeps whatever they are.
  return copy === text ? copy : String(JSON.parse(JSON.stringify(text)));
}

/** The same for all texts in a value of JSON, which is changed in place; frozen parts stay as they are. */
export function ownTexts<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    const members: Record<string, unknown> = Object(value);
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === 'string') members[name] = ownText(member);
      else ownTexts(member);
    }
  }
  return value;
}
