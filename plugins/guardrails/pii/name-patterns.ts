// Names and street addresses cannot be known without a model. These patterns find them where the text itself says what comes: "my name is",
// a title, a house number with a street word. What nothing announces is missed.

import type { Recogniser } from '../common/spans/recogniser.js';

/** Members of a class of characters. */
export const capital = 'A-ZÀ-ÖØ-Þ';
const small = "a-zß-öø-ÿ";
const namePart = `[${capital}][${small}]+(?:-?[${capital}][${small}]+)?`;

/** Words that announce a name. Ends where the name begins; no longer than the context of a find. */
const announcement = `(?:\\b[Nn]ame(?: is|'s|:|=| -)? |\\bI am called |\\b[Cc]all me |\\b[Mm]e llamo |\\b[Jj]e m'appelle |\\b[Ii]ch heiße |\\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Herr|Frau|Mme|Monsieur|Madame|Señora?)\\.? |\\b(?:[Pp]atient|[Cc]ustomer|[Ee]mployee|[Aa]pplicant|[Tt]enant|[Cc]ardholder|[Bb]eneficiary|[Ss]igned|[Ss]incerely|[Rr]egards)[:,]\\s)`;

/** A capital behind an announcement. */
export const nameTrigger = new RegExp(`(?<=${announcement})[${capital}]`);

/** Things that have names. */
const otherNames = /(?:file|function|class|method|variable|column|field|table|host|domain|package|project|product|brand|company|event|model) [Nn]ame.{0,5}$/i;

/** Words that stand where a name could, and are none. */
const notNames = /^(?:The|This|That|These|Those|A|An|My|Your|Our|Is|It|In|On|And|Or|Not|No|Of|For|To|From|Null|None|String|Text|Value|Unknown|Company|Product|File|Please|Thanks|Hello|What|When|Where|Which|Who|Why|How|Get|Set|Type|Field|Column|Table|Number|Date|Email|Phone|Address|Server|Service|Project|Variable|Method|Class|Function|Optional|Required|True|False)$/;

export const personName: Recogniser = {
  category: 'NAME',
  rank: 1,
  capitalsMin: 1,
  pattern: new RegExp(`(?<=${announcement})${namePart}(?: (?:[${capital}]\\.?|${namePart})){0,3}(?![${small}\\d_@])`, 'g'),
  accept(found, before) {
    if (otherNames.test(before)) return 0;
    const words = found.split(' ');
    if (words[0] === undefined || notNames.test(words[0])) return 0;
    const end = words.findIndex((word) => notNames.test(word));
    return end > 0 ? words.slice(0, end).join(' ').length : found.length;
  },
};

const street = 'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Way|Terrace|Ter|Square|Sq|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Trail|Close|Crescent|Gardens|Grove|Mews|Row|Hill|Quay|Alley|Broadway';

export const streetAddresses: readonly Recogniser[] = [
  {
    category: 'LOCATION_ADDRESS',
    rank: 1,
    digitsMin: 1,
    capitalsMin: 1,
    pattern: new RegExp(`(?<![\\w.+#$€£/:-])\\d{1,5}[A-Za-z]?(?: (?:[NSEW]{1,2}\\.?|\\d{1,3}(?:st|nd|rd|th)|${namePart}\\.?)){1,4}? (?:${street})(?![A-Za-z\\d])\\.?`, 'g'),
  },
  {
    category: 'LOCATION_ADDRESS',
    rank: 1,
    digitsMin: 1,
    capitalsMin: 1,
    pattern: /(?<![\w.-])(?:[A-ZÄÖÜ][a-zäöüß-]+(?:straße|strasse|gasse|allee|platz|ring|damm|ufer)|(?:[A-ZÄÖÜ][a-zäöüß]+[ -])?(?:Straße|Strasse|Allee|Platz)) \d{1,4}[a-z]?(?![\w.-]\d|\w)/g,
  },
  { category: 'LOCATION_ADDRESS', rank: 1, digitsMin: 1, capitalsMin: 1, pattern: /(?<![\w.-])(?:P\.?O\.? Box|Postfach) \d{1,6}(?!\w)/g },
];
