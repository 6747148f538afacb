// Hot: runs for each call.
// The head of a client request, copied in one pass while uWebSockets.js still holds it. Gateway headers go to fields of their own,
// the rest to a flat list. Nothing here decides: request smuggling and the like are judged by server/check-head.ts.

export class RequestHead {
  method = '';
  /** As sent, not decoded, without the query string. */
  path = '';
  /** Without the question mark. */
  query = '';
  /** All headers that are not the gateway's: name, value, ...; names in lower case. */
  readonly headers: string[] = [];
  /** Gateway headers without a field of their own: name without the prefix, value, ... */
  readonly gatewayHeaders: string[] = [];

  contentType = '';
  /** -1 when absent or not a number. */
  contentLength = -1;
  contentLengthCount = 0;
  transferEncoding = '';
  authorization: string | undefined = undefined;

  apiKey: string | undefined = undefined;
  config: string | undefined = undefined;
  provider: string | undefined = undefined;
  virtualKey: string | undefined = undefined;
  customHost: string | undefined = undefined;
  forwardHeaders: string | undefined = undefined;
  requestTimeout: string | undefined = undefined;
  metadata: string | undefined = undefined;
  strict: string | undefined = undefined;
  unsupportedParams: string | undefined = undefined;
  traceId: string | undefined = undefined;
  spanId: string | undefined = undefined;
  parentSpanId: string | undefined = undefined;
  spanName: string | undefined = undefined;
  traceParent: string | undefined = undefined;
  cacheNamespace: string | undefined = undefined;
  cacheForceRefresh: string | undefined = undefined;

  get hasBody(): boolean {
    return this.contentLength > 0 || this.transferEncoding !== '';
  }

  add(name: string, value: string): void {
    if (name.charCodeAt(0) === 120 /* x */ && name.startsWith('x-gateway-')) {
      this.#addGateway(name, value);
      return;
    }
    switch (name) {
      case 'content-type': this.contentType = value; break;
      case 'content-length':
        this.contentLengthCount += 1;
        this.contentLength = /^\d{1,15}$/.test(value) ? Number(value) : -1;
        return;
      case 'transfer-encoding':
        this.transferEncoding = this.transferEncoding === '' ? value : `${this.transferEncoding}, ${value}`;
        return;
      case 'authorization': this.authorization = value; return;
      case 'traceparent': this.traceParent = value; break;
      default: break;
    }
    this.headers.push(name, value);
  }

  header(nameLowerCase: string): string | undefined {
    switch (nameLowerCase) {
      case 'content-type': return this.contentType === '' ? undefined : this.contentType;
      case 'authorization': return this.authorization;
      case 'content-length': return this.contentLength < 0 ? undefined : String(this.contentLength);
      default: break;
    }
    for (let index = 0; index < this.headers.length; index += 2) {
      if (this.headers[index] === nameLowerCase) return this.headers[index + 1];
    }
    return undefined;
  }

  gatewayHeader(name: string): string | undefined {
    for (let index = 0; index < this.gatewayHeaders.length; index += 2) {
      if (this.gatewayHeaders[index] === name) return this.gatewayHeaders[index + 1];
    }
    return undefined;
  }

  #addGateway(name: string, value: string): void {
    switch (name) {
      case 'x-gateway-api-key': this.apiKey = value; return;
      case 'x-gateway-config': this.config = value; return;
      case 'x-gateway-provider': this.provider = value; return;
      case 'x-gateway-virtual-key': this.virtualKey = value; return;
      case 'x-gateway-custom-host': this.customHost = value; return;
      case 'x-gateway-forward-headers': this.forwardHeaders = value; return;
      case 'x-gateway-request-timeout': this.requestTimeout = value; return;
      case 'x-gateway-metadata': this.metadata = value; return;
      case 'x-gateway-strict-reference-compliance': this.strict = value; return;
      case 'x-gateway-unsupported-params': this.unsupportedParams = value; return;
      case 'x-gateway-trace-id': this.traceId = value; return;
      case 'x-gateway-span-id': this.spanId = value; return;
      case 'x-gateway-parent-span-id': this.parentSpanId = value; return;
      case 'x-gateway-span-name': this.spanName = value; return;
      case 'x-gateway-cache-namespace': this.cacheNamespace = value; return;
      case 'x-gateway-cache-force-refresh': this.cacheForceRefresh = value; return;
      default: this.gatewayHeaders.push(name.slice(10), value);
    }
  }
}
