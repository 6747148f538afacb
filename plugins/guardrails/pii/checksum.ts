// Check digits. All take plain digits (or letters) without separators.

const digitAt = (digits: string, at: number): number => digits.charCodeAt(at) - 48;

export const digitsOf = (text: string): string => text.replace(/\D/g, '');

/** ISO/IEC 7812: cards, Canadian SIN. */
export function luhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at -= 1, isDoubled = !isDoubled) {
    const digit = digitAt(digits, at);
    sum += isDoubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}

export function weightedSum(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at += 1) sum += digitAt(digits, at) * (weights[at] ?? 0);
  return sum;
}

/** ISO/IEC 7064 mod 97-10, letters as 10 to 35: the number's rest. */
export function mod97(text: string): number {
  let rest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const value = Number.parseInt(text.charAt(at), 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}

/** ISO/IEC 7064 mod 11,10: German tax id. */
export function mod1110(digits: string): boolean {
  let product = 10;
  for (let at = 0; at < digits.length - 1; at += 1) {
    const sum = (digitAt(digits, at) + product) % 10;
    product = (2 * (sum === 0 ? 10 : sum)) % 11;
  }
  return (11 - product) % 10 === digitAt(digits, digits.length - 1);
}

/** Dihedral group of order 10: product of two digits. */
const dihedral = (left: number, right: number): number => {
  if (left < 5) return right < 5 ? (left + right) % 5 : 5 + ((left + right - 5) % 5);
  return right < 5 ? 5 + ((left - 5 - right + 5) % 5) : (left - right + 5) % 5;
};

const verhoeffTurns = ['0123456789', '1576283094', '5803796142', '8916043527', '9453126870', '4286573901', '2793806415', '7046913258'];

/** Aadhaar. */
export function verhoeff(digits: string): boolean {
  let check = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const turned = digitAt(verhoeffTurns[at % 8] ?? '', digitAt(digits, digits.length - 1 - at));
    check = dihedral(check, turned);
  }
  return check === 0;
}

/** Brazil: the last two digits, each over all before it. */
export function cpf(digits: string): boolean {
  if (/^(\d)\1*$/.test(digits)) return false;
  for (const length of [9, 10]) {
    let sum = 0;
    for (let at = 0; at < length; at += 1) sum += digitAt(digits, at) * (length + 1 - at);
    if ((sum * 10) % 11 % 10 !== digitAt(digits, length)) return false;
  }
  return true;
}

/** Values of a codice fiscale's characters in odd places (the first is odd): of 0 to 9 and A to J, then of K to Z. */
const fiscalOdd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

export function codiceFiscale(text: string): boolean {
  let sum = 0;
  for (let at = 0; at < 15; at += 1) {
    const value = Number.parseInt(text.charAt(at), 36);
    const letter = value > 9 ? value - 10 : value;
    sum += at % 2 === 0 ? fiscalOdd[letter] ?? 0 : letter;
  }
  return text.charCodeAt(15) === 65 + (sum % 26);
}

const vinValues = '0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ';
const vinWeights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** ISO 3779 with the check digit in place nine, as in North America and China. */
export function vin(text: string): boolean {
  let sum = 0;
  for (let at = 0; at < 17; at += 1) sum += (vinValues.indexOf(text.charAt(at)) % 10) * (vinWeights[at] ?? 0);
  return '0123456789X'.charAt(sum % 11) === text.charAt(8);
}
