// Reads what callgrind writes with --dump-instr=yes: instructions that functions spent themselves, and in each that they called.
// Code that V8 made at run time has no symbols there: `--perf-basic-prof` makes V8 write them to a file of its own, which is read here too.

export interface CodeSymbol {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Names of code made at run time. Memory is used again: of two that overlap the later one holds. */
export class SymbolMap {
  readonly #sorted: readonly CodeSymbol[];

  constructor(text: string) {
    const symbols: CodeSymbol[] = [];
    for (const line of text.split('\n')) {
      const match = /^([0-9a-f]+) ([0-9a-f]+) (.+)$/.exec(line);
      if (match === null) continue;
      const start = Number.parseInt(match[1] ?? '', 16);
      symbols.push({ start, end: start + Number.parseInt(match[2] ?? '', 16), name: match[3] ?? '' });
    }
    // Stable: of equal starts the last one written comes last.
    this.#sorted = symbols.sort((a, b) => a.start - b.start);
  }

  find(address: number): string | undefined {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle]?.start ?? Infinity) <= address) low = middle + 1;
      else high = middle;
    }
    // An older, longer one may reach over a later, shorter one.
    for (let index = low - 1; index >= 0 && index >= low - overlapMax; index -= 1) {
      const symbol = this.#sorted[index];
      if (symbol !== undefined && address < symbol.end) return symbol.name;
    }
    return undefined;
  }
}

const overlapMax = 8;

export interface ProfiledFunction {
  /** File of the program or library; '' for code made at run time. */
  readonly object: string;
  readonly name: string;
  own: number;
  /** Without those that only read a clock, which are system calls under valgrind alone. */
  systemCalls: number;
  /** By key of the called function: instructions until it returned. */
  readonly called: Map<string, { calls: number; instructions: number }>;
}

export type CallGraph = ReadonlyMap<string, ProfiledFunction>;

const unknownObject = '???';
const clock = /clock_gettime|gettimeofday|time_syscall/;
/** `positions: instr line` */
const positions = 2;

class Names {
  readonly #byId = new Map<string, string>();

  /** `(12) name` gives a number to a name, `(12)` stands for it from then on. */
  read(text: string): string {
    const match = /^\((\d+)\)(?: (.*))?$/.exec(text);
    if (match === null) return text;
    const id = match[1] ?? '';
    if (match[2] !== undefined) this.#byId.set(id, match[2]);
    return this.#byId.get(id) ?? `(${id})`;
  }
}

function position(text: string, before: number): number {
  if (text === '*') return before;
  if (text.startsWith('+')) return before + Number(text.slice(1));
  if (text.startsWith('-')) return before - Number(text.slice(1));
  return Number(text);
}

export function readCallgrind(lines: Iterable<string>, symbols: SymbolMap): CallGraph {
  const functions = new Map<string, ProfiledFunction>();
  const objects = new Names();
  const names = new Names();
  let object = '';
  let name = '';
  let calledObject = '';
  let calledName = '';
  let address = 0;
  /** Costs follow two positions; of the events only these two matter. */
  let callsColumn = 0;
  let call: { readonly address: number; readonly calls: number } | null = null;

  const keyOf = (ofObject: string, ofName: string, at: number): string => {
    const isMade = ofObject === unknownObject;
    const shownName = isMade ? symbols.find(at) ?? 'code without a name' : ofName;
    const shownObject = isMade ? '' : ofObject;
    const key = `${shownObject}|${shownName}`;
    if (!functions.has(key)) functions.set(key, { object: shownObject, name: shownName, own: 0, systemCalls: 0, called: new Map() });
    return key;
  };

  for (const line of lines) {
    const first = line.charCodeAt(0);
    // 0-9, +, -, *: a line of costs.
    if ((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 42) {
      const words = line.split(' ');
      address = position(words[0] ?? '', address);
      const cost = Number(words[positions] ?? 0);
      const profiled = functions.get(keyOf(object, name, address));
      if (profiled === undefined) continue;
      if (call === null) {
        profiled.own += cost;
        if (callsColumn > 0 && !clock.test(profiled.name)) profiled.systemCalls += Number(words[callsColumn] ?? 0);
      } else {
        const key = keyOf(calledObject, calledName, call.address);
        const known = profiled.called.get(key);
        if (known === undefined) profiled.called.set(key, { calls: call.calls, instructions: cost });
        else {
          known.calls += call.calls;
          known.instructions += cost;
        }
        call = null;
        calledObject = object;
      }
      continue;
    }
    if (line.startsWith('events: ')) {
      const events = line.split(' ').slice(1);
      if (events[0] !== 'Ir') throw new Error(`callgrind counted ${events[0] ?? 'nothing'} first, not instructions`);
      callsColumn = events.includes('sysCount') ? positions + events.indexOf('sysCount') : 0;
      continue;
    }
    const equals = line.indexOf('=');
    if (equals < 0) continue;
    const value = line.slice(equals + 1);
    switch (line.slice(0, equals)) {
      case 'ob':
        object = objects.read(value);
        calledObject = object;
        break;
      case 'fn':
        name = names.read(value);
        calledObject = object;
        break;
      case 'cob':
        calledObject = objects.read(value);
        break;
      case 'cfn':
        calledName = names.read(value);
        break;
      case 'calls': {
        const words = value.split(' ');
        call = { calls: Number(words[0]), address: position(words[1] ?? '', address) };
        break;
      }
      default:
    }
  }
  return functions;
}
