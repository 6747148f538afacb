// What the worker pool runs. Arguments and results are cloned on their way, so they are plain data; a call may be repeated in another worker.

import { scoreTopic, type TopicScore } from './topic-score.js';

export const score = (texts: readonly string[], terms: readonly (readonly [term: string, weight: number])[]): TopicScore => scoreTopic(texts, new Map(terms));
