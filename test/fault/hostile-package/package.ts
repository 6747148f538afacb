// A third-party package whose guardrails misbehave in every way a pool can be made to suffer, and two that behave. Each misbehaviour can be had in
// several copies, each with modules of its own: the circuit that refuses a module after it has ended too many workers knows them by module.
//
// What is not in here is a check with `runs: 'loop'` that blocks: code on the thread of the calls shares that thread, and nothing in the same
// process can take it away. Whoever writes a check that may take long says `runs: 'pool'` or 'either', or uses `host.worker`.

import type { PackageParts } from '../../core/registry/plugin-package.js';

/** In the check itself, which the gateway runs in the pool. */
const inPool = {
  bomb: "const text = input.text().join(' '); return { pass: !/(a+)+$/.test(text) };",
  politePool: 'return { pass: input.text().join().length > 0 };',
} as const;

/** In a function that the check calls through `host.worker`. */
const inWorker = {
  spin: 'for (;;);',
  hog: 'const kept = []; for (;;) kept.push(new Array(20_000).fill(kept.length + 0.5));',
  exit: 'process.exit(3);',
  reject: "void Promise.reject(new Error('nobody listens')); return new Promise(() => undefined);",
  politeWorker: 'return text.length;',
} as const;

/** In the check, on the thread of the calls. */
const onLoop = {
  hang: 'return new Promise(() => undefined);',
  throws: "throw new Error('it is broken');",
} as const;

const poolCheck = (body: string): string => `import { defineGuardrail } from '@gateway/plugin-sdk';
export default defineGuardrail({
  title: 'Pooled', describe: 'Judges in the worker pool.', stages: ['input', 'output'], needs: { request: 'json', response: 'json' },
  runs: 'pool', params: { type: 'object', properties: {} },
  create: () => ({ evaluate(input) { ${body} } }),
});
`;

const workerCheck = (module: string): string => `import { defineGuardrail } from '@gateway/plugin-sdk';
export default defineGuardrail({
  title: 'Through a worker', describe: 'Asks a function in the worker pool.', stages: ['input', 'output'], needs: { request: 'json', response: 'json' },
  params: { type: 'object', properties: { waitMs: { type: 'integer', default: 500, description: 'Milliseconds for the worker.' } } },
  create({ waitMs }, host) {
    const worker = host.worker(new URL('../work/${module}', import.meta.url), { timeoutMs: waitMs });
    return { async evaluate(input) { return { pass: await worker.work(input.text().join(' ')) > 0 }; } };
  },
});
`;

const loopCheck = (body: string): string => `import { defineGuardrail } from '@gateway/plugin-sdk';
export default defineGuardrail({
  title: 'On the loop', describe: 'Gives no verdict.', stages: ['input', 'output'], needs: { request: 'json', response: 'json' },
  params: { type: 'object', properties: {} },
  create: () => ({ evaluate() { ${body} } }),
});
`;

/** `hostile.spin` is the first copy of spin, `hostile.spin1` the next one. */
export function hostilePackage(copies = 1): PackageParts {
  const files: Record<string, string> = {};
  for (let copy = 0; copy < copies; copy += 1) {
    const suffix = copy === 0 ? '' : String(copy);
    for (const [name, body] of Object.entries(inPool)) files[`guardrail/${name}${suffix}.js`] = poolCheck(body);
    for (const [name, body] of Object.entries(onLoop)) files[`guardrail/${name}${suffix}.js`] = loopCheck(body);
    for (const [name, body] of Object.entries(inWorker)) {
      files[`guardrail/${name}${suffix}.js`] = workerCheck(`${name}${suffix}.js`);
      files[`work/${name}${suffix}.js`] = `export async function work(text) { ${body} }\n`;
    }
  }
  const names = Object.keys(files).flatMap((path) => /^guardrail\/(\w+)\.js$/.exec(path)?.[1] ?? []);
  return { name: 'hostile-checks', gateway: { namespace: 'hostile', contract: { guardrail: 1 }, plugins: { guardrail: names } }, files };
}

/** References that multiply: every level asks the next one twice, and the last one refuses everything. */
export function multiplyingSchema(levels: number): object {
  const definitions: Record<string, object> = { [`level${levels}`]: { type: 'string' } };
  for (let level = 0; level < levels; level += 1) definitions[`level${level}`] = { anyOf: [{ $ref: `#/$defs/level${level + 1}` }, { $ref: `#/$defs/level${level + 1}` }] };
  return { $ref: '#/$defs/level0', $defs: definitions };
}
