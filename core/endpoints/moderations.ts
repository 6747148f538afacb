// POST /v1/moderations

import { jsonEndpoint } from './endpoint.js';
import { required, text, type Rule } from './rules.js';

const input: Rule = (body) => (typeof body.input === 'string' || Array.isArray(body.input) ? undefined : { param: 'input', reason: 'must be a string or an array' });

export const moderations = jsonEndpoint('moderations', [required('input', 'the text to classify'), input, text('model')]);
