// Formats of keys and tokens, as their services document them. Most begin with letters of their own and are found by them; where a format has none,
// a word before it has to say what it is.

import type { Recogniser } from '../common/spans/recogniser.js';
import type { Tail } from '../common/spans/span.js';

/** A token goes on as long as its characters do, however long that is. */
function tailOf(chars: string): Tail {
  const run = new RegExp(`[${chars}]*`, 'y');
  return (text, from, isLast) => {
    run.lastIndex = from;
    const to = from + (run.exec(text)?.[0].length ?? 0);
    return { to, isOpen: to === text.length && !isLast };
  };
}

const wordChars = 'A-Za-z0-9';
const tokenChars = 'A-Za-z0-9_-';

/** Not inside of another word; the letter of an escape (`\n`) is not part of one. */
const begin = '(?<![A-Za-z0-9]|-(?=[a-z]{2,3}_))';
const beginAfterEscape = `(?:${begin}|(?<=\\\\[nrt]))`;

/** `XXXX`, `your-key-here` and the like stand for a key. */
const standIn = /(.)\1{7}|x{6}|X{6}|\*{4}|\.\.\.|your[-_]?|example|placeholder|redacted|changeme|insert[-_]|abcdefghijkl|1234567890abcdef/i;

const isReal = (found: string): boolean => !standIn.test(found);

/** A token with a begin of its own, then characters of a kind: so many, or at least so many. */
function token(category: string, has: string, body: string, chars = wordChars): Recogniser {
  return {
    category,
    rank: 3,
    has,
    pattern: new RegExp(`${beginAfterEscape}${body}(?![${chars}])`, 'g'),
    accept: (found) => (isReal(found) ? found.length : 0),
    tail: tailOf(chars),
  };
}

export const prefixedTokens: readonly Recogniser[] = [
  { ...token('AWS', 'A', '(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}'), accept: (found) => (found.endsWith('EXAMPLE') ? 0 : found.length) },
  token('AWS', 'ABSK', 'ABSK[A-Za-z0-9+/]{109,}={0,2}', 'A-Za-z0-9+/='),
  token('ANTHROPIC', 'sk-ant-', 'sk-ant-[a-z]{3,8}\\d{2}-[A-Za-z0-9_-]{40,}', tokenChars),
  token('OPENAI', 'sk-', 'sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}', tokenChars),
  token('OPENAI', 'sk-', 'sk-[A-Za-z0-9]{32,}'),
  token('OPENROUTER', 'sk-or-', 'sk-or-v1-[a-f0-9]{64}'),
  token('GOOGLE', 'AIza', 'AIza[A-Za-z0-9_-]{35}'),
  token('GOOGLE', 'GOCSPX-', 'GOCSPX-[A-Za-z0-9_-]{28}'),
  token('GOOGLE', 'ya29.', 'ya29\\.[A-Za-z0-9_-]{20,}', 'A-Za-z0-9_.-'),
  token('GITHUB', 'gh', 'gh[pousr]_[A-Za-z0-9]{36,}'),
  token('GITHUB', 'github_pat_', 'github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}', 'A-Za-z0-9_'),
  token('GITLAB', 'gl', 'gl(?:pat|dt|rt|ptt|ft|soat|oas)-[A-Za-z0-9_-]{20,}(?:\\.[0-9a-z]{2}\\.?[0-9a-z]{7})?', tokenChars),
  token('SLACK', 'xox', 'xox[abeoprs]-[A-Za-z0-9-]{10,}', 'A-Za-z0-9-'),
  token('SLACK', 'xapp-', 'xapp-\\d-[A-Z0-9]+-\\d+-[a-z0-9]{32,}'),
  token('SLACK', 'hooks.slack.com', 'hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,}', 'A-Za-z0-9+/'),
  token('STRIPE', 'k_', '[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}'),
  token('STRIPE', 'whsec_', 'whsec_[A-Za-z0-9+/]{24,}={0,2}', 'A-Za-z0-9+/='),
  token('TWILIO', 'SK', 'SK[0-9a-f]{32}'),
  token('SENDGRID', 'SG.', 'SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}', tokenChars),
  token('MAILGUN', 'key-', 'key-[0-9a-f]{32}'),
  token('NPM', 'npm_', 'npm_[A-Za-z0-9]{36}'),
  token('PYPI', 'pypi-', 'pypi-Ag[A-Za-z0-9_-]{50,}', tokenChars),
  token('HUGGING_FACE', 'hf_', 'hf_[A-Za-z0-9]{34,}'),
  token('HUGGING_FACE', 'api_org_', 'api_org_[A-Za-z0-9]{34}'),
  token('DATABRICKS', 'dapi', 'dapi[0-9a-f]{32}(?:-\\d)?'),
  token('DIGITALOCEAN', '_v1_', 'do[opr]_v1_[0-9a-f]{64}'),
  token('SHOPIFY', 'shp', 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}'),
  token('SQUARE', 'sq0', 'sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}', tokenChars),
  token('SQUARE', 'EAAA', 'EAAA[A-Za-z0-9_-]{60}', tokenChars),
  token('LINEAR', 'lin_', 'lin_(?:api|oauth)_[A-Za-z0-9]{40,}'),
  token('NOTION', 'ntn_', 'ntn_\\d{11}[A-Za-z0-9]{35}'),
  token('NOTION', 'secret_', 'secret_[A-Za-z0-9]{43}'),
  token('VAULT', 'hv', 'hv[sbr]\\.[A-Za-z0-9_-]{24,}', tokenChars),
  token('AGE', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}'),
  token('DOPPLER', 'dp.', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}'),
  token('GROQ', 'gsk_', 'gsk_[A-Za-z0-9]{40,}'),
  token('REPLICATE', 'r8_', 'r8_[A-Za-z0-9]{37,40}'),
  token('PERPLEXITY', 'pplx-', 'pplx-[A-Za-z0-9]{40,}'),
  token('XAI', 'xai-', 'xai-[A-Za-z0-9]{40,}'),
  token('FIREWORKS', 'fw_', 'fw_[A-Za-z0-9]{20,}'),
  token('GRAFANA', 'glsa_', 'glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}'),
  token('GRAFANA', 'glc_', 'glc_[A-Za-z0-9+/]{32,}={0,2}', 'A-Za-z0-9+/='),
  token('DOCKER', 'dckr_pat_', 'dckr_pat_[A-Za-z0-9_-]{27}', tokenChars),
  token('FIGMA', 'figd_', 'figd_[A-Za-z0-9_-]{40,}', tokenChars),
  token('ATLASSIAN', 'ATATT3', 'ATATT3[A-Za-z0-9_=-]{100,}', 'A-Za-z0-9_=-'),
  token('POSTMAN', 'PMAK-', 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}'),
  token('PULUMI', 'pul-', 'pul-[0-9a-f]{40}'),
  token('SENTRY', 'sntry', 'sntry(?:u_[0-9a-f]{64}|s_[A-Za-z0-9+/=_]{60,})', 'A-Za-z0-9+/=_'),
  // Keys of this gateway.
  token('GATEWAY', 'gw_', 'gw_[A-Za-z0-9_-]{43}', tokenChars),
  token('JWT', 'eyJ', 'eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}', 'A-Za-z0-9_.-'),
  // Not all of a long one is seen at once: its header and the begin of what follows tell it.
  token('JWT', 'eyJ', 'eyJ[A-Za-z0-9_-]{10,}\\.(?:eyJ)?[A-Za-z0-9_-]{60,}', 'A-Za-z0-9_.-'),
  token('TELEGRAM', ':A', '\\d{8,10}:A[A-Za-z0-9_-]{34}', tokenChars),
  token('DISCORD', '.', '[MNO][A-Za-z\\d_-]{23,27}\\.[A-Za-z\\d_-]{6}\\.[A-Za-z\\d_-]{27,38}', tokenChars),
];

/** Values behind a name that says what they are; the name stays. */
export const namedValues: readonly Recogniser[] = [
  { category: 'AZURE', rank: 3, has: 'AccountKey=', pattern: /(?<=AccountKey=)[A-Za-z0-9+/]{80,88}={0,2}/g, accept: (found) => (isReal(found) ? found.length : 0) },
  { category: 'AZURE', rank: 3, has: 'SharedAccessKey=', pattern: /(?<=SharedAccessKey=)[A-Za-z0-9+/]{40,44}={0,2}/g },
  { category: 'AZURE', rank: 3, has: 'Q~', pattern: /(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])/g },
  {
    category: 'AWS', rank: 2, context: /(?:secret[_ -]?(?:access)?[_ -]?key|aws[_ -]?secret)[^A-Za-z0-9]{0,8}(?:is )?$/i, pattern: /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g,
    accept: (found) => (isReal(found) && /\d/.test(found) && /[a-z]/.test(found) && /[A-Z]/.test(found) ? found.length : 0),
  },
  { category: 'TWILIO', rank: 2, context: /twilio[\w .-]{0,20}(?:token|secret|key)[^A-Za-z0-9]{0,6}$/i, pattern: /(?<![A-Za-z0-9])[0-9a-f]{32}(?![A-Za-z0-9])/g, accept: (found) => (isReal(found) ? found.length : 0) },
  // The password of a URL; the user and the host stay.
  {
    category: 'URL_PASSWORD', rank: 2, has: '://', pattern: /(?<=[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,64}:)[^\s/@:]{3,100}(?=@[A-Za-z0-9.-])/g,
    accept: (found) => (/^(?:\$|%[A-Z_]+%|\*+|x+|pass(?:word)?|pwd|secret|user|example)|^your/i.test(found) ? 0 : found.length),
  },
];

const entropyOf = (text: string): number => {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
};

/** Anything that looks made by chance behind a name such as `api_key`. */
export const assignments: readonly Recogniser[] = [{
  category: 'GENERIC',
  rank: 1,
  context: /(?:api[_-]?key|secret|token|passw(?:or)?d|credential|auth[_-]?key|access[_-]?key|private[_-]?key)\w{0,12}["'`]?\s{0,2}(?:=|:|:=|=>)\s{0,2}["'`]?(?:Bearer )?$/i,
  pattern: /(?<![A-Za-z0-9_+/=-])[A-Za-z0-9_+/-]{16,100}={0,2}(?![A-Za-z0-9_+/=-])|(?<==)[A-Za-z0-9_+/-]{16,100}={0,2}(?![A-Za-z0-9_+/=-])/g,
  accept: (found) => (isReal(found) && /\d/.test(found) && /[A-Za-z]/.test(found) && entropyOf(found) >= 3.5 ? found.length : 0),
}];
