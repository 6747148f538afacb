import { defineGuardrail, ParameterError, type CheckInput, type Json, type StreamCheck, type TextPiece, type Verdict } from '@gateway/plugin-sdk';
import { encodingNames, tokenBytesMax, TokenCounter } from '../common/detectors/token-counter.js';
import { StreamedTokens } from './streamed-tokens.js';

export default defineGuardrail({
  title: 'Token limit',
  describe: 'Passes when the tokens of the request, or of each choice of the answer, are within bounds. Exact for OpenAI models, an estimate for others.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  lookBackMax: 0,
  runs: 'either',
  params: {
    type: 'object',
    properties: {
      maxTokens: { type: 'integer', minimum: 0, description: 'The most tokens that pass.' },
      minTokens: { type: 'integer', minimum: 0, description: 'The fewest tokens that pass.' },
      encoding: { type: 'string', enum: encodingNames, default: 'o200k_base', description: 'o200k_base for GPT-4o and later, cl100k_base for GPT-4 and GPT-3.5.' },
      tokensPerMessage: { type: 'integer', minimum: 0, default: 4, description: 'Added for each message of a request, for what frames it.' },
      scope: { type: 'string', enum: ['all', 'last'], default: 'all', description: 'Of a request: all messages, or the last one.' },
      not: { type: 'boolean', default: false, description: 'Inverts the verdict.' },
    },
  },
  create: async ({ maxTokens, minTokens, encoding, tokensPerMessage, scope, not }) => {
    if (maxTokens === undefined && minTokens === undefined) throw new ParameterError('maxTokens', 'give maxTokens, minTokens or both');
    const min = minTokens ?? 0;
    const max = maxTokens ?? Number.MAX_SAFE_INTEGER;
    if (min > max) throw new ParameterError('minTokens', 'is larger than maxTokens: no text could pass');
    const counter = await TokenCounter.load(encoding);

    const verdictOf = (measures: readonly Measure[]): Verdict => {
      const failed = measures.find(({ tokens, atLeast }) => (atLeast ?? tokens ?? 0) > max || (tokens ?? min) < min);
      const isWithin = failed === undefined;
      const shown = failed ?? measures.reduce((most, measure) => ((measure.tokens ?? measure.atMost ?? 0) > (most.tokens ?? most.atMost ?? 0) ? measure : most));
      const bounds = [...(minTokens === undefined ? [] : [`at least ${minTokens}`]), ...(maxTokens === undefined ? [] : [`at most ${maxTokens}`])].join(' and ');
      const amount = shown.tokens ?? (shown.atMost === undefined ? `at least ${shown.atLeast}` : `at most ${shown.atMost}`);
      const explanation = `the text has ${amount} tokens, ${isWithin ? 'within' : 'outside'} the bounds: ${bounds}`;
      const pass = isWithin !== not;
      const data: Json = { ...shown, encoding, ...(minTokens === undefined ? {} : { minTokens }), ...(maxTokens === undefined ? {} : { maxTokens }), not, explanation };
      return pass ? { pass, data } : { pass, why: explanation, data };
    };

    /** Bytes bound the tokens from both sides; only a text between the bounds is encoded. */
    const measure = (texts: readonly string[], overhead: number): Measure => {
      let bytes = 0;
      for (const text of texts) bytes += Buffer.byteLength(text);
      if (bytes + overhead <= max && overhead + Math.ceil(bytes / tokenBytesMax) >= min) return { atMost: bytes + overhead };
      const least = Math.ceil(bytes / tokenBytesMax) + overhead;
      if (least > max) return { atLeast: least };
      let tokens = overhead;
      let isExact = true;
      for (const text of texts) {
        const count = counter.count(text, max - tokens);
        if (count === undefined) return { atLeast: Math.max(least, max + 1) };
        tokens += count.tokens;
        isExact &&= count.isExact;
      }
      return { tokens, isExact };
    };

    return {
      evaluate(input) {
        if (input.stage === 'input') {
          const pieces = input.pieces().filter(isCounted);
          const last = pieces.at(-1)?.group;
          const texts = (scope === 'last' ? pieces.filter(({ group }) => group === last) : pieces).map(({ text }) => text);
          return verdictOf([measure(texts, tokensPerMessage * (scope === 'last' ? Math.min(1, messagesOf(input)) : messagesOf(input)))]);
        }
        const choices = new Map<number, string[]>();
        for (const { group, text } of input.pieces().filter(isCounted)) {
          const texts = choices.get(group);
          if (texts === undefined) choices.set(group, [text]);
          else texts.push(text);
        }
        return verdictOf(choices.size === 0 ? [{ tokens: 0, isExact: true }] : [...choices.values()].map((texts) => measure(texts, 0)));
      },
      stream(): StreamCheck {
        const streamed = new StreamedTokens(counter, max);
        return {
          push({ channel, kind, group, text }) {
            if (kind === 'field') return { release: text.length };
            const isOver = streamed.add(channel, group, text);
            return isOver && !not ? { release: text.length, fails: true } : { release: text.length };
          },
          verdict: () => verdictOf(streamed.measures()),
        };
      },
    };
  },
});

/** Texts that are said, thought, or called with; the fields beside them are not measured. */
const isCounted = ({ kind }: TextPiece): boolean => kind !== 'field';

/** Of a request, or of one choice. Bounds stand in for the count where it did not have to be known. */
interface Measure {
  readonly tokens?: number;
  readonly isExact?: boolean;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Messages that a provider frames; endpoints without a conversation have none. */
function messagesOf(input: CheckInput): number {
  const body = input.json();
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 0;
  const { messages, input: items, system, instructions } = body as Readonly<Record<string, Json>>;
  const lengthOf = (list: Json | undefined): number => (Array.isArray(list) ? list.length : list === undefined ? 0 : 1);
  switch (input.exchange.endpoint) {
    case 'chatCompletions': return lengthOf(messages);
    case 'messages': case 'countTokens': return lengthOf(messages) + (system === undefined ? 0 : 1);
    case 'responses': return lengthOf(items) + (typeof instructions === 'string' ? 1 : 0);
    default: return 0;
  }
}
