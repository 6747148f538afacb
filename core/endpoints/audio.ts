// POST /v1/audio/speech, whose JSON body is checked when the call comes in; /transcriptions and /translations, which are uploads.

import { jsonEndpoint, uploadEndpoint } from './endpoint.js';
import { numberIn, requiredText, text, textOrObject } from './rules.js';

export const speech = jsonEndpoint('speech', {
  required: {
    model: requiredText,
    input: requiredText,
    voice: { expected: 'the name of a voice', check: textOrObject },
  },
  optional: {
    instructions: text,
    response_format: text,
    speed: numberIn(0.25, 4),
  },
});
export const transcriptions = uploadEndpoint('transcriptions');
export const translations = uploadEndpoint('translations');
