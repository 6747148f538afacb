import type { Scan } from './concept-scan.js';
import { concept } from './lexicon.js';
import type { Signal } from './rules.js';

interface Marker {
  readonly name: string;
  readonly weight: number;
  /** Linear: bounded repeats only. */
  readonly pattern: RegExp;
}

/** Signs that are written in characters rather than in words. */
const markers: readonly Marker[] = [
  { name: 'delimiter', weight: 0.65, pattern: /<\|{1,2}(?:im_start|im_end|im_sep|system|start_header_id|end_header_id|eot_id|start|message|endoftext|endofprompt)\|{1,2}>/i },
  { name: 'delimiter', weight: 0.6, pattern: /<<\/?SYS>>|\[\/?INST\]|\[SYSTEM(?: (?:MESSAGE|PROMPT|NOTE|OVERRIDE))?\]/i },
  { name: 'delimiter', weight: 0.6, pattern: /<\/?(?:system|system_prompt|system_message|system-prompt|user_input|developer)>\s{0,4}(?:<|\S)/i },
  { name: 'delimiter', weight: 0.55, pattern: /(?:BEGIN|END|START|NEW)[ _-](?:OF )?SYSTEM[ _-](?:MESSAGE|PROMPT|INSTRUCTIONS?)|END OF USER (?:INPUT|MESSAGE)|SYSTEM[ _-]OVERRIDE/ },
  { name: 'delimiter', weight: 0.5, pattern: /(?:^|\n)[ \t]{0,8}#{1,4} ?(?:System|Assistant)(?: (?:Message|Prompt|Instruction))?:/i },
  { name: 'delimiter', weight: 0.5, pattern: /\n[ \t]{0,8}(?:System|Developer)(?: message| note)?:[ \n]/i },
  { name: 'delimiter', weight: 0.4, pattern: /\n[ \t]{0,8}(?:Human|User):[^\n]{0,2000}\n{1,3}[ \t]{0,8}(?:Assistant|AI):/ },
  { name: 'delimiter', weight: 0.4, pattern: /\n[ \t]{0,8}(?:Assistant|AI):[^\n]{0,2000}\n{1,3}[ \t]{0,8}(?:Human|User):/ },
  { name: 'delimiter', weight: 0.45, pattern: /["']role["']\s{0,3}:\s{0,3}["'](?:system|developer)["']\s{0,3},\s{0,3}["']content["']/ },
  { name: 'addressed', weight: 0.35, pattern: /(?:^|\n|<!--)[ \t]{0,8}(?:dear |hey |attention,? )?(?:AI|LLM|assistant|language model|chatbot)s?(?: assistants?| agents?| models?)?[ \t]{0,4}[:,!]/i },
  {
    name: 'addressed',
    weight: 0.4,
    pattern: /\b(?:note|message|instructions?|reminder|attention|notice)[ \t]{1,2}(?:to|for)[ \t]{1,2}(?:the |any |all )?(?:AI|LLM|assistant|language model|chatbot|bot|agent)s?\b/i,
  },
  { name: 'addressed', weight: 0.4, pattern: /\[(?:AI|LLM|assistant)s?(?: agents?| assistants?)?:/i },
  { name: 'addressed', weight: 0.4, pattern: /\bif (?:you are|you're) an? (?:AI|LLM|bot|assistant|(?:large )?language model)\b|\bif an? (?:AI|LLM|bot|assistant|language model) reads this\b/i },
  { name: 'delimiter', weight: 0.5, pattern: /<\/(?:tool_result|tool_response|function_results?|tool_output|document|context|user_message)>\s{0,8}[^\s<]/i },
  { name: 'role', weight: 0.45, pattern: /\[(?:JAILBREAK|DAN|UNFILTERED|🔓[^\]\n]{0,20})\]/i },
  { name: 'exfiltration', weight: 0.55, pattern: /!\[[^\]\n]{0,80}\]\(https?:\/\/[^\s)]{1,200}[?&][\w-]{1,20}=[[{$<]/ },
  { name: 'exfiltration', weight: 0.6, pattern: /!\[[^\]\n]{0,80}\]\(https?:\/\/[^\s)]{1,200}[?&=/](?:[^\s)]{0,40}(?:\{|\[|\$|%7B)|[A-Z_]{6,40}\))/ },
  { name: 'extraction', weight: 0.6, pattern: /start(?:s|ing)? (?:your (?:answer|reply|response) )?with ["'“]?you are/i },
  { name: 'role', weight: 0.5, pattern: /\bdo anything now\b|\bDAN mode\b/i },
];

/** Without markup, only these words make the patterns worth a try. */
const markerWords = concept.exact | concept.hidden | concept.unbound | concept.model | concept.now;

/** Other scripts: the phrase as it is written, in a few forms. */
const foreignMarkers: readonly Marker[] = [
  { name: 'override', weight: 0.8, pattern: /(?:忽略|无视|無視|忘记|忘記)[^。！？\n]{0,12}(?:指令|指示|说明|說明|提示|规则|規則|命令)/ },
  { name: 'extraction', weight: 0.65, pattern: /(?:系统提示|系統提示|システムプロンプト|시스템 프롬프트)/ },
  { name: 'override', weight: 0.8, pattern: /(?:指示|命令|指令|プロンプト|ルール)[^。！？\n]{0,10}(?:無視|忘れ)/ },
  { name: 'override', weight: 0.8, pattern: /(?:지시|명령|규칙|지침)[^.!?\n]{0,10}(?:무시|잊어)/ },
  { name: 'override', weight: 0.8, pattern: /(?:игнорируй|проигнорируй|забудь|игнорируйте|забудьте|ігноруй)[^.!?\n]{0,40}(?:инструкци|указани|правил|команд|інструкці)/i },
  { name: 'extraction', weight: 0.6, pattern: /системн\p{L}{2} (?:промпт|промт|инструкц|сообщени)/iu },
  { name: 'override', weight: 0.8, pattern: /(?:تجاهل|انس|انسى)[^.!؟\n]{0,30}(?:التعليمات|الأوامر|القواعد)/ },
  { name: 'override', weight: 0.8, pattern: /(?:निर्देश|नियम)[^।!?\n]{0,30}(?:अनदेखा|नज़रअंदाज़|भूल)/ },
];

export function markersOf(text: string, found: Scan): Signal[] {
  const signals: Signal[] = [];
  const look = (marker: Marker): void => {
    const at = text.search(marker.pattern);
    if (at >= 0) signals.push({ name: marker.name, weight: marker.weight, at });
  };
  if (found.hasMarkup || (found.concepts & markerWords) !== 0) markers.forEach(look);
  if (found.isStrange) foreignMarkers.forEach(look);
  return signals;
}
