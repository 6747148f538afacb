// Runs in a worker thread of the pool: imports the asked module once and calls one of its exported functions.

export interface WorkerTask {
  readonly module: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

const modules = new Map<string, Promise<Record<string, unknown>>>();

export default async function run(task: WorkerTask): Promise<unknown> {
  let loading = modules.get(task.module);
  if (loading === undefined) {
    loading = import(task.module);
    modules.set(task.module, loading);
  }
  const exported = (await loading)[task.name];
  if (typeof exported !== 'function') throw new Error(`${task.module} exports no function ${task.name}`);
  return exported(...task.args);
}
