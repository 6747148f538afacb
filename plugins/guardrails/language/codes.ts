/** Codes by ISO 639-1, of the languages that can be told apart: ISO 639-3 with a script, as the reference writes them, then other usual names. */
const codes: Readonly<Record<string, string>> = {
  am: 'amh_Ethi amh', ar: 'arb_Arab ara arb', az: 'azj_Latn aze azj', be: 'bel_Cyrl bel', bg: 'bul_Cyrl bul', bn: 'ben_Beng ben', ca: 'cat_Latn cat', cs: 'ces_Latn ces cze',
  da: 'dan_Latn dan', de: 'deu_Latn deu ger', el: 'ell_Grek ell gre', en: 'eng_Latn eng', es: 'spa_Latn spa', et: 'est_Latn ekk_Latn est ekk', eu: 'eus_Latn eus baq',
  fa: 'pes_Arab fas per pes', fi: 'fin_Latn fin', fr: 'fra_Latn fra fre', gu: 'guj_Gujr guj', he: 'heb_Hebr heb iw', hi: 'hin_Deva hin', hr: 'hrv_Latn hrv', hu: 'hun_Latn hun',
  hy: 'hye_Armn hye arm', is: 'isl_Latn isl ice', it: 'ita_Latn ita', ja: 'jpn_Jpan jpn', ka: 'kat_Geor kat geo', kn: 'kan_Knda kan', ko: 'kor_Hang kor', ku: 'ckb_Arab ckb kur',
  lo: 'lao_Laoo lao', lt: 'lit_Latn lit', lv: 'lvs_Latn lav_Latn lav lvs', ml: 'mal_Mlym mal', mr: 'mar_Deva mar', ms: 'zsm_Latn msa_Latn msa may zsm', nl: 'nld_Latn nld dut',
  no: 'nob_Latn nno_Latn nor_Latn nob nno nor nb nn', or: 'ory_Orya ori ory', pa: 'pan_Guru pan', pl: 'pol_Latn pol', pt: 'por_Latn por', ro: 'ron_Latn ron rum', ru: 'rus_Cyrl rus',
  sk: 'slk_Latn slk slo', sl: 'slv_Latn slv', sq: 'als_Latn sqi_Latn sqi alb', sr: 'srp_Cyrl srp', sv: 'swe_Latn swe', ta: 'tam_Taml tam', te: 'tel_Telu tel', th: 'tha_Thai tha',
  tl: 'tgl_Latn fil_Latn tgl fil', tr: 'tur_Latn tur', uk: 'ukr_Cyrl ukr', ur: 'urd_Arab urd', vi: 'vie_Latn vie', yo: 'yor_Latn yor',
  zh: 'zho_Hans zho_Hant cmn_Hans cmn_Hant zho chi cmn',
};

const languageOf = new Map(Object.entries(codes).flatMap(([language, names]) => [language, ...names.split(' ')].map((name): [string, string] => [name.toLowerCase(), language])));

export const knownLanguages: readonly string[] = Object.keys(codes);

/** The ISO 639-1 code that a config means; a region behind it (`pt-BR`) is left off. Undefined when it is none that can be told. */
export function languageOfCode(code: string): string | undefined {
  const name = code.trim().toLowerCase();
  return languageOf.get(name) ?? languageOf.get(name.replace(/[-_][a-z0-9]{2,4}$/, ''));
}
