// The places of a body that are known to be harmless, name by name. Whatever is not listed here is judged, so a new place is judged from its
// first day; `test/conformance/string-places.test.ts` holds the lists against the published descriptions of the APIs.

/** Ids, and choices out of a list that the API prints: harmless as long as they look like one. */
const tokenNames: ReadonlySet<string> = new Set([
  'id', 'type', 'role', 'object', 'status', 'model', 'call_id', 'caller_id', 'tool_call_id', 'tool_use_id', 'item_id', 'response_id', 'file_id', 'file_ids',
  'container_id', 'container', 'skill_id', 'vector_store_ids', 'version', 'previous_response_id', 'conversation', 'connector_id', 'approval_request_id', 'tunnel_id',
  'fingerprint', 'system_fingerprint', 'service_tier', 'finish_reason', 'native_finish_reason', 'stop_reason', 'detail', 'format', 'encoding_format', 'media_type',
  'reasoning_effort', 'effort', 'verbosity', 'truncation', 'tool_choice', 'quality', 'size', 'style', 'background', 'output_format', 'response_format',
  'stream_format', 'voice', 'phase', 'execution', 'mode', 'ttl', 'ranker', 'syntax', 'memory_limit', 'search_context_size', 'prompt_cache_retention', 'modalities',
  'include', 'provider', 'search_content_types', 'created_by', 'obfuscation', 'return_token_budget', 'input_fidelity', 'moderation',
]);

/** Encoded or encrypted: nothing that could be read. */
const dataNames: ReadonlySet<string> = new Set([
  'data', 'encrypted_content', 'encrypted_index', 'encrypted_stdout', 'signature', 'thought_signature', 'file_data', 'b64_json', 'partial_image_b64',
]);

/** Where a provider fetches a picture or a file from. */
const addressNames: ReadonlySet<string> = new Set(['image_url', 'file_url', 'video_url', 'audio_url', 'input_image', 'source']);

/** For a server that a tool is asked at; no model reads it. */
const credentialNames: ReadonlySet<string> = new Set(['authorization', 'authorization_token', 'headers']);

const tokenPattern = /^[\w$.:/#@+=-]{1,256}$/;
const dataPattern = /^[\w+/=:;,.~-]*$/;
const addressPattern = /^(?:https?|gs|s3):\/\/\S+$/i;
const dataUrlPattern = /^data:[\w.+/-]*(?:;[\w=.-]+)*;base64,[\w+/=-]*$/i;
const credentialPattern = /^(?:[A-Za-z]+ )?\S{1,8192}$/;

/** Whether a text that is the member `name` of an object that the API describes can be left unread. `holder` is the name of the object. */
export function isHarmless(name: string, holder: string, text: string): boolean {
  if (tokenNames.has(name)) return tokenPattern.test(text);
  if (dataNames.has(name)) return dataPattern.test(text);
  if (credentialNames.has(name) || credentialNames.has(holder)) return credentialPattern.test(text);
  if (addressNames.has(name) || (name === 'url' && addressNames.has(holder))) return addressPattern.test(text) || dataUrlPattern.test(text);
  return name === 'url' && dataUrlPattern.test(text);
}

/** Members whose value is a JSON Schema. */
export const schemaNames: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'output_schema', 'schema']);

const schemaTypes: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** The same in a JSON Schema, which the model is shown as it is. */
export const isHarmlessInSchema = (name: string, text: string): boolean => name === 'type' && schemaTypes.has(text);

/** Members whose value is an object of the writer's own: the names in it are texts like the values. */
export const openNames: ReadonlySet<string> = new Set([
  'metadata', 'variables', 'attributes', 'arguments', 'env', 'default', 'const', 'enum', 'examples', 'example', 'template_vars',
]);

/** Members of a JSON Schema whose names are the writer's own, and whose values are schemas again. */
export const schemaHolders: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependentRequired']);

/** Names of members in the requests of the dialects and in JSON Schemas: they are nobody's text. */
export const memberNames: ReadonlySet<string> = new Set((
  'acknowledged_safety_checks action actions allowed_callers allowed_domains allowed_tools always annotations approval_request_id approve approximate arguments attributes audio '
  + 'authorization authorization_token background best_of blocked_domains budget_tokens button bytes cache_control caller caller_id call_id citations cited_text city clear_at_least '
  + 'code command commands compact_threshold connector_id container container_id content content_block content_blocks context context_management conversation country custom data '
  + 'defer_loading definition description detail diff dimensions disable_parallel_tool_use display_height display_width display_height_px display_width_px display_number documents '
  + 'document_index document_title domain domain_secrets echo edits effort embedding_weight enabled encoding_format encrypted_content end_block_index end_char_index end_index '
  + 'end_page_number env environment error eager_input_streaming exclude_tools execution exit_code external_web_access file file_data file_id file_ids file_url filename filters '
  + 'fingerprint format frequency_penalty function function_call functions generate_summary grammar headers hybrid_search id image_url include include_obfuscation include_usage '
  + 'index input input_audio input_fidelity input_image_mask input_schema instructions is_error json_schema keep key keys logit_bias logprob logprobs logs max_completion_tokens '
  + 'max_characters max_content_tokens max_num_results max_output_length max_output_tokens max_tokens max_tool_calls max_uses mcp_servers media_type memory_limit message messages '
  + 'metadata modalities mode model moderation n name namespace network_policy never operation outcome output output_compression output_config output_format output_schema outputs '
  + 'parallel_tool_calls parameters partial_images path pattern pending_safety_checks phase policy prediction presence_penalty previous_response_id prompt prompt_cache_breakpoint '
  + 'prompt_cache_key prompt_cache_options prompt_cache_retention quality queries query ranker ranking_options read_only reason reasoning reasoning_content reasoning_details '
  + 'reasoning_effort refusal region require_approval response_format result results return_documents role safety_identifier schema score score_threshold scroll_x scroll_y '
  + 'search_content_types search_context_size search_result_index seed server_description server_label server_url service_tier signature size skill_id skills source sources speed '
  + 'start_block_index start_char_index start_index start_page_number status stderr stdout stop stop_sequence stop_sequences store stream stream_format stream_options strict style '
  + 'suffix summary syntax system temperature text text_weight thinking timeout_ms timezone title token tool_call_id tool_calls tool_choice tool_configuration tool_names tool_use_id '
  + 'tools top_k top_logprobs top_n top_p transcript trigger truncation ttl tunnel_id type url usage user user_id user_location value variables vector_store_ids verbosity version '
  + 'voice web_search_options working_directory x y '
  + '$anchor $comment $defs $id $ref $schema additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType default definitions deprecated else enum '
  + 'examples exclusiveMaximum exclusiveMinimum if items maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not '
  + 'nullable oneOf patternProperties prefixItems properties propertyNames readOnly required then unevaluatedItems unevaluatedProperties uniqueItems writeOnly'
).split(' '));

/** What an answer says of the request that it answers. */
export const echoedNames: ReadonlySet<string> = new Set([
  'instructions', 'metadata', 'tools', 'tool_choice', 'prompt', 'text', 'user', 'safety_identifier', 'prompt_cache_key', 'reasoning', 'conversation', 'max_output_tokens',
]);
