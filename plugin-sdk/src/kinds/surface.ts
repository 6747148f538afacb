import type { ObjectSchema } from '../schema.js';
import type { Common } from '../shared.js';

/** Static files under a path (the console). Data only. */
export interface SurfacePlugin extends Common<'surface', ObjectSchema> {
  readonly mount: string;
  readonly assets: URL;
}
