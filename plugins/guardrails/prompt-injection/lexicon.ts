/**
 * What words stand for, one bit each. The detector does not know sentences, it knows which ideas stand near each other: "ignore", "previous" and
 * "instructions" in English, or their like in other languages.
 */
export const concept = {
  override: 1 << 0,
  /** Behind its object: infinitives of German and Dutch, and "is void". */
  cancelled: 1 << 1,
  follow: 1 << 2,
  not: 1 << 3,
  /** A negation that may stand behind its verb. */
  notAfter: 1 << 4,
  prior: 1 << 5,
  all: 1 << 6,
  your: 1 << 7,
  instructions: 1 << 8,
  rules: 1 << 9,
  limits: 1 << 10,
  hidden: 1 << 11,
  prompt: 1 << 12,
  reveal: 1 << 13,
  question: 1 << 14,
  role: 1 << 15,
  unbound: 1 << 16,
  mode: 1 << 17,
  model: 1 << 18,
  address: 1 << 19,
  send: 1 << 20,
  data: 1 << 21,
  told: 1 << 22,
  tell: 1 << 23,
  user: 1 << 24,
  exact: 1 << 25,
  about: 1 << 26,
  /** The writer's own things: "my last question". */
  own: 1 << 27,
  act: 1 << 28,
  mirrored: 1 << 29,
  now: 1 << 30,
} as const;
export type Concept = keyof typeof concept;

/** Words without diacritics; a star stands for any ending. A word may stand in several lists. */
export const lexicon: Readonly<Record<Exclude<Concept, 'mirrored'>, string>> = {
  override: `
    ignore ignoring cancel disregard disregarding forget override overriding bypass bypassing discard neglect skip abandon aside unlearn overrule
    ignorier ignoriere ignoriert vergiss vergesst missachte ubergehe verwirf umgehe
    ignorez oublie oubliez negligez contourne contournez abandonne
    ignora ignoren olvida olvide olviden olvidate omiso descarta descarte desestima
    esqueca esquece desconsidere desconsidera descartar
    dimentica dimenticate ignorate trascura scorda
    negeer vergeet omzeil ignoruj zapomnij zapomen`,
  cancelled: `
    ignorieren vergessen missachten ubergehen verwerfen negeren vergeten omzeilen void cancelled canceled invalid obsolete outdated superseded lifted
    revoked
    longer mistake replaced overridden fake decoy disabled deactivated removed deaktiviert aufgehoben ungultig annulees caduques anuladas anulados
    revogadas annullate vervallen`,
  follow: `
    follow following obey obeying comply listen listening adhere attention befolge befolgen beachte beachten folge hore horen suis suivez suivre suivent
    tenez tiens
    sigas siga seguir sigan siguas segua obedezcas segui seguire seguite volg volgen apply heed`,
  not: `
    not don dont never no stop stopped cease anymore nicht keine kein ne non nao niet geen sin sans ohne sem senza zonder without none free nor removed
    off disabled lifted anulado unable refuses exist`,
  notAfter: 'nicht pas niet plus',
  prior: `
    previous prior above preceding precedes earlier before former foregoing beginning original initial past existing
    vorherige* vorherig* vorher bisherige* obige* obigen fruhere* zuvor ursprunglich* vorangegangen* precedent* dessus anterieur* avant debut initiales
    anteriores anterior previas previos previa arriba iniciales acima antes anteriormente precedenti sopra inizio vorige eerdere eerder bovenstaande`,
  all: `
    all topics every everything any anything entire whatever alle alles saemtliche samtliche toutes tous tout todas todos todo tudo tutte tutti tutto al`,
  your: `
    your you ur u yours deine deinen deinem deiner dein du dir dich ihre ihren ihnen ihr sie tes ton ta tu vos votre vous toi sus tus su te ti seu sua
    seus suas voce tue tuoi tuo tua loro je jouw uw jij dat`,
  instructions: `
    instruction* directive* directions orders commands programming training anweisung* vorgaben weisungen instruktionen befehl* guidance configuration
    persona setup systemanweisung* consigne* instruccion* indicaciones ordenes
    instruco* instrucoes orientacoes ordens istruzion* indicazioni direttive instructie* opdrachten instructions`,
  rules: `
    rules rule guidelines guideline restrictions constraints policies policy safeguards criteria task context regeln richtlinien regles regle reglas
    regras regole regels richtlijnen restricciones`,
  limits: `
    restriction* limit limits limitation* filter filters rules guidelines policy policies moderation ethics ethical moral morals safety censorship
    safeguards constraints boundaries einschrankung* filtre* limites restricci* filtros filtri limiti restricoes beperkingen grenzen checks scruples
    refusing laws refuse restricciones reglas regeln restriction anything`,
  hidden: `
    system hidden secret initial developer confidential internal original configured systeme sistema secret* geheim* operator company creator creators
    createur administrator inicial iniciales iniciais iniziali verborgen systeem`,
  prompt: 'prompt prompts preprompt systemprompt* systeemprompt* message prompting',
  reveal: `
    reveal print output show repeat display disclose leak dump recite tell give share list copy write paste echo echoing complete pasame dame donne
    reponds translate translated encode encoded expose provide continue include quote
    summarise summarize zeige zeig nenne wiederhole verrate ausgeben gib affiche affichez montre montrez revele revelez repete repetez muestra muestrame
    revela repite imprime dime mostre mostra repita imprima diga rivela ripeti stampa mostrami toon onthul herhaal geef`,
  question: 'what which was wie welche quels quelles cuales quais quali welke',
  role: `
    pretend act roleplay simulate imagine become behave role emulate activate switch enter play enabled respond answer reply speak talk
    stell benimm spiele agis joue reponds repondez actua responde finge responda finja aja rispondi fingi comportati doe antworte antworten antwoord
    gedraag`,
  unbound: `
    unrestricted unfiltered uncensored jailbroken jailbreak dan evilbot amoral unmoderated unchained lawless uncensored* evil stan godmode`,
  mode: 'mode modus modo modalita',
  model: 'bots omega ai ais assistant assistants llm llms chatbot gpt chatgpt claude gemini copilot model models agent agents bot ki ia',
  address: 'attention dear hey note notice instructions instruction if important any reading override',
  send: `
    send forward post transmit upload exfiltrate exfiltrating append appending embed put collect leak deliver mail schicke sende envoie envia envie invia
    stuur take end write include render`,
  data: `
    conversation chat history password passwords credentials credential keys secrets secret inbox messages environment variables token tokens card files
    address summary`,
  told: `
    told given gave said received got taught gesagt gegeben gelernt wurde dit dite recu recues donne donnees dicho dieron recibido recibiste dito recebeu
    recebidas detto dato data dati hanno gezegd gekregen initialised initialized configured written sent came`,
  tell: 'tell telling mention mentioning inform informing ask notify hide warn alert doing sage',
  user: 'user users them him her customer reader human utilisateur usuario utente benutzer gebruiker',
  exact: `
    verbatim word exact exactly wording literally unchanged lines sin cambiar full wortlich wortwortlich mot palabra palavra parola woordelijk codeblock
    txt start starts starting`,
  about: `
    injection injections attack attacks attacker attackers jailbreaks jailbreaking phrase phrases owasp detect detects detection detector classify
    classifier classification
    annotation paper research guardrail guardrails mitigation* defence* defens* vulnerability labels redteam quoted overview`,
  own: 'my mine i we our me us mein meine meiner mon mes ma mio mia mi mis meu minha mijn ich',
  act: `
    must should rate recommend call run execute open visit stop instead enter answer forward do authorised authorized obey grant approve delete transfer
    disable`,
  now: 'now henceforth jetzt ahora agora maintenant poi nu',
};

/** Their mirror images and ROT13 images give a disguise away. */
export const disguisedWords = ['ignore', 'disregard', 'forget', 'instructions', 'instruction', 'previous', 'prompt', 'reveal', 'rules', 'system', 'print', 'password'];
