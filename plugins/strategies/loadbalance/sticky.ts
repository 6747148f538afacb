import type { Exchange, Json } from '@gateway/plugin-sdk';
import { createHash } from 'node:crypto';
import { readOperand, type Operand } from '../common/operand.js';

/** Characters of one hash field that count. */
const fieldCharactersMax = 4096;
/** Prefixed with the plugin's id, as the drawer is shared. */
const decisionsNote = 'loadbalance.decisions';

export interface Sticky {
  /** A score for each weight, by weighted rendezvous hashing; 0 for weight 0. */
  scores(exchange: Exchange, nowMs: number, weights: readonly number[]): readonly number[];
}

/**
 * Stateless, so every thread and every process with the same config agrees. The user's target may change when `ttlMs` is over; each user
 * has a phase of their own, so that not all move at once.
 */
export function makeSticky(fields: readonly Operand[], ttlMs: number): Sticky {
  return {
    scores(exchange, nowMs, weights) {
      const identity = digest(identityOf(fields, exchange));
      const period = Math.floor((nowMs + fraction(identity, 0) * ttlMs) / ttlMs);
      const seed = `${identity.toString('base64')} ${period} ${countDecision(exchange)}`;
      const scores: number[] = [];
      let block = identity;
      for (let index = 0; index < weights.length; index += 1) {
        // One digest serves four targets.
        const part = index % 4;
        if (part === 0) block = digest(`${seed} ${index}`);
        // With u uniform in (0, 1), the largest of -w / ln(u) falls to each target with probability w / sum of w.
        scores.push(-(weights[index] ?? 0) / Math.log(fraction(block, part * 8)));
      }
      return scores;
    },
  };
}

/** Which sticky choice of this call this is. Balancers inside one another would otherwise all choose alike. */
function countDecision(exchange: Exchange): number {
  const before = exchange.notes.get(decisionsNote);
  const count = typeof before === 'number' ? before + 1 : 0;
  exchange.notes.set(decisionsNote, count);
  return count;
}

function identityOf(fields: readonly Operand[], exchange: Exchange): string {
  const parts: (string | number | boolean)[] = [exchange.principal.keyId];
  for (const field of fields) {
    const value = readOperand(field, exchange);
    if (isScalar(value)) parts.push(`${field.source}.${field.name}`, typeof value === 'string' ? value.slice(0, fieldCharactersMax) : value);
  }
  return JSON.stringify(parts);
}

const isScalar = (value: Json | undefined): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** 48 bits from `offset` on as a number in (0, 1), both ends out of reach. */
const fraction = (bytes: Buffer, offset: number): number => (bytes.readUIntBE(offset, 6) + 0.5) / 2 ** 48;
