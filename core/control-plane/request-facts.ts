// Facts about the HTTP request of a control call, for the few handlers that need them.

export interface RequestFacts {
  readonly headers: readonly string[];
}

export function headerOf({ headers }: RequestFacts, name: string): string | undefined {
  for (let index = 0; index + 1 < headers.length; index += 2) if (headers[index] === name) return headers[index + 1];
  return undefined;
}

const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

export const isLoopbackHost = (host: string): boolean => loopbackHost.test(host);

/** Where people and clients reach the gateway: as the settings say, else as this client did. */
export function ownOrigin(facts: RequestFacts, publicUrl: string | undefined, isTls: boolean): string {
  return publicUrl ?? `${isTls ? 'https' : 'http'}://${headerOf(facts, 'host') ?? 'localhost'}`;
}
