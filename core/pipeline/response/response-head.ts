// Hot: runs for each response.
// The head of an upstream response, searched once: what decides how it goes to the client.

/** A flat list as it came: name, value, ...; names in lower case. */
export type UpstreamHeaders = readonly string[];

const usualConnections: ReadonlySet<string> = new Set(['keep-alive', 'close', 'Keep-Alive', 'Close']);

export class ResponseHead {
  contentType = '';
  /** Compressed. */
  isEncoded = false;
  /** -1: none was announced. */
  contentLength = -1;
  /** Its `connection` header names others that end at this hop. */
  namesHeaders = false;

  constructor(readonly status: number, readonly headers: UpstreamHeaders) {
    // From the end: of a header that is there twice the first counts.
    for (let index = headers.length - 2; index >= 0; index -= 2) {
      switch (headers[index]) {
        case 'content-type': this.contentType = headers[index + 1] as string; break;
        case 'content-encoding': this.isEncoded = true; break;
        case 'content-length': this.contentLength = Number(headers[index + 1]); break;
        case 'connection': if (!usualConnections.has(headers[index + 1] as string)) this.namesHeaders = true; break;
      }
    }
  }

  header(nameLowerCase: string): string | undefined {
    const { headers } = this;
    for (let index = 0; index < headers.length; index += 2) if (headers[index] === nameLowerCase) return headers[index + 1];
    return undefined;
  }
}
