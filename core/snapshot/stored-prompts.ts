// Prompts as calls find them: rows by slug, versions by number, labels by name. The JSON of a version is parsed when it is first called, and
// kept. Nothing here routes calls, so changes do not move the view's epoch.

import { universalLabels } from '../prompts/labels.js';
import { promptContent, type PromptContent, type StoredContent } from '../prompts/prompt-body.js';
import { isVersionNumber } from '../prompts/prompt-name.js';
import type { Template } from '../prompts/template.js';
import type { Row, Table } from '../storage/define-table.js';
import {
  partialVersions, promptLabels, promptPartials, prompts, promptVersions, type PartialVersionRow, type PromptLabelRow, type PromptPartialRow, type PromptRow, type PromptVersionRow,
} from '../storage/tables/prompts.js';

export const promptTables: readonly Table[] = [prompts, promptVersions, promptPartials, partialVersions, promptLabels];

/** Characters of all versions together that a thread holds. Versions that do not fit any more cannot be called. */
const charsMax = 256 * 1024 * 1024;

interface Owner {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly published: number;
  readonly latest: number;
}

export interface StoredPrompt extends Owner {
  /** Numbers of versions, by the ids of their labels. */
  readonly labels: ReadonlyMap<string, number>;
}

export class StoredPromptVersion {
  #row: StoredContent | null;
  #content: PromptContent | null = null;

  constructor(readonly id: string, readonly number: number, /** Slug of its provider; null: the model names it. */ readonly provider: string | null, row: StoredContent) {
    this.#row = row;
  }

  get content(): PromptContent {
    if (this.#row !== null) {
      this.#content = promptContent(this.#row);
      this.#row = null;
    }
    return this.#content as PromptContent;
  }
}

class StoredPartialVersion {
  #text: string;
  #template: Template | null = null;

  constructor(readonly id: string, readonly number: number, text: string) {
    this.#text = text;
  }

  get template(): Template {
    if (this.#template === null) {
      this.#template = JSON.parse(this.#text) as Template;
      this.#text = '';
    }
    return this.#template;
  }
}

interface Version {
  readonly id: string;
  readonly number: number;
}

/** Prompts or partials of a thread, with their versions. */
class Shelf<T extends Owner, V extends Version> {
  readonly #byId = new Map<string, T>();
  readonly #bySlug = new Map<string, T>();
  /** Versions by the id of their prompt or partial, then by number. Their rows may arrive before its own. */
  readonly #versions = new Map<string, Map<number, V>>();
  readonly #held = new Map<string, { readonly ownerId: string; readonly number: number; readonly chars: number }>();

  byId(id: string): T | undefined {
    return this.#byId.get(id);
  }

  bySlug(workspaceId: string, slug: string): T | undefined {
    return this.#bySlug.get(placeOf(workspaceId, slug));
  }

  version(ownerId: string, number: number): V | undefined {
    return this.#versions.get(ownerId)?.get(number);
  }

  put(owner: T): void {
    this.remove(owner.id);
    this.#byId.set(owner.id, owner);
    this.#bySlug.set(placeOf(owner.workspaceId, owner.slug), owner);
  }

  remove(id: string): void {
    const owner = this.#byId.get(id);
    if (owner === undefined) return;
    this.#byId.delete(id);
    const place = placeOf(owner.workspaceId, owner.slug);
    if (this.#bySlug.get(place) === owner) this.#bySlug.delete(place);
  }

  putVersion(ownerId: string, version: V, chars: number): void {
    let versions = this.#versions.get(ownerId);
    if (versions === undefined) this.#versions.set(ownerId, versions = new Map());
    versions.set(version.number, version);
    this.#held.set(version.id, { ownerId, number: version.number, chars });
  }

  /** Returns the characters that it held. */
  removeVersion(id: string): number {
    const held = this.#held.get(id);
    if (held === undefined) return 0;
    this.#held.delete(id);
    const versions = this.#versions.get(held.ownerId);
    if (versions?.get(held.number)?.id === id) versions.delete(held.number);
    if (versions?.size === 0) this.#versions.delete(held.ownerId);
    return held.chars;
  }
}

const placeOf = (workspaceId: string, slug: string): string => `${workspaceId}\n${slug}`;

export class StoredPrompts {
  readonly #prompts = new Shelf<StoredPrompt, StoredPromptVersion>();
  readonly #partials = new Shelf<Owner, StoredPartialVersion>();
  /** Ids of labels, by workspace and name. */
  readonly #labels = new Map<string, string>();
  readonly #labelPlaces = new Map<string, string>();
  #chars = 0;

  /** Finds prompts of other workspaces by id as well, so callers must check `workspaceId`. */
  prompt(workspaceId: string, idOrSlug: string): StoredPrompt | undefined {
    return this.#prompts.bySlug(workspaceId, idOrSlug) ?? this.#prompts.byId(idOrSlug);
  }

  /** `version`: empty for the published one, `latest`, a number, or the name of a label. */
  promptVersion(prompt: StoredPrompt, version: string): StoredPromptVersion | undefined {
    const number = version === '' ? prompt.published : version === 'latest' ? prompt.latest : isVersionNumber(version) ? Number(version) : this.#labelled(prompt, version);
    return number === undefined ? undefined : this.#prompts.version(prompt.id, number);
  }

  /** Partials of this workspace only. `version` as in PartialName. */
  partial(workspaceId: string, slug: string, version: string): Template | undefined {
    const partial = this.#partials.bySlug(workspaceId, slug);
    if (partial === undefined) return undefined;
    return this.#partials.version(partial.id, version === '' ? partial.published : version === 'latest' ? partial.latest : Number(version))?.template;
  }

  #labelled({ workspaceId, labels }: StoredPrompt, name: string): number | undefined {
    const id = universalLabels.find((label) => label.name === name)?.id ?? this.#labels.get(placeOf(workspaceId, name));
    return id === undefined ? undefined : labels.get(id);
  }

  /** False: the row is of another table. Throws when there is no room. */
  put(table: string, row: Row): boolean {
    switch (table) {
      case prompts.name: {
        const { id, workspaceId, slug, published, latest, labels } = row as PromptRow;
        this.#prompts.put(Object.freeze({ id, workspaceId, slug, published, latest, labels: new Map(labels.map(({ labelId, number }) => [labelId, number])) }));
        return true;
      }
      case promptPartials.name: {
        const { id, workspaceId, slug, published, latest, status } = row as PromptPartialRow;
        if (status === 'active') this.#partials.put(Object.freeze({ id, workspaceId, slug, published, latest }));
        else this.#partials.remove(id);
        return true;
      }
      case promptVersions.name: {
        const { id, number, promptId, provider, template, parameters, functions, tools, toolChoice, model } = row as PromptVersionRow;
        this.remove(table, id);
        const chars = this.#take(template.length + parameters.length + functions.length + tools.length);
        this.#prompts.putVersion(promptId, new StoredPromptVersion(id, number, provider, { template, parameters, functions, tools, toolChoice, model }), chars);
        return true;
      }
      case partialVersions.name: {
        const { id, number, partialId, template } = row as PartialVersionRow;
        this.remove(table, id);
        this.#partials.putVersion(partialId, new StoredPartialVersion(id, number, template), this.#take(template.length));
        return true;
      }
      case promptLabels.name: {
        const { id, workspaceId, slug } = row as PromptLabelRow;
        this.remove(table, id);
        this.#labels.set(placeOf(workspaceId, slug), id);
        this.#labelPlaces.set(id, placeOf(workspaceId, slug));
        return true;
      }
      default: return false;
    }
  }

  /** False as in `put`. */
  remove(table: string, id: string): boolean {
    switch (table) {
      case prompts.name: this.#prompts.remove(id); return true;
      case promptPartials.name: this.#partials.remove(id); return true;
      case promptVersions.name: this.#chars -= this.#prompts.removeVersion(id); return true;
      case partialVersions.name: this.#chars -= this.#partials.removeVersion(id); return true;
      case promptLabels.name: {
        const place = this.#labelPlaces.get(id);
        this.#labelPlaces.delete(id);
        if (place !== undefined && this.#labels.get(place) === id) this.#labels.delete(place);
        return true;
      }
      default: return false;
    }
  }

  #take(chars: number): number {
    if (this.#chars + chars > charsMax) throw new Error(`versions of prompts hold more than ${charsMax} characters; delete some prompts`);
    this.#chars += chars;
    return chars;
  }
}
