// What the pipeline knows of a route: data and one pure function. The definitions are in core/endpoints.

import type { EndpointName } from '@gateway/plugin-sdk';

/** The shape of errors, plain and inside streams, towards the client. */
export type Dialect = 'chat' | 'messages' | 'responses';

export interface BodyFault {
  /** The field, as `error.param` names it: `tools[3]`, `logit_bias.50256`. */
  readonly param: string;
  /** What is wrong and what would be right. */
  readonly reason: string;
}

export interface EndpointDefinition {
  readonly name: EndpointName;
  readonly dialect: Dialect;
  /** A key needs it for this endpoint. */
  readonly scope: string;
  /** `json`: collected and checked. `multipart`: its content type is checked. `any`: relayed as it is. `none`: no body. */
  readonly body: 'json' | 'multipart' | 'any' | 'none';
  /** The first fault of the parsed body, or undefined. Pure. */
  readonly validate: ((body: Readonly<Record<string, unknown>>) => BodyFault | undefined) | null;
  /** Calls of this endpoint take exactly one target: what they name lives at one provider. */
  readonly isSingleTarget: boolean;
}
