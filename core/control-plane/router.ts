// Method and path -> operation. Every path is served below `/v1`, `/v2` and `/`.

import findMyWay from 'find-my-way';
import type { ControlMethod, Operation, Resource } from './define-resource.js';

export interface ControlRoute {
  readonly resource: Resource;
  readonly name: string;
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

const prefixes = ['', '/v1', '/v2'];
const methods: readonly ControlMethod[] = ['GET', 'POST', 'PUT', 'DELETE'];

interface Place {
  readonly resource: Resource;
  readonly name: string;
  readonly operation: Operation;
}

export class ControlRouter {
  readonly #router = findMyWay({ caseSensitive: true, ignoreTrailingSlash: true, ignoreDuplicateSlashes: false, maxParamLength: 512 });
  readonly #segments = new Set<string>();

  constructor(resources: readonly Resource[]) {
    for (const resource of resources) {
      for (const [name, operation] of Object.entries(resource.operations)) {
        const place: Place = { resource, name, operation };
        for (const path of [operation.path, ...operation.aliases]) this.#add(operation.method, path, place);
      }
    }
  }

  #add(method: ControlMethod, path: string, place: Place): void {
    this.#segments.add(path.split('/')[1] ?? '');
    const pattern = path.replace(/\{([\w-]+)\}/g, (_, name: string) => `:${name.replaceAll('-', '_')}`);
    for (const prefix of prefixes) this.#router.on(method, prefix + pattern, () => {}, place);
  }

  /** First segments of all paths. */
  get segments(): ReadonlySet<string> {
    return this.#segments;
  }

  find(method: string, path: string): ControlRoute | undefined {
    const known = methods.find((each) => each === method);
    const found = known === undefined ? null : this.#router.find(known, path);
    if (found === null) return undefined;
    const place: Place = found.store;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(found.params)) if (value !== undefined) params[name] = value;
    return { ...place, params };
  }

  /** Methods that the path takes. */
  methodsOf(path: string): readonly ControlMethod[] {
    return methods.filter((method) => this.#router.find(method, path) !== null);
  }
}
