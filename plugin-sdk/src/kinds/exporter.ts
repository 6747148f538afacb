import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Maybe } from '../shared.js';
import type { ProcessFigures } from './figures.js';
import type { LogReader } from './log-reader.js';
import type { LogRecord } from './log-record.js';

/** Takes batches of finished exchanges, off the path of a call: in a thread of the process where only exporters run. One instance for all calls. */
export interface Exporter extends Closable {
  /** False: as its parameters are, it has no use for bodies, though its plugin `takesBodies`. */
  readonly takesBodies?: boolean;
  /** One batch at a time. A rejection counts the batch as dropped. */
  export(batch: readonly LogRecord[], signal: AbortSignal): Maybe<void>;
  /** Answers `GET /metrics`, with what it has made of the records and with `figures` of the process. Of several exporters that have it, the first is asked; one question at a time. */
  scrape?(figures: ProcessFigures): Maybe<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

export interface ExporterPlugin<S extends ObjectSchema = any> extends Common<'exporter', S> {
  /** Largest batch, and the longest a record waits for one. */
  readonly batch?: { readonly countMax: number; readonly waitMsMax: number };
  /** Its records come with the bodies that were kept of them; without, `bodies` is null in all of them. */
  readonly takesBodies?: true;
  create(params: FromSchema<S>, host: Host): Maybe<Exporter>;
  /** Reads what exporters with these parameters have written, for the log and analytics endpoints. Runs in a thread of its own; of several exporters that have one, the first is asked. Its parameters `bytesMax` and `ageDaysMax`, where it has such, come from the settings of the log when they are not given. */
  reader?(params: FromSchema<S>, host: Host): Maybe<LogReader>;
}
