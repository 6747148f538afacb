// What the pipeline knows of a route: data and one pure function. The definitions are in core/endpoints.

import type { EndpointName } from '@gateway/plugin-sdk';
import type { Dialect } from '../dialect/dialect.js';

export interface BodyFault {
  /** The field, as `error.param` names it: `tools[3]`, `logit_bias.50256`. */
  readonly param: string;
  /** What is wrong and what would be right. */
  readonly reason: string;
}

/** JSON Schema, as the docs show it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface EndpointDefinition {
  readonly name: EndpointName;
  /** Of errors, plain and inside streams, and of answers where the endpoint is the dialect's own. */
  readonly dialect: Dialect;
  /** A key needs it for this endpoint. */
  readonly scope: string;
  /** Any one of these does as well. */
  readonly otherScopes?: readonly string[];
  /** `json`: collected and checked. `multipart`: its content type is checked. `any`: relayed as it is. `none`: no body. */
  readonly body: 'json' | 'multipart' | 'any' | 'none';
  /** The first fault of the parsed body, or undefined. Pure. */
  readonly validate: ((body: Readonly<Record<string, unknown>>) => BodyFault | undefined) | null;
  /** JSON Schema of bodies that `validate` accepts, for the docs; absent: bodies are not checked. */
  readonly schema?: () => JsonSchema;
  /** Calls of this endpoint take exactly one target: what they name lives at one provider. */
  readonly isSingleTarget: boolean;
}

/** The dialect that answers of this endpoint are told in, whole or as a stream; null: they have a form of their own. */
export const answerDialect = ({ name, dialect }: EndpointDefinition): Dialect | null => (dialect.endpoint === name ? dialect : null);

/** The two calls of a stored prompt: run it, or only render it. */
export interface PromptAction {
  /** Last segment of the path. */
  readonly name: string;
  /** Before the prompt is known. */
  readonly endpoint: EndpointDefinition;
  /** The body is the answer; nothing is called. */
  readonly isRender: boolean;
  /** The endpoint that the call becomes: `chat` for a prompt with messages, `text` for one that is a text. */
  readonly chat: EndpointDefinition;
  readonly text: EndpointDefinition;
}
