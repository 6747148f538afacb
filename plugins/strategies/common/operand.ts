import { isList, type Exchange, type Json } from '@gateway/plugin-sdk';

export type OperandSource = 'metadata' | 'params' | 'headers' | 'url';

/** Where in a call a value is read: `metadata.plan`, `params.tools.0.type`, `headers.x-tenant`, `url.pathname`. */
export interface Operand {
  readonly source: OperandSource;
  /** Everything behind the first dot. */
  readonly name: string;
  /** The same, cut at its dots. */
  readonly steps: readonly string[];
}

/** Undefined when the address begins with none of `sources` or names nothing behind it. */
export function parseOperand(address: string, sources: readonly OperandSource[]): Operand | undefined {
  const dot = address.indexOf('.');
  const source = sources.find((known) => known === address.slice(0, dot));
  if (source === undefined) return undefined;
  const rest = address.slice(dot + 1);
  if (source === 'url') return rest === 'pathname' ? { source, name: rest, steps: [rest] } : undefined;
  const name = source === 'headers' ? rest.toLowerCase() : rest;
  const steps = source === 'headers' ? [name] : name.split('.');
  return steps.includes('') ? undefined : { source, name, steps };
}

/** The value in this call, or undefined when it has none there. */
export function readOperand(operand: Operand, exchange: Exchange): Json | undefined {
  switch (operand.source) {
    case 'url': return exchange.request.path;
    case 'headers': return exchange.request.header(operand.name);
    // A metadata key may have dots of its own.
    case 'metadata': return member(exchange.metadata, operand.name) ?? walk(exchange.metadata, operand.steps);
    case 'params': return walk(exchange.request.json(), operand.steps);
  }
}

function walk(root: Json, steps: readonly string[]): Json | undefined {
  let value: Json | undefined = root;
  for (let index = 0; index < steps.length && value !== undefined; index += 1) value = member(value, steps[index] ?? '');
  return value;
}

/** Own members only: `constructor` is not a parameter unless the client sent one. */
function member(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isList(value)) return /^\d{1,6}$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
