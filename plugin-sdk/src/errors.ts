/**
 * Thrown by `create()` when parameters that fit the schema still make no sense together.
 * `path` is relative to the parameters (`conditions[0].then`); the host turns it into the place in the config and answers 400.
 */
export class ParameterError extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.name = 'ParameterError';
    this.path = path;
  }
}
