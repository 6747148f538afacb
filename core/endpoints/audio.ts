// POST /v1/audio/speech, /transcriptions, /translations

import { jsonEndpoint, uploadEndpoint } from './endpoint.js';
import { numberIn, required, requiredText, text } from './rules.js';

export const speech = jsonEndpoint('speech', [
  requiredText('model'),
  requiredText('input'),
  required('voice', 'the name of a voice'),
  text('response_format'),
  numberIn('speed', 0.25, 4),
]);
export const transcriptions = uploadEndpoint('transcriptions');
export const translations = uploadEndpoint('translations');
