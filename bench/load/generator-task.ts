// What the load generator is told to do, on its command line as JSON.
export interface GeneratorTask {
  /** loop: connections post again and again. burst: each connection posts once. streams: each opens one stream. paced: posts at a fixed rate. */
  readonly mode: 'loop' | 'burst' | 'streams' | 'paced';
  readonly port: number;
  readonly connections: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Filler appended to the user's message, so that large bodies need not travel on a command line. */
  readonly fillerBytes: number;
  /** loop, paced: not recorded at the start. */
  readonly warmupMs: number;
  /** loop, paced: recorded for this long. */
  readonly durationMs: number;
  /** paced */
  readonly requestsPerSecond: number;
  /** loop: it ends after this many answers; 0 when only time ends it. */
  readonly requestsMax: number;
  /** New connections open this far apart, in groups. */
  readonly connectionsPerRampStep: number;
  readonly rampStepMs: number;
  /** The run ends here whatever is still open. */
  readonly deadlineMs: number;
  /** streams: content events each stream must have. */
  readonly eventsExpected: number;
  /**
   * streams: events/s are counted between these times, the same for every subject: all streams ought to
   * be open then and none ended, so that a subject that keeps up receives the whole offered rate.
   */
  readonly steadyFromMs: number;
  readonly steadyUntilMs: number;
}

export const fillerMark = '%FILLER%';

export function parseTask(text: string): GeneratorTask {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('mode' in value) || !('port' in value) || !('deadlineMs' in value)) {
    throw new Error('the generator takes one argument, a task as JSON; `npm run bench` makes it');
  }
  // Only our own main process writes this text, with this very type.
  return value as GeneratorTask;
}

export function requestBytes(task: GeneratorTask): Buffer {
  const body = Buffer.from(task.body.replace(fillerMark, 'lorem ipsum '.repeat(Math.ceil(task.fillerBytes / 12)).slice(0, task.fillerBytes)));
  const lines = [`POST ${task.path} HTTP/1.1`, `Host: 127.0.0.1:${task.port}`];
  for (const [name, value] of Object.entries(task.headers)) lines.push(`${name}: ${value}`);
  lines.push(`content-length: ${body.length}`, '', '');
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]);
}
