import { defineGuardrail, ParameterError, type Json } from '@gateway/plugin-sdk';
import { imagesOf, messagesOf, toolsOf } from './body-counts.js';

export default defineGuardrail({
  title: 'Size limit',
  describe: 'Refuses requests that are larger than allowed: bytes of the body, messages, images, tools, or characters of one message.',
  stages: ['input'],
  needs: { request: 'json' },
  params: {
    type: 'object',
    properties: {
      maxBytes: { type: 'integer', minimum: 1, description: 'Bytes of the body as the client sent it.' },
      maxMessages: { type: 'integer', minimum: 0, description: 'Messages; of the responses endpoint input items, of the others texts or documents.' },
      maxImages: { type: 'integer', minimum: 0, description: 'Images in messages and tool results, by address or inline.' },
      maxTools: { type: 'integer', minimum: 0, description: 'Tool definitions.' },
      maxCharactersPerMessage: { type: 'integer', minimum: 0, description: 'Characters of text in one message, all its parts together.' },
    },
  },
  needsFor: ({ maxMessages, maxImages, maxTools, maxCharactersPerMessage }) =>
    ({ request: [maxMessages, maxImages, maxTools, maxCharactersPerMessage].every((limit) => limit === undefined) ? 'bytes' : 'json' }),
  create: ({ maxBytes, maxMessages, maxImages, maxTools, maxCharactersPerMessage }) => {
    if ([maxBytes, maxMessages, maxImages, maxTools, maxCharactersPerMessage].every((limit) => limit === undefined)) {
      throw new ParameterError('', 'give at least one of maxBytes, maxMessages, maxImages, maxTools and maxCharactersPerMessage');
    }
    return {
      evaluate(input) {
        const reasons: Json[] = [];
        const exceeded: string[] = [];
        const compare = (limit: string, allowed: number | undefined, found: () => number, what: string): void => {
          if (allowed === undefined) return;
          const size = found();
          if (size <= allowed) return;
          reasons.push({ limit, allowed, found: size });
          exceeded.push(`${size} ${what} (at most ${allowed})`);
        };
        compare('maxBytes', maxBytes, () => input.exchange.request.bytes().length, 'bytes');
        compare('maxMessages', maxMessages, () => messagesOf(input.exchange.endpoint, input.json()), 'messages');
        compare('maxImages', maxImages, () => imagesOf(input.json()), 'images');
        compare('maxTools', maxTools, () => toolsOf(input.json()), 'tools');
        compare('maxCharactersPerMessage', maxCharactersPerMessage, () => {
          const characters = new Map<number, number>();
          for (const { group, kind, isName, text } of input.pieces()) if (kind !== 'field' && isName !== true) characters.set(group, (characters.get(group) ?? 0) + text.length);
          return Math.max(0, ...characters.values());
        }, 'characters in one message');
        if (reasons.length === 0) return { pass: true, data: { reasons, explanation: 'the request is within its limits' } };
        const why = `the request is too large: ${exceeded.join(', ')}`;
        return { pass: false, why, data: { reasons, explanation: why } };
      },
    };
  },
});
