// Plugins say which parameter is at fault by throwing the SDK's ParameterError.

import { ParameterError } from '@gateway/plugin-sdk';

/** What a ParameterError names, of whichever copy of the SDK it is; undefined for anything else. */
export const parameterPath = (thrown: unknown): string | undefined =>
  (thrown instanceof ParameterError || (thrown instanceof Error && thrown.name === 'ParameterError' && 'path' in thrown) ? String(thrown.path) : undefined);
