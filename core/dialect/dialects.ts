// The client dialects. A new one is a folder here and a line in this list.

import { chat } from './chat/dialect.js';
import { completions } from './completions/dialect.js';
import { messages } from './messages/dialect.js';
import { responses } from './responses/dialect.js';

export const dialects = Object.freeze({ chat, completions, messages, responses });

export type DialectName = keyof typeof dialects;
