// The gateway's API as types: paths, operations and the schemas of their bodies and answers. For clients such as openapi-fetch: createClient<paths>({ baseUrl, headers }).
// Made of the description that GET /openapi.json answers; renewed with: node dist/test/support/print-client-types.js --write

export interface paths {
  "/v1/chat/completions": {
    parameters: {
    };
    /** Answer a conversation */
    post: operations["createChatCompletion"];
  };
  "/v1/completions": {
    parameters: {
    };
    /** Complete a text */
    post: operations["createCompletion"];
  };
  "/v1/embeddings": {
    parameters: {
    };
    /** Turn texts into vectors */
    post: operations["createEmbedding"];
  };
  "/v1/images/generations": {
    parameters: {
    };
    /** Make images from a text */
    post: operations["createImage"];
  };
  "/v1/images/edits": {
    parameters: {
    };
    /** Change an image */
    post: operations["editImage"];
  };
  "/v1/images/variations": {
    parameters: {
    };
    /** Make variations of an image */
    post: operations["varyImage"];
  };
  "/v1/audio/speech": {
    parameters: {
    };
    /** Read a text aloud */
    post: operations["createSpeech"];
  };
  "/v1/audio/transcriptions": {
    parameters: {
    };
    /** Write down what is said */
    post: operations["createTranscription"];
  };
  "/v1/audio/translations": {
    parameters: {
    };
    /** Write down in English what is said */
    post: operations["createTranslation"];
  };
  "/v1/moderations": {
    parameters: {
    };
    /** Judge a text */
    post: operations["createModeration"];
  };
  "/v1/rerank": {
    parameters: {
    };
    /** Order documents by how well they fit a query */
    post: operations["rerank"];
  };
  "/v1/messages": {
    parameters: {
    };
    /** Answer a conversation, in the Messages API */
    post: operations["createMessage"];
  };
  "/v1/messages/count_tokens": {
    parameters: {
    };
    /** Count the tokens of a conversation */
    post: operations["countMessageTokens"];
  };
  "/v1/responses": {
    parameters: {
    };
    /** Answer, in the Responses API */
    post: operations["createResponse"];
  };
  "/v1/files": {
    parameters: {
    };
    /** List files */
    get: operations["listFiles"];
    /** Upload a file */
    post: operations["uploadFile"];
  };
  "/v1/batches": {
    parameters: {
    };
    /** List batches */
    get: operations["listBatches"];
    /** Make many calls from a file */
    post: operations["createBatch"];
  };
  "/v1/fine_tuning/jobs": {
    parameters: {
    };
    /** List fine-tuning jobs */
    get: operations["listFineTuningJobs"];
    /** Begin to fine-tune a model */
    post: operations["createFineTuningJob"];
  };
  "/v1/models": {
    parameters: {
    };
    /** List the models that the key may use, or those of the provider that the call names */
    get: operations["listModels"];
  };
  "/v1/responses/{id}": {
    parameters: {
    };
    /** Get a stored response */
    get: operations["getResponse"];
    /** Delete a stored response */
    delete: operations["deleteResponse"];
  };
  "/v1/responses/{id}/input_items": {
    parameters: {
    };
    /** List what a response answered */
    get: operations["listResponseInputItems"];
  };
  "/v1/responses/{id}/cancel": {
    parameters: {
    };
    /** Stop a response that is made in the background */
    post: operations["cancelResponse"];
  };
  "/v1/files/{id}": {
    parameters: {
    };
    /** Get what is known of a file */
    get: operations["getFile"];
    /** Delete a file */
    delete: operations["deleteFile"];
  };
  "/v1/files/{id}/content": {
    parameters: {
    };
    /** Get a file */
    get: operations["getFileContent"];
  };
  "/v1/batches/{id}": {
    parameters: {
    };
    /** Get a batch */
    get: operations["getBatch"];
  };
  "/v1/batches/{id}/cancel": {
    parameters: {
    };
    /** Stop a batch */
    post: operations["cancelBatch"];
  };
  "/v1/fine_tuning/jobs/{id}": {
    parameters: {
    };
    /** Get a fine-tuning job */
    get: operations["getFineTuningJob"];
  };
  "/v1/fine_tuning/jobs/{id}/cancel": {
    parameters: {
    };
    /** Stop a fine-tuning job */
    post: operations["cancelFineTuningJob"];
  };
  "/v1/fine_tuning/jobs/{id}/checkpoints": {
    parameters: {
    };
    /** List the checkpoints of a fine-tuning job */
    get: operations["listFineTuningCheckpoints"];
  };
  "/v1/fine_tuning/jobs/{id}/events": {
    parameters: {
    };
    /** List the events of a fine-tuning job */
    get: operations["listFineTuningEvents"];
  };
  "/v1/prompts/{id}/completions": {
    parameters: {
    };
    /** Answer by a stored prompt; a version or label may stand behind its name: `greeting@2` */
    post: operations["createPromptCompletion"];
  };
  "/v1/prompts/{id}/render": {
    parameters: {
    };
    /** The body of the completion that a stored prompt makes, without a call */
    post: operations["renderPrompt"];
  };
  "/v1/prompts/{id}/generate": {
    parameters: {
    };
    /** The older name of completions */
    post: operations["generatePromptCompletion"];
  };
  "/v1/models/{id}": {
    parameters: {
    };
    /** Get what is known of a model */
    get: operations["getModel"];
  };
  "/v1/proxy/{path}": {
    parameters: {
    };
    /** Call the provider's own API */
    get: operations["proxyGet"];
    /** Call the provider's own API */
    put: operations["proxyPut"];
    /** Call the provider's own API */
    post: operations["proxyPost"];
    /** Call the provider's own API */
    delete: operations["proxyDelete"];
  };
  "/v1/analytics/graphs/requests": {
    parameters: {
    };
    /** List analytics requests */
    get: operations["listAnalyticsRequests"];
  };
  "/v1/analytics/graphs/cost": {
    parameters: {
    };
    /** Get analytics cost */
    get: operations["getAnalyticsCost"];
  };
  "/v1/analytics/graphs/latency": {
    parameters: {
    };
    /** Get analytics latency */
    get: operations["getAnalyticsLatency"];
  };
  "/v1/analytics/graphs/tokens": {
    parameters: {
    };
    /** List analytics tokens */
    get: operations["listAnalyticsTokens"];
  };
  "/v1/analytics/graphs/users": {
    parameters: {
    };
    /** List analytics users */
    get: operations["listAnalyticsUsers"];
  };
  "/v1/analytics/graphs/users/requests": {
    parameters: {
    };
    /** List analytics users requests */
    get: operations["listAnalyticsUsersRequests"];
  };
  "/v1/analytics/graphs/errors": {
    parameters: {
    };
    /** List analytics errors */
    get: operations["listAnalyticsErrors"];
  };
  "/v1/analytics/graphs/errors/rate": {
    parameters: {
    };
    /** Get analytics errors rate */
    get: operations["getAnalyticsErrorsRate"];
  };
  "/v1/analytics/graphs/errors/stacks": {
    parameters: {
    };
    /** List analytics errors stacks */
    get: operations["listAnalyticsErrorsStacks"];
  };
  "/v1/analytics/graphs/errors/status-codes": {
    parameters: {
    };
    /** List analytics errors status codes */
    get: operations["listAnalyticsErrorsStatusCodes"];
  };
  "/v1/analytics/graphs/requests/rescued": {
    parameters: {
    };
    /** Get analytics requests rescued */
    get: operations["getAnalyticsRequestsRescued"];
  };
  "/v1/analytics/graphs/cache/hit-rate": {
    parameters: {
    };
    /** Get analytics cache hit rate */
    get: operations["getAnalyticsCacheHitRate"];
  };
  "/v1/analytics/graphs/cache/latency": {
    parameters: {
    };
    /** Get analytics cache latency */
    get: operations["getAnalyticsCacheLatency"];
  };
  "/v1/analytics/graphs/feedbacks": {
    parameters: {
    };
    /** List analytics feedbacks */
    get: operations["listAnalyticsFeedbacks"];
  };
  "/v1/analytics/graphs/feedbacks/scores": {
    parameters: {
    };
    /** List analytics feedbacks scores */
    get: operations["listAnalyticsFeedbacksScores"];
  };
  "/v1/analytics/graphs/feedbacks/weighted": {
    parameters: {
    };
    /** Get analytics feedbacks weighted */
    get: operations["getAnalyticsFeedbacksWeighted"];
  };
  "/v1/analytics/graphs/feedbacks/ai-models": {
    parameters: {
    };
    /** List analytics feedbacks ai models */
    get: operations["listAnalyticsFeedbacksAiModels"];
  };
  "/v1/analytics/summary/cache": {
    parameters: {
    };
    /** Get analytics summary cache */
    get: operations["getAnalyticsSummaryCache"];
  };
  "/v1/analytics/groups/users": {
    parameters: {
    };
    /** List analytics group users */
    get: operations["listAnalyticsGroupUsers"];
  };
  "/v1/analytics/groups/ai-models": {
    parameters: {
    };
    /** List analytics group ai models */
    get: operations["listAnalyticsGroupAiModels"];
  };
  "/v1/analytics/groups/metadata/{metadataKey}": {
    parameters: {
    };
    /** Get analytics group metadata */
    get: operations["getAnalyticsGroupMetadata"];
  };
  "/v1/analytics/groups/{groupBy}": {
    parameters: {
    };
    /** Get analytics group by */
    get: operations["getAnalyticsGroupBy"];
  };
  "/v1/api-keys/{type}/{sub-type}": {
    parameters: {
    };
    /** Create an API key */
    post: operations["createApiKey"];
  };
  "/v1/api-keys": {
    parameters: {
    };
    /** List API keys */
    get: operations["listApiKeys"];
  };
  "/v1/api-keys/{id}": {
    parameters: {
    };
    /** Get an API key */
    get: operations["getApiKey"];
    /** Update an API key */
    put: operations["updateApiKey"];
    /** Delete an API key */
    delete: operations["deleteApiKey"];
  };
  "/v1/api-keys/{id}/rotate": {
    parameters: {
    };
    /** Rotate an API key */
    post: operations["rotateApiKey"];
  };
  "/v1/audit-logs": {
    parameters: {
    };
    /** List audit logs */
    get: operations["listAuditLogs"];
  };
  "/v1/collections": {
    parameters: {
    };
    /** List collections */
    get: operations["listCollections"];
    /** Create a collection */
    post: operations["createCollection"];
  };
  "/v1/collections/{collectionId}": {
    parameters: {
    };
    /** Get a collection */
    get: operations["getCollection"];
    /** Update a collection */
    put: operations["updateCollection"];
    /** Delete a collection */
    delete: operations["deleteCollection"];
  };
  "/v1/configs": {
    parameters: {
    };
    /** List configs */
    get: operations["listConfigs"];
    /** Create a config */
    post: operations["createConfig"];
  };
  "/v1/configs/{slug}": {
    parameters: {
    };
    /** Get a config */
    get: operations["getConfig"];
    /** Update a config */
    put: operations["updateConfig"];
    /** Delete a config */
    delete: operations["deleteConfig"];
  };
  "/v1/configs/{slug}/versions": {
    parameters: {
    };
    /** List config versions */
    get: operations["listConfigVersions"];
  };
  "/v1/declarations/apply": {
    parameters: {
    };
    /** Apply a declaration */
    post: operations["applyDeclaration"];
  };
  "/v1/declarations/export": {
    parameters: {
    };
    /** Export a declaration */
    get: operations["exportDeclaration"];
  };
  "/v1/feedback": {
    parameters: {
    };
    /** Create a feedback */
    post: operations["createFeedback"];
  };
  "/v1/feedback/{id}": {
    parameters: {
    };
    /** Update a feedback */
    put: operations["updateFeedback"];
  };
  "/v1/guardrails": {
    parameters: {
    };
    /** List guardrails */
    get: operations["listGuardrails"];
    /** Create a guardrail */
    post: operations["createGuardrail"];
  };
  "/v1/guardrails/{guardrailId}": {
    parameters: {
    };
    /** Get a guardrail */
    get: operations["getGuardrail"];
    /** Update a guardrail */
    put: operations["updateGuardrail"];
    /** Delete a guardrail */
    delete: operations["deleteGuardrail"];
  };
  "/v1/guardrails/{guardrailId}/invoke": {
    parameters: {
    };
    /** Invoke a guardrail */
    post: operations["invokeGuardrail"];
  };
  "/v1/integrations": {
    parameters: {
    };
    /** List integrations */
    get: operations["listIntegrations"];
    /** Create an integration */
    post: operations["createIntegration"];
  };
  "/v1/integrations/{slug}": {
    parameters: {
    };
    /** Get an integration */
    get: operations["getIntegration"];
    /** Update an integration */
    put: operations["updateIntegration"];
    /** Delete an integration */
    delete: operations["deleteIntegration"];
  };
  "/v1/integrations/{slug}/models": {
    parameters: {
    };
    /** List integration models */
    get: operations["listIntegrationModels"];
    /** Update integration models */
    put: operations["updateIntegrationModels"];
    /** Delete integration models */
    delete: operations["deleteIntegrationModels"];
  };
  "/v1/integrations/{slug}/workspaces": {
    parameters: {
    };
    /** List integration workspaces */
    get: operations["listIntegrationWorkspaces"];
    /** Update integration workspaces */
    put: operations["updateIntegrationWorkspaces"];
  };
  "/v1/admin/users/invites": {
    parameters: {
    };
    /** List invites */
    get: operations["listInvites"];
    /** Create an invite */
    post: operations["createInvite"];
  };
  "/v1/admin/users/invites/{inviteId}": {
    parameters: {
    };
    /** Get an invite */
    get: operations["getInvite"];
    /** Cancel an invite */
    delete: operations["cancelInvite"];
  };
  "/v1/admin/users/invites/{inviteId}/resend": {
    parameters: {
    };
    /** Resend an invite */
    post: operations["resendInvite"];
  };
  "/v1/admin/users/invites/{inviteId}/accept": {
    parameters: {
    };
    /** Accept an invite */
    post: operations["acceptInvite"];
  };
  "/v1/labels": {
    parameters: {
    };
    /** List labels */
    get: operations["listLabels"];
    /** Create a label */
    post: operations["createLabel"];
  };
  "/v1/labels/{labelId}": {
    parameters: {
    };
    /** Get a label */
    get: operations["getLabel"];
    /** Update a label */
    put: operations["updateLabel"];
    /** Delete a label */
    delete: operations["deleteLabel"];
  };
  "/v1/logs/exports": {
    parameters: {
    };
    /** List log exports */
    get: operations["listLogExports"];
    /** Create a log export */
    post: operations["createLogExport"];
  };
  "/v1/logs/exports/field-restrictions": {
    parameters: {
    };
    /** List log export field restrictions */
    get: operations["listLogExportFieldRestrictions"];
  };
  "/v1/logs/exports/{exportId}": {
    parameters: {
    };
    /** Get a log export */
    get: operations["getLogExport"];
    /** Update a log export */
    put: operations["updateLogExport"];
  };
  "/v1/logs/exports/{exportId}/start": {
    parameters: {
    };
    /** Start a log export */
    post: operations["startLogExport"];
  };
  "/v1/logs/exports/{exportId}/cancel": {
    parameters: {
    };
    /** Cancel a log export */
    post: operations["cancelLogExport"];
  };
  "/v1/logs/exports/{exportId}/download": {
    parameters: {
    };
    /** Get log export download */
    get: operations["getLogExportDownload"];
  };
  "/v1/logs": {
    parameters: {
    };
    /** List logs */
    get: operations["listLogs"];
    /** Create a log */
    post: operations["createLog"];
  };
  "/v1/logs/live": {
    parameters: {
    };
    /** Get log live */
    get: operations["getLogLive"];
  };
  "/v1/logs/{logId}": {
    parameters: {
    };
    /** Get a log */
    get: operations["getLog"];
  };
  "/v1/logs/{logId}/why": {
    parameters: {
    };
    /** Get log why */
    get: operations["getLogWhy"];
  };
  "/v1/model-configs/pricing/{provider}/{model}": {
    parameters: {
    };
    /** Get model pricing */
    get: operations["getModelPricing"];
  };
  "/v1/model-configs/general/{provider}/{model}": {
    parameters: {
    };
    /** Get model general */
    get: operations["getModelGeneral"];
  };
  "/v1/openapi.json": {
    parameters: {
    };
    /** Get an API description */
    get: operations["getApiDescription"];
  };
  "/v1/admin/organisation": {
    parameters: {
    };
    /** Get an organisation */
    get: operations["getOrganisation"];
    /** Update an organisation */
    put: operations["updateOrganisation"];
  };
  "/v1/admin/organisation/defaults": {
    parameters: {
    };
    /** Get organisation defaults */
    get: operations["getOrganisationDefaults"];
    /** Update organisation defaults */
    put: operations["updateOrganisationDefaults"];
  };
  "/v1/workspace-exclusions/input-guardrails": {
    parameters: {
    };
    /** List organisation input exclusions */
    get: operations["listOrganisationInputExclusions"];
    /** Update organisation input exclusions */
    put: operations["updateOrganisationInputExclusions"];
  };
  "/v1/workspace-exclusions/output-guardrails": {
    parameters: {
    };
    /** List organisation output exclusions */
    get: operations["listOrganisationOutputExclusions"];
    /** Update organisation output exclusions */
    put: operations["updateOrganisationOutputExclusions"];
  };
  "/v1/prompts/partials": {
    parameters: {
    };
    /** List prompt partials */
    get: operations["listPromptPartials"];
    /** Create a prompt partial */
    post: operations["createPromptPartial"];
  };
  "/v1/prompts/partials/{promptPartialId}": {
    parameters: {
    };
    /** Get a prompt partial */
    get: operations["getPromptPartial"];
    /** Update a prompt partial */
    put: operations["updatePromptPartial"];
    /** Delete a prompt partial */
    delete: operations["deletePromptPartial"];
  };
  "/v1/prompts/partials/{promptPartialId}/versions": {
    parameters: {
    };
    /** List prompt partial versions */
    get: operations["listPromptPartialVersions"];
  };
  "/v1/prompts/partials/{promptPartialId}/makeDefault": {
    parameters: {
    };
    /** Publish a prompt partial */
    put: operations["publishPromptPartial"];
  };
  "/v1/prompts": {
    parameters: {
    };
    /** List prompts */
    get: operations["listPrompts"];
    /** Create a prompt */
    post: operations["createPrompt"];
  };
  "/v1/prompts/{promptId}": {
    parameters: {
    };
    /** Get a prompt */
    get: operations["getPrompt"];
    /** Update a prompt */
    put: operations["updatePrompt"];
    /** Delete a prompt */
    delete: operations["deletePrompt"];
  };
  "/v1/prompts/{promptId}/versions": {
    parameters: {
    };
    /** List prompt versions */
    get: operations["listPromptVersions"];
  };
  "/v1/prompts/{promptId}/versions/{versionId}": {
    parameters: {
    };
    /** Get prompt version */
    get: operations["getPromptVersion"];
    /** Update prompt version */
    put: operations["updatePromptVersion"];
  };
  "/v1/prompts/{promptId}/makeDefault": {
    parameters: {
    };
    /** Publish a prompt */
    put: operations["publishPrompt"];
  };
  "/v1/providers": {
    parameters: {
    };
    /** List providers */
    get: operations["listProviders"];
    /** Create a provider */
    post: operations["createProvider"];
  };
  "/v1/providers/{slug}": {
    parameters: {
    };
    /** Get a provider */
    get: operations["getProvider"];
    /** Update a provider */
    put: operations["updateProvider"];
    /** Delete a provider */
    delete: operations["deleteProvider"];
  };
  "/v1/policies/rate-limits": {
    parameters: {
    };
    /** List rate limits policies */
    get: operations["listRateLimitsPolicies"];
    /** Create a rate limits policy */
    post: operations["createRateLimitsPolicy"];
  };
  "/v1/policies/rate-limits/{rateLimitsPolicyId}": {
    parameters: {
    };
    /** Get a rate limits policy */
    get: operations["getRateLimitsPolicy"];
    /** Update a rate limits policy */
    put: operations["updateRateLimitsPolicy"];
    /** Delete a rate limits policy */
    delete: operations["deleteRateLimitsPolicy"];
  };
  "/v1/scim/workspaces": {
    parameters: {
    };
    /** List scim mappings */
    get: operations["listScimMappings"];
    /** Create a scim mapping */
    post: operations["createScimMapping"];
  };
  "/v1/scim/workspaces/{scimWorkspaceGroupId}": {
    parameters: {
    };
    /** Delete a scim mapping */
    delete: operations["deleteScimMapping"];
  };
  "/v1/scim/Groups": {
    parameters: {
    };
    /** List scim mapping groups */
    get: operations["listScimMappingGroups"];
  };
  "/v1/scim/Groups/{id}": {
    parameters: {
    };
    /** Delete scim mapping group */
    delete: operations["deleteScimMappingGroup"];
  };
  "/v1/secret-references": {
    parameters: {
    };
    /** List secret references */
    get: operations["listSecretReferences"];
    /** Create a secret reference */
    post: operations["createSecretReference"];
  };
  "/v1/secret-references/{secretReferenceId}": {
    parameters: {
    };
    /** Get a secret reference */
    get: operations["getSecretReference"];
    /** Update a secret reference */
    put: operations["updateSecretReference"];
    /** Delete a secret reference */
    delete: operations["deleteSecretReference"];
  };
  "/v1/auth/login": {
    parameters: {
    };
    /** Get session login */
    get: operations["getSessionLogin"];
  };
  "/v1/auth/callback": {
    parameters: {
    };
    /** Get session callback */
    get: operations["getSessionCallback"];
  };
  "/v1/auth/session": {
    parameters: {
    };
    /** Get a session */
    get: operations["getSession"];
  };
  "/v1/auth/logout": {
    parameters: {
    };
    /** Logout a session */
    post: operations["logoutSession"];
  };
  "/v1/policies/usage-limits": {
    parameters: {
    };
    /** List usage limits policies */
    get: operations["listUsageLimitsPolicies"];
    /** Create a usage limits policy */
    post: operations["createUsageLimitsPolicy"];
  };
  "/v1/policies/usage-limits/{policyUsageLimitsId}": {
    parameters: {
    };
    /** Get a usage limits policy */
    get: operations["getUsageLimitsPolicy"];
    /** Update a usage limits policy */
    put: operations["updateUsageLimitsPolicy"];
    /** Delete a usage limits policy */
    delete: operations["deleteUsageLimitsPolicy"];
  };
  "/v1/policies/usage-limits/{policyUsageLimitsId}/entities": {
    parameters: {
    };
    /** List usage limits policy entities */
    get: operations["listUsageLimitsPolicyEntities"];
  };
  "/v1/policies/usage-limits/{policyUsageLimitsId}/entities/{entityId}/reset": {
    parameters: {
    };
    /** Reset usage limits policy entity */
    put: operations["resetUsageLimitsPolicyEntity"];
  };
  "/v1/admin/users": {
    parameters: {
    };
    /** List users */
    get: operations["listUsers"];
  };
  "/v1/admin/users/{userId}": {
    parameters: {
    };
    /** Get a user */
    get: operations["getUser"];
    /** Update a user */
    put: operations["updateUser"];
    /** Delete a user */
    delete: operations["deleteUser"];
  };
  "/v1/virtual-keys": {
    parameters: {
    };
    /** List virtual keys */
    get: operations["listVirtualKeys"];
    /** Create a virtual key */
    post: operations["createVirtualKey"];
  };
  "/v1/virtual-keys/{slug}": {
    parameters: {
    };
    /** Get a virtual key */
    get: operations["getVirtualKey"];
    /** Update a virtual key */
    put: operations["updateVirtualKey"];
    /** Delete a virtual key */
    delete: operations["deleteVirtualKey"];
  };
  "/v1/admin/workspaces/{workspaceId}/users": {
    parameters: {
    };
    /** List workspace members */
    get: operations["listWorkspaceMembers"];
    /** Add a workspace member */
    post: operations["addWorkspaceMember"];
  };
  "/v1/admin/workspaces/{workspaceId}/users/{userId}": {
    parameters: {
    };
    /** Get a workspace member */
    get: operations["getWorkspaceMember"];
    /** Update a workspace member */
    put: operations["updateWorkspaceMember"];
    /** Delete a workspace member */
    delete: operations["deleteWorkspaceMember"];
  };
  "/v1/workspaces": {
    parameters: {
    };
    /** List workspaces */
    get: operations["listWorkspaces"];
    /** Create a workspace */
    post: operations["createWorkspace"];
  };
  "/v1/workspaces/{workspaceId}": {
    parameters: {
    };
    /** Get a workspace */
    get: operations["getWorkspace"];
    /** Update a workspace */
    put: operations["updateWorkspace"];
    /** Delete a workspace */
    delete: operations["deleteWorkspace"];
  };
  "/health": {
    parameters: {
    };
    /** Whether the process lives */
    get: operations["getHealth"];
  };
  "/v1/health": {
    parameters: {
    };
    /** Whether the process lives */
    get: operations["getHealthV1"];
  };
  "/ready": {
    parameters: {
    };
    /** Whether calls are taken */
    get: operations["getReady"];
  };
  "/metrics": {
    parameters: {
    };
    /** Metrics for Prometheus */
    get: operations["getMetrics"];
  };
}
export interface components {
  schemas: {
    ChatMessage: {
      /** @enum {string} */
      role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
      /** @description a text, or a list of parts */
      content?: unknown;
    };
    ChatTool: {
      /** @example function */
      type: string;
    };
    CreateChatCompletionBody: {
      messages: components["schemas"]["ChatMessage"][];
      model: string;
      frequency_penalty?: number | null;
      logit_bias?: {
        [key: string]: number;
      } | null;
      logprobs?: boolean | null;
      /** @description requires logprobs to be true */
      top_logprobs?: number | null;
      max_tokens?: number | null;
      max_completion_tokens?: number | null;
      n?: number | null;
      presence_penalty?: number | null;
      response_format?: Record<string, unknown> | null;
      seed?: number | null;
      stop?: string | string[] | null;
      stream?: boolean | null;
      /** @description only for streams */
      stream_options?: Record<string, unknown> | null;
      thinking?: Record<string, unknown> | null;
      temperature?: number | null;
      top_p?: number | null;
      tools?: components["schemas"]["ChatTool"][] | null;
      tool_choice?: ("none" | "auto" | "required") | Record<string, unknown> | null;
      parallel_tool_calls?: boolean | null;
      user?: string | null;
      function_call?: string | Record<string, unknown> | null;
      functions?: {
        name: string;
      }[] | null;
    };
    ChatCompletionChunk: {
      id?: string;
      /** @constant */
      object?: "chat.completion.chunk";
      created?: number;
      model?: string;
      choices?: {
        index?: number;
        delta?: Record<string, unknown>;
        finish_reason?: string | null;
      }[];
    };
    ChatAnswerMessage: {
      /** @constant */
      role?: "assistant";
      content?: string | null;
      refusal?: string | null;
      tool_calls?: Record<string, unknown>[];
    };
    Usage: {
      prompt_tokens?: number;
      completion_tokens?: number;
      total_tokens?: number;
    };
    ChatCompletion: {
      /** @example chatcmpl-1 */
      id: string;
      /** @constant */
      object: "chat.completion";
      created?: number;
      model?: string;
      choices: {
        index?: number;
        message?: components["schemas"]["ChatAnswerMessage"];
        finish_reason?: string | null;
        logprobs?: Record<string, unknown> | null;
      }[];
      usage?: components["schemas"]["Usage"];
      /** @description verdicts of the checks of the config, where there are any */
      hook_results?: Record<string, unknown>;
    };
    CreateCompletionBody: {
      model: string;
      prompt: string | string[] | number[] | unknown[][];
      /** @description greater than n; not for streams */
      best_of?: number | null;
      echo?: boolean | null;
      frequency_penalty?: number | null;
      logit_bias?: {
        [key: string]: number;
      } | null;
      logprobs?: number | null;
      max_tokens?: number | null;
      n?: number | null;
      presence_penalty?: number | null;
      seed?: number | null;
      stop?: string | string[] | null;
      stream?: boolean | null;
      /** @description only for streams */
      stream_options?: Record<string, unknown> | null;
      suffix?: string | null;
      temperature?: number | null;
      top_p?: number | null;
      user?: string | null;
    };
    CompletionChunk: {
      id?: string;
      choices?: Record<string, unknown>[];
    };
    Completion: {
      id?: string;
      /** @constant */
      object?: "text_completion";
      created?: number;
      model?: string;
      choices?: {
        index?: number;
        text?: string;
        finish_reason?: string | null;
      }[];
      usage?: components["schemas"]["Usage"];
    };
    CreateEmbeddingBody: {
      model: string;
      input: string | unknown[];
      dimensions?: number | null;
      encoding_format?: string | null;
      user?: string | null;
    };
    EmbeddingList: {
      /** @constant */
      object?: "list";
      model?: string;
      data?: {
        /** @constant */
        object?: "embedding";
        index?: number;
        /** @description numbers, or base64 */
        embedding?: unknown[] | string;
      }[];
      usage?: components["schemas"]["Usage"];
    };
    CreateImageBody: {
      prompt: string;
      model?: string | null;
      n?: number | null;
      /** @description some models take few values */
      quality?: string | null;
      /** @enum {string|null} */
      response_format?: "url" | "b64_json" | null;
      /** @description some models take few values */
      size?: string | null;
      /** @description some models take few values */
      style?: string | null;
      user?: string | null;
    };
    ImageList: {
      created?: number;
      data?: {
        url?: string;
        b64_json?: string;
        revised_prompt?: string;
      }[];
    };
    CreateSpeechBody: {
      model: string;
      input: string;
      voice: string | Record<string, unknown>;
      instructions?: string | null;
      response_format?: string | null;
      speed?: number | null;
    };
    Transcript: {
      text?: string;
    };
    CreateModerationBody: {
      input: string | unknown[];
      model?: string | null;
    };
    Moderation: {
      id?: string;
      model?: string;
      results?: {
        flagged?: boolean;
        categories?: Record<string, unknown>;
        category_scores?: Record<string, unknown>;
      }[];
    };
    RerankBody: {
      model: string;
      query: string;
      documents: (string | {
        text: string;
      })[];
      top_n?: number | null;
      return_documents?: boolean | null;
      max_chunks_per_doc?: number | null;
    };
    Ranking: {
      id?: string;
      results?: {
        index?: number;
        relevance_score?: number;
        document?: Record<string, unknown> | string;
      }[];
    };
    Message: {
      /** @enum {string} */
      role: "user" | "assistant" | "system";
      content: string | unknown[];
    };
    CreateMessageBody: {
      model: string;
      messages: components["schemas"]["Message"][];
      max_tokens: number;
      system?: string | unknown[] | null;
      thinking?: Record<string, unknown> | null;
      tool_choice?: Record<string, unknown> | null;
      tools?: Record<string, unknown>[] | null;
      metadata?: Record<string, unknown> | null;
      stop_sequences?: string[] | null;
      stream?: boolean | null;
      temperature?: number | null;
      top_k?: number | null;
      top_p?: number | null;
    };
    MessageEvent: {
      type: string;
    };
    MessageAnswer: {
      id: string;
      /** @constant */
      type: "message";
      /** @constant */
      role?: "assistant";
      model?: string;
      content: {
        type?: string;
        text?: string;
      }[];
      stop_reason?: string | null;
      stop_sequence?: string | null;
      usage?: {
        input_tokens?: number;
        output_tokens?: number;
      };
    };
    CountMessageTokensBody: {
      model: string;
      messages: components["schemas"]["Message"][];
      system?: string | unknown[] | null;
      thinking?: Record<string, unknown> | null;
      tool_choice?: Record<string, unknown> | null;
      tools?: Record<string, unknown>[] | null;
    };
    TokenCount: {
      input_tokens: number;
    };
    CreateResponseBody: {
      background?: boolean | null;
      include?: unknown[] | null;
      input?: string | unknown[] | null;
      instructions?: string | null;
      max_output_tokens?: number | null;
      metadata?: {
        [key: string]: string;
      } | null;
      model?: string | null;
      parallel_tool_calls?: boolean | null;
      previous_response_id?: string | null;
      reasoning?: Record<string, unknown> | null;
      store?: boolean | null;
      stream?: boolean | null;
      /** @description only for streams */
      stream_options?: Record<string, unknown> | null;
      temperature?: number | null;
      text?: Record<string, unknown> | null;
      tool_choice?: string | Record<string, unknown> | null;
      tools?: {
        type: string;
      }[] | null;
      top_logprobs?: number | null;
      top_p?: number | null;
      /** @enum {string|null} */
      truncation?: "auto" | "disabled" | null;
      user?: string | null;
    };
    ResponseEvent: {
      type: string;
    };
    Response: {
      id: string;
      /** @constant */
      object: "response";
      /** @example completed */
      status?: string;
      model?: string;
      output: {
        type?: string;
      }[];
      usage?: {
        input_tokens?: number;
        output_tokens?: number;
        total_tokens?: number;
      } | null;
      error?: Record<string, unknown> | null;
    };
    File: {
      id?: string;
      /** @constant */
      object?: "file";
      bytes?: number;
      created_at?: number;
      filename?: string;
      purpose?: string;
    };
    Batch: {
      id?: string;
      /** @constant */
      object?: "batch";
      endpoint?: string;
      input_file_id?: string;
      completion_window?: string;
      status?: string;
      output_file_id?: string | null;
      error_file_id?: string | null;
      created_at?: number;
    };
    CreateBatchBody: {
      input_file_id: string;
      /** @enum {string} */
      completion_window: "immediate" | "24h";
      /** @enum {string} */
      endpoint: "/v1/chat/completions" | "/v1/completions" | "/v1/embeddings" | "/v1/responses" | "/v1/moderations" | "/v1/images/generations" | "/v1/images/edits" | "/v1/videos";
      metadata?: {
        [key: string]: string;
      } | null;
    };
    FineTuningJob: {
      id?: string;
      /** @constant */
      object?: "fine_tuning.job";
      model?: string;
      training_file?: string;
      status?: string;
      fine_tuned_model?: string | null;
      created_at?: number;
    };
    CreateFineTuningJobBody: {
      model: string;
      training_file: string;
      hyperparameters?: Record<string, unknown> | null;
      integrations?: unknown[] | null;
      metadata?: {
        [key: string]: string;
      } | null;
      method?: Record<string, unknown> | null;
      seed?: number | null;
      suffix?: string | null;
      validation_file?: string | null;
    };
    Model: {
      /** @example @openai/gpt-4o-mini */
      id: string;
      /** @constant */
      object: "model";
      created?: number;
      owned_by?: string;
    };
    Deleted: {
      id?: string;
      object?: string;
      deleted?: boolean;
    };
    PromptCallBody: {
      /** @description values for the template */
      variables: Record<string, unknown>;
      stream?: boolean;
      /** @description members of the completion, in place of those that are saved with the prompt; they may stand beside variables as well */
      hyperparameters?: Record<string, unknown>;
    };
    RenderedPrompt: {
      /** @constant */
      success: true;
      data: Record<string, unknown>;
    };
    ListAnalyticsRequestsReply: {
      summary: {
        total: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        total: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsCostReply: {
      summary: {
        total: number;
        avg: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        total: number;
        avg: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsLatencyReply: {
      summary: {
        avg: number;
        p50: number;
        p90: number;
        p99: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        avg: number;
        p50: number;
        p90: number;
        p99: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsTokensReply: {
      summary: {
        total: number;
        avg: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        total: number;
        avg: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsUsersReply: {
      summary: {
        total: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        total: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsUsersRequestsReply: {
      summary: {
        total: number;
        unique: number;
        avg: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        avg: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsErrorsReply: {
      summary: {
        total: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        total: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsErrorsRateReply: {
      summary: {
        rate: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        rate: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsErrorsStacksReply: {
      summary: {
        total: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        stats: {
          response_status_code: number;
          count: number;
        }[];
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsErrorsStatusCodesReply: {
      summary: {
        total_errors: number;
        unique_error_codes: number;
      };
      data_points: {
        status_code: number;
        count: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsRequestsRescuedReply: {
      summary: {
        retry: number;
        fallback: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        retry: {
          retry_success_count: number;
          count: number;
        }[];
        fallback: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsCacheHitRateReply: {
      summary: {
        total: number;
        rate: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        simple_hits: number;
        semantic_hits: number;
        rate: number;
        cumulative_simple_cache_savings: number;
        cumulative_semantic_cache_savings: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsCacheLatencyReply: {
      summary: {
        avg: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        avg: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsFeedbacksReply: {
      summary: {
        total: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        total: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsFeedbacksScoresReply: {
      summary: {
        total: number;
      };
      data_points: {
        score: number;
        total: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsFeedbacksWeightedReply: {
      summary: {
        avg: number;
      };
      data_points: {
        /** Format: date-time */
        timestamp: string;
        avg: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    ListAnalyticsFeedbacksAiModelsReply: {
      summary: Record<string, unknown>;
      data_points: {
        ai_model: string;
        total: number;
        avg_weighted_feedback: number;
      }[];
      /** @constant */
      object: "analytics-graph";
    };
    GetAnalyticsSummaryCacheReply: {
      summary: {
        hits: number;
        avg_latency: number;
        total_requests: number;
        cache_speedup: number;
      };
      /** @constant */
      object: "analytics-summary";
    };
    ListAnalyticsGroupUsersReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: {
        user: string;
        requests: string;
        cost: string;
        /** @constant */
        object: "analytics-group";
      }[];
    };
    ListAnalyticsGroupAiModelsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: {
        ai_model: string;
        requests: string;
        /** @constant */
        object: "analytics-group";
      }[];
    };
    GetAnalyticsGroupMetadataReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: {
        metadata_value: string;
        requests: number;
        cost: number;
        avg_tokens: number;
        avg_weighted_feedback: number;
        requests_with_feedback: number;
        /** Format: date-time */
        last_seen: string;
        /** @constant */
        object: "analytics-group";
      }[];
    };
    GetAnalyticsGroupByReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: {
        /** @description null: of calls without one */
        ai_service?: string | null;
        /** @description null: of calls without one */
        model?: string | null;
        status_code?: number;
        /** @description null: of calls without one */
        api_key?: string | null;
        /** @description null: of calls without one */
        config?: string | null;
        /** @description null: of calls without one */
        workspace?: string | null;
        /** @description null: of calls without one */
        provider?: string | null;
        /** @description null: of calls without one */
        prompt?: string | null;
        /** @description null: of calls without one */
        workspaces?: string | null;
        requests: number;
        cost?: number;
        total_tokens?: number;
        avg_tokens?: number;
        avg_input_tokens?: number;
        avg_output_tokens?: number;
        avg_latency?: number;
        p95_latency?: number;
        p99_latency?: number;
        success_rate?: number;
        error_count?: number;
        cache_hit_rate?: number;
        /** Format: date-time */
        last_seen?: string;
        /** Format: date-time */
        first_seen?: string;
        /** @constant */
        object: "analytics-group";
      }[];
    };
    KeyRateLimit: {
      /** @enum {string} */
      type: "requests" | "tokens";
      /** @enum {string} */
      unit: "rps" | "rpm" | "rph" | "rpd" | "rpw";
      /** @description 0 refuses every call */
      value: number;
    };
    UsageLimits: {
      /** @description US dollars, or tokens */
      credit_limit?: number | null;
      /** @enum {string} */
      type?: "cost" | "tokens";
      alert_threshold?: number | null;
      /** @enum {string|null} */
      periodic_reset?: "monthly" | "weekly" | null;
      periodic_reset_days?: number | null;
      /** Format: date-time */
      next_usage_reset_at?: string | null;
    };
    CreateApiKeyBody: {
      name: string;
      description?: string | null;
      rate_limits?: components["schemas"]["KeyRateLimit"][] | null;
      usage_limits?: components["schemas"]["UsageLimits"] | null;
      defaults?: {
        metadata?: {
          [key: string]: string;
        } | null;
        /** @description slug or id of a config of the workspace */
        config_id?: string | null;
        /** @description @slug of a provider of the workspace, or the id of a provider */
        provider?: string | null;
        allow_config_override?: boolean;
      } | null;
      alert_emails?: string[] | null;
      /** Format: date-time */
      expires_at?: string | null;
      rotation_policy?: {
        /** @enum {string|null} */
        rotation_period?: "weekly" | "monthly" | null;
        rotation_period_days?: number | null;
        /** Format: date-time */
        next_rotation_at?: string | null;
        /** @description how long the secret before stays valid */
        key_transition_period_ms?: number;
      } | null;
      scopes: string[];
      /**
      * Format: uuid
      * @description whom a key of type workspace-user acts for
      */
      user_id?: string | null;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateApiKeyReply: {
      /** Format: uuid */
      id: string;
      /** @description the secret; it is shown this once */
      key: string;
      /** @constant */
      object: "api-key";
    };
    CountedUsage: {
      /** @enum {string} */
      type: "cost" | "tokens";
      /** @description US dollars, or tokens, since the last reset; with what calls that are under way have reserved */
      current_usage: number;
      /** @enum {string} */
      status: "active" | "exhausted";
      /** Format: date-time */
      next_usage_reset_at: string | null;
    };
    ApiKey: {
      /** Format: uuid */
      id: string;
      /** @constant */
      object: "api-key";
      /** @description masked */
      key: string;
      name: string;
      description: string | null;
      /** @enum {string} */
      type: "organisation-service" | "workspace-service" | "workspace-user";
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string | null;
      /** Format: uuid */
      user_id: string | null;
      /** @enum {string} */
      status: "active" | "exhausted" | "expired";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @enum {string} */
      creation_mode: "ui" | "api" | "auto";
      rate_limits: components["schemas"]["KeyRateLimit"][];
      usage_limits: components["schemas"]["UsageLimits"] | null;
      usage: components["schemas"]["CountedUsage"][];
      /** @constant */
      reset_usage: 0;
      /** Format: date-time */
      last_reset_at: string | null;
      scopes: string[];
      defaults: {
        metadata: {
          [key: string]: string;
        };
        config_id: string | null;
        provider: string | null;
        allow_config_override: boolean;
      };
      /** @enum {integer} */
      allow_config_override: 0 | 1;
      alert_emails: string[];
      /** Format: date-time */
      expires_at: string | null;
      rotation_policy: {
        /** @enum {string|null} */
        rotation_period: "weekly" | "monthly" | null;
        rotation_period_days: number | null;
        /** Format: date-time */
        next_rotation_at: string | null;
        key_transition_period_ms: number | null;
        /**
        * @description UNCLAIMED: the policy rotated it, and nobody has asked for the new secret yet
        * @enum {string}
        */
        status: "ACTIVE" | "UNCLAIMED";
      } | null;
      /** Format: date-time */
      last_rotated_at: string | null;
      /** Format: date-time */
      key_transition_expires_at: string | null;
    };
    ListApiKeysReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["ApiKey"][];
    };
    UpdateApiKeyBody: {
      name?: string;
      description?: string | null;
      rate_limits?: components["schemas"]["KeyRateLimit"][] | null;
      usage_limits?: components["schemas"]["UsageLimits"] | null;
      defaults?: {
        metadata?: {
          [key: string]: string;
        } | null;
        /** @description slug or id of a config of the workspace */
        config_id?: string | null;
        /** @description @slug of a provider of the workspace, or the id of a provider */
        provider?: string | null;
        allow_config_override?: boolean;
      } | null;
      alert_emails?: string[] | null;
      /** Format: date-time */
      expires_at?: string | null;
      rotation_policy?: {
        /** @enum {string|null} */
        rotation_period?: "weekly" | "monthly" | null;
        rotation_period_days?: number | null;
        /** Format: date-time */
        next_rotation_at?: string | null;
        /** @description how long the secret before stays valid */
        key_transition_period_ms?: number;
      } | null;
      scopes?: string[];
      reset_usage?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    Empty: Record<string, unknown>;
    RotateApiKeyBody: {
      /** @description how long the secret before stays valid */
      key_transition_period_ms?: number;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    RotateApiKeyReply: {
      /** Format: uuid */
      id: string;
      /** @description the secret; it is shown this once */
      key: string;
      /** Format: date-time */
      key_transition_expires_at: string | null;
    };
    AuditEntry: {
      id: string;
      /** Format: date-time */
      timestamp: string;
      /** @enum {string} */
      method: "POST" | "PUT" | "DELETE";
      uri: string;
      request_id: string;
      /** @description masked, and cut */
      request_body: string;
      query_params: string;
      request_headers: string;
      user_id: string | null;
      /** @enum {string} */
      user_type: "user" | "api_key" | "gateway";
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string | null;
      response_status_code: number;
      resource_type: string | null;
      action: string | null;
      client_ip: string;
      country: string | null;
      details: Record<string, unknown>;
      /** @description SHA-256 over the entry before and this one */
      hash: string;
    };
    ListAuditLogsReply: {
      /** @constant */
      object: "list";
      /** @description that were counted */
      total: number;
      /** @description there may be more */
      has_more: boolean;
      records: components["schemas"]["AuditEntry"][];
    };
    CreateCollectionBody: {
      name: string;
      slug?: string;
      parent_collection_id?: string | null;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateCollectionReply: {
      /** Format: uuid */
      id: string;
      slug: string;
      /** @constant */
      object: "collection";
    };
    Collection: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      parent_collection_id: string | null;
      is_default: boolean;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "collection";
      collection_details: {
        child_collections_count: number;
        prompts_count: number;
        /** Format: date-time */
        child_collections_last_updated_at: string | null;
        /** Format: date-time */
        prompts_last_updated_at: string | null;
      };
    };
    ListCollectionsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["Collection"][];
    };
    GetCollectionReply: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      parent_collection_id: string | null;
      is_default: boolean;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "collection";
      collection_details: {
        child_collections_count: number;
        prompts_count: number;
        /** Format: date-time */
        child_collections_last_updated_at: string | null;
        /** Format: date-time */
        prompts_last_updated_at: string | null;
      };
      child_collections: {
        /** Format: uuid */
        id: string;
        name: string;
        slug: string;
        /** Format: date-time */
        last_updated_at: string;
        collection_details: {
          child_collections_count: number;
          prompts_count: number;
          /** Format: date-time */
          child_collections_last_updated_at: string | null;
          /** Format: date-time */
          prompts_last_updated_at: string | null;
        };
      }[];
    };
    UpdateCollectionBody: {
      name: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ConfigSummary: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string;
      /** @enum {integer} */
      is_default: 0 | 1;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: uuid */
      owner_id: string;
      /** Format: uuid */
      updated_by: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "config";
    };
    ListConfigsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["ConfigSummary"][];
      /** @constant */
      success: true;
    };
    CreateConfigBody: {
      name?: string;
      slug?: string;
      config: Record<string, unknown> | string;
      /** @enum {boolean|integer} */
      is_default?: true | false | 0 | 1;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateConfigReply: {
      /** @constant */
      success: true;
      data: {
        /** Format: uuid */
        id: string;
        /** Format: uuid */
        version_id: string;
        slug: string;
        /** @constant */
        object: "config";
      };
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      version_id: string;
      slug: string;
      /** @constant */
      object: "config";
    };
    Config: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string;
      /** @enum {integer} */
      is_default: 0 | 1;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: uuid */
      owner_id: string;
      /** Format: uuid */
      updated_by: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "config";
      /** @constant */
      format: "json";
      /** @constant */
      type: "ORG_CONFIG";
      /** Format: uuid */
      version_id: string;
      version: number;
      /** @description secrets are masked; null: it was left out of a backup */
      config: Record<string, unknown> | null;
    };
    GetConfigReply: {
      /** @constant */
      success: true;
      data: components["schemas"]["Config"];
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string;
      /** @enum {integer} */
      is_default: 0 | 1;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: uuid */
      owner_id: string;
      /** Format: uuid */
      updated_by: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "config";
      /** @constant */
      format: "json";
      /** @constant */
      type: "ORG_CONFIG";
      /** Format: uuid */
      version_id: string;
      version: number;
      /** @description secrets are masked; null: it was left out of a backup */
      config: Record<string, unknown> | null;
    };
    UpdateConfigBody: {
      name?: string;
      config?: Record<string, unknown> | string;
      /** @enum {string} */
      status?: "active" | "archived";
      /** @enum {boolean|integer} */
      is_default?: true | false | 0 | 1;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    UpdateConfigReply: {
      /** @constant */
      success: true;
      data: {
        /** Format: uuid */
        id: string;
        /** Format: uuid */
        version_id: string;
        slug: string;
        /** @constant */
        object: "config";
      };
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      version_id: string;
      slug: string;
      /** @constant */
      object: "config";
    };
    ConfigVersion: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string;
      /** @enum {integer} */
      is_default: 0 | 1;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: uuid */
      owner_id: string;
      /** Format: uuid */
      updated_by: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "config";
      /** @constant */
      format: "json";
      /** @constant */
      type: "ORG_CONFIG";
      /** Format: uuid */
      version_id: string;
      version: number;
      /** @description the same as JSON */
      config: string | null;
    };
    ListConfigVersionsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["ConfigVersion"][];
      /** @constant */
      success: true;
    };
    ApplyDeclarationBody: {
      /** @description lists of objects by their names, as in a file of gateway apply */
      documents: Record<string, unknown>[];
      /**
      * @description the name of the files together: what they made earlier is known by it
      * @default files
      */
      source: string;
      /** @description nothing is changed */
      dry_run?: boolean;
      /** @description what the source made earlier and the documents do not have is removed */
      prune?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ApplyDeclarationReply: {
      /** @enum {string} */
      object: "declaration";
      source: string;
      dry_run: boolean;
      changes: {
        /** @enum {string} */
        action: "create" | "update" | "remove";
        section: string;
        name: string;
        workspace: string | null;
        id: string;
        /** @description somebody else changed it since it was applied */
        is_drift: boolean;
        members: {
          member: string;
          /** @description JSON */
          before: string | null;
          after: string | null;
        }[];
      }[];
      unchanged: number;
      keys: {
        name: string;
        workspace: string | null;
        key: string;
      }[];
      left: {
        section: string;
        name: string;
        workspace: string | null;
      }[];
    };
    ExportDeclarationReply: {
      /** @enum {string} */
      object: "declaration";
      documents: Record<string, unknown>[];
      variables: {
        name: string;
        of: string;
      }[];
    };
    CreateFeedbackBody: {
      trace_id: string;
      value: number;
      /** @default 1 */
      weight: number;
      metadata?: Record<string, unknown>;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateFeedbackReply: {
      /** @enum {string} */
      status: "success";
      message: string;
      feedback_ids: string[];
    };
    UpdateFeedbackBody: {
      value: number;
      /** @default 1 */
      weight: number;
      metadata?: Record<string, unknown>;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    UpdateFeedbackReply: {
      /** @enum {string} */
      status: "success";
      message: string;
      feedback_ids: string[];
    };
    CreateGuardrailBody: {
      name: string;
      slug?: string;
      checks: {
        /** @description of a check, such as default.regexMatch */
        id: string;
        parameters?: Record<string, unknown>;
        name?: string;
        is_enabled?: boolean;
      }[];
      actions: {
        /** @description a call whose checks fail is refused with status 446 */
        deny?: boolean;
        /** @description nobody waits for the checks, and they have no say */
        async?: boolean;
        /** @description one check after another, in the order of the list */
        sequential?: boolean;
        /** @description a refusal is an answer with status 200 that says so */
        soft_deny_200?: boolean;
        /** @description what becomes of a call that passes */
        on_success?: ("deny" | "continue") | {
          feedback?: {
            value?: number;
            weight?: number;
            metadata?: string | Record<string, unknown>;
          };
          deny?: boolean;
        };
        /** @description what becomes of a call that does not */
        on_fail?: ("deny" | "continue") | {
          feedback?: {
            value?: number;
            weight?: number;
            metadata?: string | Record<string, unknown>;
          };
          deny?: boolean;
        };
      };
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateGuardrailReply: {
      id: string;
      slug: string;
      version_id: string;
      /** @constant */
      object: "guardrail";
    };
    ListGuardrailsReply: {
      /** @constant */
      object: "list";
      total: number;
      data: {
        id: string;
        /** @constant */
        object: "guardrail";
        name: string;
        slug: string;
        organisation_id: string;
        workspace_id: string | null;
        /** @enum {string} */
        status: "active";
        version_id: string;
        version: number;
        created_at: string;
        last_updated_at: string;
        owner_id: string;
        updated_by: string | null;
      }[];
    };
    GetGuardrailReply: {
      id: string;
      /** @constant */
      object: "guardrail";
      name: string;
      slug: string;
      organisation_id: string;
      workspace_id: string | null;
      /** @enum {string} */
      status: "active";
      version_id: string;
      version: number;
      created_at: string;
      last_updated_at: string;
      owner_id: string;
      updated_by: string | null;
      checks: {
        id: string;
        parameters: Record<string, unknown>;
        name?: string;
        is_enabled: boolean;
      }[];
      actions: {
        deny: boolean;
        async: boolean;
        sequential: boolean;
        soft_deny_200: boolean;
        on_success: {
          feedback: {
            value: number;
            weight: number;
            metadata: Record<string, unknown>;
          };
          deny: boolean;
        };
        on_fail: {
          feedback: {
            value: number;
            weight: number;
            metadata: Record<string, unknown>;
          };
        };
      };
    };
    UpdateGuardrailBody: {
      name?: string;
      checks?: {
        /** @description of a check, such as default.regexMatch */
        id: string;
        parameters?: Record<string, unknown>;
        name?: string;
        is_enabled?: boolean;
      }[];
      actions?: {
        /** @description a call whose checks fail is refused with status 446 */
        deny?: boolean;
        /** @description nobody waits for the checks, and they have no say */
        async?: boolean;
        /** @description one check after another, in the order of the list */
        sequential?: boolean;
        /** @description a refusal is an answer with status 200 that says so */
        soft_deny_200?: boolean;
        /** @description what becomes of a call that passes */
        on_success?: ("deny" | "continue") | {
          feedback?: {
            value?: number;
            weight?: number;
            metadata?: string | Record<string, unknown>;
          };
          deny?: boolean;
        };
        /** @description what becomes of a call that does not */
        on_fail?: ("deny" | "continue") | {
          feedback?: {
            value?: number;
            weight?: number;
            metadata?: string | Record<string, unknown>;
          };
          deny?: boolean;
        };
      };
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    UpdateGuardrailReply: {
      id: string;
      slug: string;
      version_id: string;
      /** @constant */
      object: "guardrail";
    };
    InvokeGuardrailBody: {
      /** @description what a user says, or a model with stage output; in place of request and response */
      text?: string;
      /**
      * @description of text; without, input when the guardrail has checks for it
      * @enum {string}
      */
      stage?: "input" | "output";
      request?: Record<string, unknown>;
      response?: Record<string, unknown>;
      /**
      * @description whose bodies request and response are; without, chatCompletions
      * @enum {string}
      */
      endpoint?: "chatCompletions" | "completions" | "messages" | "responses" | "embeddings";
      provider?: string;
      metadata?: {
        [key: string]: string;
      };
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    InvokeGuardrailReply: {
      /** @constant */
      object: "guardrail.trial";
      id: string;
      slug: string;
      version_id: string;
      verdict: boolean;
      /** @description of the answer to such a call: 200, 246 or 446 */
      status: number;
      hook_results: {
        before_request_hooks: {
          verdict: boolean;
          id: string;
          transformed: boolean;
          checks: {
            data: unknown;
            verdict: boolean;
            id: string;
            error?: {
              name: string;
              message: string;
            };
            execution_time: number;
            transformed: boolean;
            created_at: string;
            log: unknown;
            fail_on_error: boolean;
          }[];
          feedback: Record<string, unknown> | null;
          execution_time: number;
          async: boolean;
          type: string;
          created_at: string;
          deny: boolean;
        }[];
        after_request_hooks: {
          verdict: boolean;
          id: string;
          transformed: boolean;
          checks: {
            data: unknown;
            verdict: boolean;
            id: string;
            error?: {
              name: string;
              message: string;
            };
            execution_time: number;
            transformed: boolean;
            created_at: string;
            log: unknown;
            fail_on_error: boolean;
          }[];
          feedback: Record<string, unknown> | null;
          execution_time: number;
          async: boolean;
          type: string;
          created_at: string;
          deny: boolean;
        }[];
      };
      transformed_request: Record<string, unknown> | null;
      transformed_response: Record<string, unknown> | null;
    };
    DeleteGuardrailReply: Record<string, unknown>;
    IntegrationSummary: {
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string | null;
      /** @enum {string} */
      type: "organisation" | "workspace";
      /** @description id of the provider plugin */
      ai_provider_id: string;
      name: string;
      slug: string;
      description: string | null;
      /** @enum {string} */
      status: "active" | "archived";
      tags: string[];
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "integration";
    };
    ListIntegrationsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["IntegrationSummary"][];
    };
    SecretMapping: {
      /** @description key, or configurations. and a parameter of the provider */
      target_field: string;
      /** @description id or slug */
      secret_reference_id: string;
      /** @description member of what stands there, in place of that of the reference */
      secret_key?: string | null;
      /** @enum {string|null} */
      value_format?: "json" | "string" | null;
    };
    PricingAdjustments: {
      multiplier?: {
        default?: number | null;
        request_token?: number | null;
        response_token?: number | null;
        cache_read_input_token?: number | null;
        cache_write_input_token?: number | null;
        cache_read_audio_input_token?: number | null;
        request_audio_token?: number | null;
        response_audio_token?: number | null;
        reasoning_token?: number | null;
        prediction_accepted_token?: number | null;
        prediction_rejected_token?: number | null;
        request_image_token?: number | null;
        response_image_token?: number | null;
        request_text_token?: number | null;
        response_text_token?: number | null;
        cache_read_image_input_token?: number | null;
        cache_read_text_input_token?: number | null;
        cache_write_text_input_token?: number | null;
        cache_write_image_input_token?: number | null;
        image?: {
          default?: number | null;
        } | null;
        additional_units?: {
          [key: string]: number | null;
        } | null;
      } | null;
    };
    CreateIntegrationBody: {
      key?: string | null;
      description?: string | null;
      configurations?: Record<string, unknown> | null;
      secret_mappings?: components["schemas"]["SecretMapping"][] | null;
      pricing_adjustments?: components["schemas"]["PricingAdjustments"] | null;
      name: string;
      slug?: string;
      ai_provider_id: string;
      /** @default true */
      create_default_provider: boolean;
      default_provider_slug?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateIntegrationReply: {
      /** Format: uuid */
      id: string;
      slug: string;
      /** @constant */
      object: "integration";
    };
    RateLimit: {
      /** @enum {string} */
      type: "requests" | "tokens";
      /** @enum {string} */
      unit: "rpm" | "rph" | "rpd" | "rpw";
      /** @description 0 refuses every call */
      value: number;
    };
    GlobalWorkspaceAccess: {
      enabled: boolean;
      usage_limits: components["schemas"]["UsageLimits"][] | null;
      rate_limits: components["schemas"]["RateLimit"][] | null;
    };
    Integration: {
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string | null;
      /** @enum {string} */
      type: "organisation" | "workspace";
      /** @description id of the provider plugin */
      ai_provider_id: string;
      name: string;
      slug: string;
      description: string | null;
      /** @enum {string} */
      status: "active" | "archived";
      tags: string[];
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "integration";
      masked_key: string | null;
      configurations: Record<string, unknown>;
      global_workspace_access_settings: components["schemas"]["GlobalWorkspaceAccess"];
      allow_all_models: boolean;
      workspace_count: number;
      secret_mappings: components["schemas"]["SecretMapping"][];
      pricing_adjustments: components["schemas"]["PricingAdjustments"] | null;
    };
    UpdateIntegrationBody: {
      key?: string | null;
      description?: string | null;
      configurations?: Record<string, unknown> | null;
      secret_mappings?: components["schemas"]["SecretMapping"][] | null;
      pricing_adjustments?: components["schemas"]["PricingAdjustments"] | null;
      name?: string;
      ai_provider_id?: string;
      slug?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ModelPricing: {
      type?: string;
      pay_as_you_go?: {
        request_token?: {
          price: number;
        } | null;
        response_token?: {
          price: number;
        } | null;
        cache_write_input_token?: {
          price: number;
        } | null;
        cache_read_input_token?: {
          price: number;
        } | null;
        request_audio_token?: {
          price: number;
        } | null;
        response_audio_token?: {
          price: number;
        } | null;
        cache_read_audio_input_token?: {
          price: number;
        } | null;
        additional_units?: {
          [key: string]: {
            price: number;
          };
        } | null;
      } | null;
    };
    IntegrationModel: {
      slug: string;
      name: string;
      enabled: boolean;
      is_custom: boolean;
      is_finetune: boolean;
      base_model_slug: string | null;
      pricing_config: components["schemas"]["ModelPricing"] | null;
      configurations: {
        custom_host?: string;
        custom_headers?: {
          [key: string]: string;
        };
      };
    };
    ListIntegrationModelsReply: {
      /** @constant */
      object: "list";
      total: number;
      models: components["schemas"]["IntegrationModel"][];
      allow_all_models: boolean;
    };
    UpdateIntegrationModelsBody: {
      models: {
        slug: string;
        name?: string | null;
        enabled: boolean;
        is_custom?: boolean | null;
        is_finetune?: boolean | null;
        base_model_slug?: string | null;
        configurations?: {
          custom_host?: string | null;
          custom_headers?: Record<string, unknown> | null;
        } | null;
        pricing_config?: components["schemas"]["ModelPricing"] | null;
      }[];
      allow_all_models?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ListIntegrationWorkspacesReply: {
      /** @constant */
      object: "list";
      total: number;
      workspaces: {
        /** Format: uuid */
        id: string;
        enabled: boolean;
        usage_limits: components["schemas"]["UsageLimits"][] | null;
        rate_limits: components["schemas"]["RateLimit"][] | null;
        usage: components["schemas"]["CountedUsage"][];
      }[];
      global_workspace_access: components["schemas"]["GlobalWorkspaceAccess"];
    };
    UpdateIntegrationWorkspacesBody: {
      workspaces?: {
        id: string;
        enabled: boolean;
        usage_limits?: Record<string, unknown> | unknown[] | null;
        rate_limits?: Record<string, unknown> | unknown[] | null;
        reset_usage?: boolean;
        create_default_provider?: boolean;
        default_provider_slug?: string;
      }[];
      global_workspace_access?: {
        enabled: boolean;
        usage_limits?: Record<string, unknown> | unknown[] | null;
        rate_limits?: Record<string, unknown> | unknown[] | null;
      };
      override_existing_workspace_access?: boolean;
      /** @default true */
      create_default_provider: boolean;
      default_provider_slug?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateInviteBody: {
      /** Format: email */
      email: string;
      /** @enum {string} */
      role: "admin" | "member";
      workspaces: {
        /** @description id or slug */
        id: string;
        /** @enum {string} */
        role: "admin" | "manager" | "member";
      }[];
      workspace_api_key_details?: {
        /** @description of the key that is made in each of the workspaces */
        scopes: string[];
      } | null;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateInviteReply: {
      id: string;
      /** Format: uri */
      invite_link: string;
    };
    Invite: {
      /** @enum {string} */
      object: "invite";
      id: string;
      email: string;
      /** @enum {string} */
      role: "admin" | "member";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      expires_at: string;
      /** Format: date-time */
      accepted_at: string | null;
      /** @enum {string} */
      status: "pending" | "cancelled" | "accepted" | "expired";
      invited_by: string;
      workspaces: {
        id: string;
        /** @enum {string} */
        role: "admin" | "manager" | "member";
      }[];
    };
    ListInvitesReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["Invite"][];
    };
    ResendInviteReply: {
      /** Format: uri */
      inviteLink: string;
    };
    AcceptInviteBody: {
      token: string;
      /** @default  */
      first_name: string;
      /** @default  */
      last_name: string;
    };
    AcceptInviteReply: {
      /** @enum {string} */
      object: "user";
      id: string;
      email: string;
      /** @enum {string} */
      role: "admin" | "member";
      workspace_ids: string[];
      api_keys: {
        id: string;
        key: string;
        workspace_id: string;
      }[];
    };
    CreateLabelBody: {
      name: string;
      description?: string;
      color_code?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateLabelReply: {
      /** Format: uuid */
      id: string;
      /** @constant */
      object: "label";
    };
    Label: {
      /** Format: uuid */
      id: string;
      name: string;
      description: string;
      color_code: string;
      /** Format: uuid */
      organisation_id: string;
      /**
      * Format: uuid
      * @description null: of every workspace
      */
      workspace_id: string | null;
      is_universal: boolean;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @enum {string} */
      status: "active";
      /** @constant */
      object: "label";
    };
    ListLabelsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["Label"][];
    };
    UpdateLabelBody: {
      name?: string;
      description?: string;
      color_code?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    LogExportFilters: {
      /**
      * Format: date-time
      * @description calls that began then or later
      */
      time_of_generation_min?: string;
      /**
      * Format: date-time
      * @description calls that began then or earlier
      */
      time_of_generation_max?: string;
      /** @description tokens in all, at least */
      total_units_min?: number;
      /** @description tokens in all, at most */
      total_units_max?: number;
      /** @description US cents, at least */
      cost_min?: number;
      /** @description US cents, at most */
      cost_max?: number;
      /** @description input tokens, at least */
      prompt_token_min?: number;
      /** @description input tokens, at most */
      prompt_token_max?: number;
      /** @description output tokens, at least */
      completion_token_min?: number;
      /** @description output tokens, at most */
      completion_token_max?: number;
      /** @description status codes; several separated by commas */
      status_code?: string;
      /** @description mean of value times weight of the feedback on the trace */
      weighted_feedback_min?: number;
      /** @description mean of value times weight of the feedback on the trace */
      weighted_feedback_max?: number;
      /** @description slugs of stored providers; several separated by commas */
      virtual_keys?: string;
      /** @description ids or slugs of configs; several separated by commas */
      configs?: string;
      /** @description ids of API keys; several separated by commas */
      api_key_ids?: string;
      /** @description slugs of prompts; several separated by commas */
      prompt_slug?: string;
      /** @description ids of traces; several separated by commas */
      trace_id?: string;
      /** @description ids of spans; several separated by commas */
      span_id?: string;
      /** @description provider and model, as provider__model; several separated by commas */
      ai_org_model?: string;
      /** @description models; several separated by commas */
      ai_model?: string;
      /** @description providers; several separated by commas */
      ai_org?: string;
      /** @description id or slug of a workspace, as workspace_id */
      workspace_slug?: string;
      metadata?: {
        [key: string]: string;
      };
      /** @description rows of the file, at most */
      page_size?: number;
      /** @description how many such pages are left out first, of the oldest */
      current_page?: number;
    };
    LogExport: {
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string;
      filters: components["schemas"]["LogExportFilters"];
      requested_data: string[];
      /** @enum {string} */
      status: "draft" | "in_progress" | "success" | "failed" | "stopped";
      description: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** Format: uuid */
      created_by: string;
      /** @description rows written so far */
      total_records: number;
      bytes: number;
      /** @description there were more than one file takes */
      is_cut: boolean;
      /** Format: date-time */
      expires_at: string | null;
      /** @description why it failed */
      fault: string;
      /** @constant */
      object: "export";
    };
    ListLogExportsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["LogExport"][];
    };
    CreateLogExportBody: {
      filters: components["schemas"]["LogExportFilters"];
      requested_data: ("id" | "trace_id" | "created_at" | "request" | "response" | "is_success" | "ai_org" | "ai_model" | "req_units" | "res_units" | "total_units" | "request_url" | "cost" | "cost_currency" | "response_time" | "response_status_code" | "mode" | "config" | "prompt_slug" | "metadata")[];
      description?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateLogExportReply: {
      /** Format: uuid */
      id: string;
      /** @description rows that the file would have now */
      total: number;
      /** @constant */
      object: "export";
    };
    ListLogExportFieldRestrictionsReply: {
      /** @constant */
      object: "export-field-restrictions";
      deniedFields: string[];
      denied_fields: string[];
    };
    UpdateLogExportBody: {
      filters: components["schemas"]["LogExportFilters"];
      requested_data?: ("id" | "trace_id" | "created_at" | "request" | "response" | "is_success" | "ai_org" | "ai_model" | "req_units" | "res_units" | "total_units" | "request_url" | "cost" | "cost_currency" | "response_time" | "response_status_code" | "mode" | "config" | "prompt_slug" | "metadata")[];
      description?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    UpdateLogExportReply: {
      /** Format: uuid */
      id: string;
      /** @description rows that the file would have now */
      total: number;
      /** @constant */
      object: "export";
    };
    StartLogExportReply: {
      message: string;
      /** @constant */
      object: "export";
    };
    CancelLogExportReply: {
      message: string;
      /** @constant */
      object: "export";
    };
    GetLogExportDownloadReply: {
      /**
      * Format: uri
      * @description of the file, as JSON Lines, without a key; good for 15 minutes
      */
      signed_url: string;
    };
    LogEntry: {
      id: string;
      organisation_id: string;
      organisation_name: string;
      workspace_slug: string | null;
      prompt_id: string;
      prompt_version_id: string;
      prompt_slug: string;
      config: string;
      config_id: string;
      config_version_id: string;
      /** Format: date-time */
      created_at: string;
      is_success: boolean;
      ai_org: string;
      ai_model: string;
      req_units: number;
      res_units: number;
      total_units: number;
      /** @description US cents */
      cost: number;
      /** @constant */
      cost_currency: "USD";
      request_url: string;
      request_method: string;
      response_status_code: number;
      response_time: number;
      is_proxy_call: boolean;
      cache_status: string | null;
      cache_type: string | null;
      stream_mode: number | null;
      retry_success_count: number;
      trace_id: string;
      span_id: string;
      span_name: string;
      parent_span_id: string;
      mode: string;
      virtual_key: string;
      source: string;
      runtime: string;
      runtime_version: string;
      sdk_version: string;
      internal_trace_id: string;
      last_used_option_index: number;
      log_store_file_path_format: string;
      "metadata.key": (string | null)[];
      "metadata.value": (string | null)[];
      api_key_id: string;
      request_parsing_time: number;
      pre_processing_time: number;
      cache_processing_time: number;
      response_parsing_time: number;
      gateway_processing_time: number;
      upstream_response_time: number;
      workspace_id: string;
      /** @description false: the target was left for another one */
      is_final: boolean;
      attempts: number;
      endpoint: string;
      error_code: string;
      ended: string;
      finish_reason: string;
      /** @description false: the model has no price, or nobody has priced the call yet */
      is_priced: boolean;
      /** @description US cents that an answer out of a cache would have cost */
      saved: number;
      cached_units: number;
      cache_write_units: number;
      reasoning_units: number;
      time_to_first_byte: number | null;
      request_bytes: number;
      response_bytes: number;
      /** @constant */
      object: "log";
    };
    ListLogsReply: {
      /** @constant */
      object: "list";
      data: components["schemas"]["LogEntry"][];
      /** @description null: not asked for */
      total: number | null;
      has_more: boolean;
      next_cursor: string | null;
    };
    GetLogLiveReply: {
      /** @constant */
      object: "list";
      /** @description in the order of their arrival */
      data: components["schemas"]["LogEntry"][];
      /** @description more are there already */
      has_more: boolean;
      after: string;
    };
    CreateLogBody: {
      request: {
        url: string;
        method?: string;
        provider?: string;
        headers?: {
          [key: string]: string;
        };
        /** @description in the shape of the API that was called: model and tokens are read from it */
        body: Record<string, unknown> | unknown[] | string | null;
      };
      response: {
        status?: number;
        headers?: {
          [key: string]: string;
        };
        /** @description in the shape of the API that was called: model and tokens are read from it */
        body: Record<string, unknown> | unknown[] | string | null;
        /** @description milliseconds */
        response_time?: number;
        /** @description milliseconds */
        responseTime?: number;
      };
      /** @description trace_id, span_id, span_name and parent_span_id say where the call belongs, also as trace-id or traceId; anything else is kept as it is */
      metadata?: {
        [key: string]: string | number | boolean;
      };
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateLogReply: {
      /** @enum {string} */
      status: "success";
      message: string;
      ids: string[];
    };
    Log: {
      _id: string | null;
      request: {
        url: string;
        method: string;
        headers?: {
          [key: string]: string;
        };
        /** @description JSON as it was sent; a text where it is not JSON, or was cut */
        body?: unknown;
        gatewayHeaders: {
          [key: string]: string;
        };
      };
      response: {
        status: number;
        headers?: {
          [key: string]: string;
        };
        /** @description JSON as it was sent; a text where it is not JSON, or was cut */
        body?: unknown;
        responseTime: number;
        lastUsedOptionJsonPath: string;
      };
      organisation_id: string | null;
      /** Format: date-time */
      created_at: string | null;
      metrics: {
        id: string;
        organisation_id: string;
        organisation_name: string;
        workspace_slug: string | null;
        prompt_id: string;
        prompt_version_id: string;
        prompt_slug: string;
        config: string;
        config_id: string;
        config_version_id: string;
        /** Format: date-time */
        created_at: string;
        is_success: boolean;
        ai_org: string;
        ai_model: string;
        req_units: number;
        res_units: number;
        total_units: number;
        /** @description US cents */
        cost: number;
        /** @constant */
        cost_currency: "USD";
        request_url: string;
        request_method: string;
        response_status_code: number;
        response_time: number;
        is_proxy_call: boolean;
        cache_status: string | null;
        cache_type: string | null;
        stream_mode: number | null;
        retry_success_count: number;
        trace_id: string;
        span_id: string;
        span_name: string;
        parent_span_id: string;
        mode: string;
        virtual_key: string;
        source: string;
        runtime: string;
        runtime_version: string;
        sdk_version: string;
        internal_trace_id: string;
        last_used_option_index: number;
        log_store_file_path_format: string;
        "metadata.key": (string | null)[];
        "metadata.value": (string | null)[];
        api_key_id: string;
        request_parsing_time: number;
        pre_processing_time: number;
        cache_processing_time: number;
        response_parsing_time: number;
        gateway_processing_time: number;
        upstream_response_time: number;
        workspace_id: string;
        /** @description false: the target was left for another one */
        is_final: boolean;
        attempts: number;
        endpoint: string;
        error_code: string;
        ended: string;
        finish_reason: string;
        /** @description false: the model has no price, or nobody has priced the call yet */
        is_priced: boolean;
        /** @description US cents that an answer out of a cache would have cost */
        saved: number;
        cached_units: number;
        cache_write_units: number;
        reasoning_units: number;
        time_to_first_byte: number | null;
        request_bytes: number;
        response_bytes: number;
      };
      finalUntransformedRequest: {
        /** @description JSON as it was sent; a text where it is not JSON, or was cut */
        body?: unknown;
        headers?: {
          [key: string]: string;
        };
        url?: string;
        method?: string;
      };
      originalResponse: {
        /** @description JSON as it was sent; a text where it is not JSON, or was cut */
        body?: unknown;
        headers?: {
          [key: string]: string;
        };
        url?: string;
        method?: string;
      };
      transformedRequest: {
        /** @description JSON as it was sent; a text where it is not JSON, or was cut */
        body?: unknown;
        headers?: {
          [key: string]: string;
        };
        url?: string;
        method?: string;
      };
    };
    LogWhy: {
      /** @constant */
      object: "log.why";
      id: string;
      trace_id: string;
      /** Format: date-time */
      created_at: string;
      status: number;
      ended: string;
      error_code: string;
      endpoint: string;
      method: string;
      path: string;
      source: string;
      key: {
        id: string;
        name: string | null;
        type: string | null;
      } | null;
      workspace: {
        id: string;
        slug: string | null;
        name: string | null;
      } | null;
      config: {
        id: string;
        slug: string | null;
        version_id: string;
        version: number | null;
      } | null;
      prompt: {
        id: string;
        slug: string;
        version_id: string;
        version: number | null;
      } | null;
      /** @description those that were tried, in order; the last one is the final one */
      targets: {
        log_id: string;
        path: string;
        provider: string;
        provider_slug: string;
        model: string;
        status: number;
        error_code: string;
        retries: number;
        attempts: number;
        took_ms: number;
        upstream_ms: number;
        cost: number | null;
        /** @description false: left for the next one */
        is_final: boolean;
      }[];
      /** @description targets that were not tried, and why */
      passed_over: {
        path: string;
        provider: string;
        provider_slug: string;
        status: number;
        code: string;
        reason: string;
      }[];
      /** @description what each strategy chose, in order */
      strategies: {
        path: string;
        mode: string;
        chosen: number;
        of: number;
        turn: number;
        /** @description indexes of targets whose circuit breaker was open */
        breakers_open: number[];
        ground: unknown;
      }[];
      hooks: {
        id: string;
        stage: string;
        verdict: boolean;
        denied: boolean;
        transformed: boolean;
        execution_time: number;
        checks: {
          id: string;
          verdict: boolean | null;
          transformed: boolean;
          error: string | null;
          execution_time: number;
        }[];
      }[];
      cache: {
        status: string;
        mode: string | null;
        key: string | null;
      };
      limits: {
        counter: string;
        /**
        * @description what the figures are; of cost US dollars; null: older calls do not say
        * @enum {string|null}
        */
        counted: "requests" | "tokens" | "cost" | null;
        before: number;
        after: number;
        maximum: number | null;
      }[];
      refused_by: {
        counter: string;
        /**
        * @description what the figures are; of cost US dollars; null: older calls do not say
        * @enum {string|null}
        */
        counted: "requests" | "tokens" | "cost" | null;
        before: number;
        needed: number;
        maximum: number;
      }[];
      retries: {
        count: number;
        attempts: number;
        waits: {
          path: string;
          status: number;
          wait_ms: number;
        }[];
      };
      timing: {
        total_ms: number;
        first_byte_ms: number | null;
        upstream_ms: number;
        /** @description to the first byte, without the upstream */
        gateway_ms: number | null;
        streaming_ms: number | null;
      };
      tokens: {
        input: number | null;
        output: number | null;
        total: number | null;
        cached: number | null;
        cache_write: number | null;
        input_audio: number | null;
        input_image: number | null;
        reasoning: number | null;
        output_audio: number | null;
        output_image: number | null;
      };
      price: {
        /** @description US cents; null: not priced yet */
        cost: number | null;
        /** @constant */
        cost_currency: "USD";
        is_priced: boolean;
        saved: number;
        rates: Record<string, unknown> | null;
        /** @description the integration has a price of its own for the model */
        is_own: boolean;
        /** @description the integration has factors on prices */
        is_adjusted: boolean;
        /** @description the same by these rates, which are those of now */
        cost_now: number | null;
      };
      /** @description whatever else was decided */
      more: Record<string, unknown>[];
    };
    GetModelPricingReply: {
      provider: string;
      model: string;
      pay_as_you_go: {
        request_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        response_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        cache_write_input_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        cache_read_input_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        request_audio_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        response_audio_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        cache_read_audio_input_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        request_image_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        response_image_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        cache_read_image_input_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        reasoning_token?: {
          /** @description US cents for one */
          price: number;
          /** @description calls with more input tokens than above cost this instead */
          tiers?: {
            above: number;
            price: number;
          }[];
        };
        additional_units: {
          [key: string]: {
            /** @description US cents for one */
            price: number;
            /** @description calls with more input tokens than above cost this instead */
            tiers?: {
              above: number;
              price: number;
            }[];
          };
        };
      };
      calculate: {
        request: {
          /** @constant */
          operation: "sum";
          operands: {
            /** @constant */
            operation: "multiply";
            operands: {
              value: string;
            }[];
          }[];
        };
        response: {
          /** @constant */
          operation: "sum";
          operands: {
            /** @constant */
            operation: "multiply";
            operands: {
              value: string;
            }[];
          }[];
        };
      };
      /** @enum {string} */
      currency: "USD";
    };
    GetModelGeneralReply: {
      provider: string;
      model: string;
      canonical_slug: string;
      name: string;
      description: string | null;
      context_length: number | null;
      is_deprecated: boolean;
      /** @description as far as they are charged for */
      capabilities: string[];
      /** @description of the provider */
      endpoints: string[];
    };
    GetApiDescriptionReply: {
      /** @example 3.1.0 */
      openapi: string;
      info: Record<string, unknown>;
      servers: Record<string, unknown>[];
      security: Record<string, unknown>[];
      tags: Record<string, unknown>[];
      paths: Record<string, unknown>;
      components: Record<string, unknown>;
    };
    Organisation: {
      /** Format: uuid */
      id: string;
      /** @constant */
      object: "organisation";
      name: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      settings: {
        /** @description members that join the organisation get a key */
        user_api_key_auto_create?: boolean | null;
        /** @description members that are added to a workspace get a key of it */
        default_workspace_user_api_key_auto_create?: boolean | null;
        /** @description how long such keys are valid: seconds, or a duration such as 12h or 90d */
        user_api_key_ttl?: number | string | null;
        /** @description keys of users are rotated by this period: days (1 to 365), weekly or monthly */
        user_api_key_rotation_period?: unknown;
        session_settings?: {
          /** @description seconds */
          max_session_ttl?: number | null;
        } | null;
        role_settings?: {
          /** @description groups of scopes that members of workspaces manage as managers do */
          members_manage?: ("organisation_integrations" | "organisation_mcp_integrations" | "organisation_agent_integrations" | "workspace_integrations" | "workspace_mcp_integrations" | "workspace_agent_integrations" | "prompts" | "configs" | "guardrails" | "policies" | "virtual_keys" | "providers" | "mcp_servers" | "agent_servers" | "agent_server_skills" | "agent_server_user_access" | "agent_integration_skills" | "mcp" | "agents" | "completions" | "logs" | "analytics")[] | null;
          /** @description groups of scopes in which managers of workspaces view and use, and change nothing */
          managers_view?: ("organisation_integrations" | "organisation_mcp_integrations" | "organisation_agent_integrations" | "workspace_integrations" | "workspace_mcp_integrations" | "workspace_agent_integrations" | "prompts" | "configs" | "guardrails" | "policies" | "virtual_keys" | "providers" | "mcp_servers" | "agent_servers" | "agent_server_skills" | "agent_server_user_access" | "agent_integration_skills" | "mcp" | "agents" | "completions" | "logs" | "analytics")[] | null;
        } | null;
        /** @description people of subdomains may join */
        allow_subdomains?: boolean | null;
        /** @description JSON Schema (draft-07) of the metadata of API keys */
        api_key_metadata_schema?: Record<string, unknown> | null;
        /** @description JSON Schema (draft-07) of the metadata of workspaces */
        workspace_metadata_schema?: Record<string, unknown> | null;
        /** @description calls name stored configs, and bring none along */
        enforce_saved_configs?: boolean | null;
        /** @description calls name stored providers, and bring no credentials along */
        enforce_saved_providers?: boolean | null;
        /** @description calls bring no custom host along */
        enforce_saved_custom_hosts?: boolean | null;
        /** @description calls name no provider by its address */
        enforce_saved_provider_urls?: boolean | null;
        /** @description calls bring no list of headers to forward along */
        enforce_saved_forward_headers?: boolean | null;
        export_settings?: {
          deniedFields?: string[] | null;
        } | null;
        /** @description seconds that an answer may be kept at most */
        cache_max_ttl?: number | null;
        log_bodies?: {
          /** @description bodies and headers of calls are kept in the log */
          enabled?: boolean;
          /** @description calls may ask for it themselves, with x-gateway-debug: true; by default they may */
          by_call?: boolean;
          /** @description of each body that is kept; longer ones are cut. 65536 by default */
          bytes_max?: number;
          /** @description headers whose values are masked, beside those that hold credentials */
          masked_headers?: string[];
          /** @description also what guardrails changed is kept as it was before */
          keep_original?: boolean;
        } | null;
        /** @description members see logs */
        membersViewLogs?: boolean | null;
        /** @description members see what was asked and answered */
        membersViewLogBodies?: boolean | null;
        /** @description members see metadata of calls */
        membersViewMetadata?: boolean | null;
        /** @description managers see logs */
        managersViewLogs?: boolean | null;
        /** @description managers see what was asked and answered */
        managersViewLogBodies?: boolean | null;
        /** @description managers see metadata of calls */
        managersViewMetadata?: boolean | null;
      };
      defaults: {
        metadata: {
          [key: string]: string;
        };
        input_guardrails: string[];
        output_guardrails: string[];
      };
    };
    UpdateOrganisationBody: {
      name?: string;
      settings?: {
        /** @description members that join the organisation get a key */
        user_api_key_auto_create?: boolean | null;
        /** @description members that are added to a workspace get a key of it */
        default_workspace_user_api_key_auto_create?: boolean | null;
        /** @description how long such keys are valid: seconds, or a duration such as 12h or 90d */
        user_api_key_ttl?: number | string | null;
        /** @description keys of users are rotated by this period: days (1 to 365), weekly or monthly */
        user_api_key_rotation_period?: unknown;
        session_settings?: {
          /** @description seconds */
          max_session_ttl?: number | null;
        } | null;
        role_settings?: {
          /** @description groups of scopes that members of workspaces manage as managers do */
          members_manage?: ("organisation_integrations" | "organisation_mcp_integrations" | "organisation_agent_integrations" | "workspace_integrations" | "workspace_mcp_integrations" | "workspace_agent_integrations" | "prompts" | "configs" | "guardrails" | "policies" | "virtual_keys" | "providers" | "mcp_servers" | "agent_servers" | "agent_server_skills" | "agent_server_user_access" | "agent_integration_skills" | "mcp" | "agents" | "completions" | "logs" | "analytics")[] | null;
          /** @description groups of scopes in which managers of workspaces view and use, and change nothing */
          managers_view?: ("organisation_integrations" | "organisation_mcp_integrations" | "organisation_agent_integrations" | "workspace_integrations" | "workspace_mcp_integrations" | "workspace_agent_integrations" | "prompts" | "configs" | "guardrails" | "policies" | "virtual_keys" | "providers" | "mcp_servers" | "agent_servers" | "agent_server_skills" | "agent_server_user_access" | "agent_integration_skills" | "mcp" | "agents" | "completions" | "logs" | "analytics")[] | null;
        } | null;
        /** @description people of subdomains may join */
        allow_subdomains?: boolean | null;
        /** @description JSON Schema (draft-07) of the metadata of API keys */
        api_key_metadata_schema?: Record<string, unknown> | null;
        /** @description JSON Schema (draft-07) of the metadata of workspaces */
        workspace_metadata_schema?: Record<string, unknown> | null;
        /** @description calls name stored configs, and bring none along */
        enforce_saved_configs?: boolean | null;
        /** @description calls name stored providers, and bring no credentials along */
        enforce_saved_providers?: boolean | null;
        /** @description calls bring no custom host along */
        enforce_saved_custom_hosts?: boolean | null;
        /** @description calls name no provider by its address */
        enforce_saved_provider_urls?: boolean | null;
        /** @description calls bring no list of headers to forward along */
        enforce_saved_forward_headers?: boolean | null;
        export_settings?: {
          deniedFields?: string[] | null;
        } | null;
        /** @description seconds that an answer may be kept at most */
        cache_max_ttl?: number | null;
        log_bodies?: {
          /** @description bodies and headers of calls are kept in the log */
          enabled?: boolean;
          /** @description calls may ask for it themselves, with x-gateway-debug: true; by default they may */
          by_call?: boolean;
          /** @description of each body that is kept; longer ones are cut. 65536 by default */
          bytes_max?: number;
          /** @description headers whose values are masked, beside those that hold credentials */
          masked_headers?: string[];
          /** @description also what guardrails changed is kept as it was before */
          keep_original?: boolean;
        } | null;
        /** @description members see logs */
        membersViewLogs?: boolean | null;
        /** @description members see what was asked and answered */
        membersViewLogBodies?: boolean | null;
        /** @description members see metadata of calls */
        membersViewMetadata?: boolean | null;
        /** @description managers see logs */
        managersViewLogs?: boolean | null;
        /** @description managers see what was asked and answered */
        managersViewLogBodies?: boolean | null;
        /** @description managers see metadata of calls */
        managersViewMetadata?: boolean | null;
      };
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    GetOrganisationDefaultsReply: {
      metadata: {
        [key: string]: string;
      };
      input_guardrails: string[];
      output_guardrails: string[];
      /** @constant */
      object: "organisation-defaults";
    };
    UpdateOrganisationDefaultsBody: {
      metadata?: {
        [key: string]: string;
      } | null;
      input_guardrails?: string[] | null;
      output_guardrails?: string[] | null;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ListOrganisationInputExclusionsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: string[];
      workspaces: string[];
    };
    UpdateOrganisationInputExclusionsBody: {
      /** @description ids or slugs; in place of those before */
      workspaces: string[];
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ListOrganisationOutputExclusionsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: string[];
      workspaces: string[];
    };
    UpdateOrganisationOutputExclusionsBody: {
      /** @description ids or slugs; in place of those before */
      workspaces: string[];
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreatePromptPartialBody: {
      name: string;
      slug?: string;
      /** @description id or slug; the default collection when it is left out */
      collection_id?: string;
      string: string;
      version_description?: string | null;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreatePromptPartialReply: {
      /** Format: uuid */
      id: string;
      slug: string;
      /** Format: uuid */
      version_id: string;
      /** @constant */
      object: "partial";
    };
    PartialSummary: {
      /** Format: uuid */
      id: string;
      slug: string;
      name: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      collection_id: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @enum {string} */
      status: "active" | "archived";
      /** @constant */
      object: "partial";
    };
    ListPromptPartialsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["PartialSummary"][];
    };
    Partial: {
      /** Format: uuid */
      id: string;
      slug: string;
      name: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      collection_id: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @enum {string} */
      status: "active" | "archived";
      /** @constant */
      object: "partial";
      string: string;
      version: number;
      version_description: string;
      /** Format: uuid */
      prompt_partial_version_id: string;
    };
    UpdatePromptPartialBody: {
      name?: string;
      /** @description id or slug; the default collection when it is left out */
      collection_id?: string;
      string?: string;
      description?: string | null;
      version_description?: string | null;
      /** @enum {string} */
      status?: "active" | "archived";
      /** @description the new version is published at once; takes the scope prompts.publish as well */
      publish?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    UpdatePromptPartialReply: {
      /**
      * Format: uuid
      * @description of the newest version
      */
      prompt_partial_version_id: string;
    };
    PartialVersion: {
      /** Format: uuid */
      prompt_partial_id: string;
      /** Format: uuid */
      prompt_partial_version_id: string;
      slug: string;
      version: number;
      string: string;
      description: string;
      /** Format: date-time */
      created_at: string;
      /**
      * @description active: the published one
      * @enum {string}
      */
      prompt_version_status: "active" | "archived";
      /** @constant */
      object: "partial";
    };
    ListPromptPartialVersionsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["PartialVersion"][];
    };
    PublishPromptPartialBody: {
      version: number;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreatePromptBody: {
      model?: string | null;
      /** @description slug of a provider, with or without @; not needed where the model is written @slug/model */
      virtual_key?: string | null;
      version_description?: string | null;
      functions?: Record<string, unknown>[] | null;
      tools?: Record<string, unknown>[] | null;
      tool_choice?: Record<string, unknown> | string | null;
      /** @enum {boolean|integer} */
      is_raw_template?: true | false | 0 | 1;
      template_metadata?: Record<string, unknown> | null;
      prompt_metadata?: Record<string, unknown> | null;
      name: string;
      slug?: string;
      /** @description id or slug; the default collection when it is left out */
      collection_id?: string;
      string: string;
      parameters: Record<string, unknown>;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreatePromptReply: {
      /** Format: uuid */
      id: string;
      slug: string;
      /** Format: uuid */
      version_id: string;
      /** @constant */
      object: "prompt";
    };
    PromptSummary: {
      /** Format: uuid */
      id: string;
      slug: string;
      name: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      collection_id: string;
      model: string | null;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "prompt";
    };
    ListPromptsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["PromptSummary"][];
    };
    Prompt: {
      /** Format: uuid */
      id: string;
      slug: string;
      name: string;
      /** Format: uuid */
      organisation_id: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      collection_id: string;
      prompt_version: number;
      /** Format: uuid */
      prompt_version_id: string;
      /**
      * @description active: the published one
      * @enum {string}
      */
      prompt_version_status: "active" | "archived";
      prompt_version_description: string;
      /** Format: uuid */
      prompt_version_label_id: string | null;
      string: string;
      parameters: Record<string, unknown>;
      virtual_key: string | null;
      model: string | null;
      functions: Record<string, unknown>[];
      tools: Record<string, unknown>[];
      tool_choice: Record<string, unknown> | string | null;
      template_metadata: Record<string, unknown>;
      /** @enum {integer} */
      is_raw_template: 0 | 1;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "prompt";
    };
    UpdatePromptBody: {
      model?: string | null;
      /** @description slug of a provider, with or without @; not needed where the model is written @slug/model */
      virtual_key?: string | null;
      version_description?: string | null;
      functions?: Record<string, unknown>[] | null;
      tools?: Record<string, unknown>[] | null;
      tool_choice?: Record<string, unknown> | string | null;
      /** @enum {boolean|integer} */
      is_raw_template?: true | false | 0 | 1;
      template_metadata?: Record<string, unknown> | null;
      prompt_metadata?: Record<string, unknown> | null;
      /** @description what is left out is as in the newest version */
      patch?: boolean;
      name?: string;
      /** @description id or slug; the default collection when it is left out */
      collection_id?: string;
      string?: string;
      parameters?: Record<string, unknown>;
      /** @description the new version is published at once; takes the scope prompts.publish as well */
      publish?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    UpdatePromptReply: {
      /** Format: uuid */
      id?: string;
      slug?: string;
      /**
      * Format: uuid
      * @description absent: no new version was made
      */
      prompt_version_id?: string;
    };
    PromptVersion: {
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      prompt_id: string;
      prompt_template: {
        string: string;
        parameters: Record<string, unknown>;
        virtual_key: string | null;
        model: string | null;
        functions: Record<string, unknown>[];
        tools: Record<string, unknown>[];
        tool_choice: Record<string, unknown> | string | null;
        template_metadata: Record<string, unknown>;
        /** @enum {integer} */
        is_raw_template: 0 | 1;
      };
      prompt_version: number;
      prompt_description: string;
      /** Format: uuid */
      label_id: string | null;
      /** Format: date-time */
      created_at: string;
      /**
      * @description active: the published one
      * @enum {string}
      */
      status: "active" | "archived";
      /** @constant */
      object: "prompt";
      string: string;
      parameters: Record<string, unknown>;
      virtual_key: string | null;
      model: string | null;
      functions: Record<string, unknown>[];
      tools: Record<string, unknown>[];
      tool_choice: Record<string, unknown> | string | null;
      template_metadata: Record<string, unknown>;
      /** @enum {integer} */
      is_raw_template: 0 | 1;
    };
    ListPromptVersionsReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["PromptVersion"][];
    };
    UpdatePromptVersionBody: {
      /** @description id or name; null takes the label away */
      label_id: string | null;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    PublishPromptBody: {
      version: number;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    Provider: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      organisation_id: string;
      note: string | null;
      /** @enum {string} */
      status: "active" | "exhausted" | "expired";
      usage_limits: components["schemas"]["UsageLimits"] | null;
      usage: components["schemas"]["CountedUsage"][];
      rate_limits: components["schemas"]["RateLimit"][] | null;
      reset_usage: null;
      /** Format: date-time */
      last_reset_at: string | null;
      /** Format: date-time */
      expires_at: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** Format: uuid */
      integration_id: string;
      /** @constant */
      object: "provider";
    };
    ListProvidersReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["Provider"][];
    };
    CreateProviderBody: {
      usage_limits?: Record<string, unknown> | unknown[] | null;
      rate_limits?: Record<string, unknown> | unknown[] | null;
      note?: string | null;
      /** Format: date-time */
      expires_at?: string | null;
      name: string;
      integration_id: string;
      slug?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateProviderReply: {
      /** Format: uuid */
      id: string;
      slug: string;
      /** @constant */
      object: "provider";
    };
    ProviderWithIntegration: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      organisation_id: string;
      note: string | null;
      /** @enum {string} */
      status: "active" | "exhausted" | "expired";
      usage_limits: components["schemas"]["UsageLimits"] | null;
      usage: components["schemas"]["CountedUsage"][];
      rate_limits: components["schemas"]["RateLimit"][] | null;
      reset_usage: null;
      /** Format: date-time */
      last_reset_at: string | null;
      /** Format: date-time */
      expires_at: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** Format: uuid */
      integration_id: string;
      /** @constant */
      object: "provider";
      ai_provider_id: string | null;
    };
    UpdateProviderBody: {
      usage_limits?: Record<string, unknown> | unknown[] | null;
      rate_limits?: Record<string, unknown> | unknown[] | null;
      note?: string | null;
      /** Format: date-time */
      expires_at?: string | null;
      name?: string;
      reset_usage?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    UpdateProviderReply: {
      /** Format: uuid */
      id: string;
      slug: string;
    };
    PolicyCondition: {
      /** @description such as api_key, model, provider, or metadata.team */
      key: string;
      /** @description one of these; * is every value, as long as there is one */
      value: string | string[];
      /** @description none of these */
      excludes?: string | string[];
    };
    PolicyGroupBy: {
      /** @description such as api_key, model, provider, or metadata.team */
      key: string;
    };
    CreateRateLimitsPolicyBody: {
      name?: string;
      description?: string | null;
      /** @description calls that meet all of them are bound */
      conditions: components["schemas"]["PolicyCondition"][];
      /** @description calls with other values of these are counted apart */
      group_by?: components["schemas"]["PolicyGroupBy"][];
      /**
      * @description calls of models, or of tools over MCP
      * @default llm
      * @enum {string}
      */
      target: "llm" | "mcp_tools";
      /** @enum {string} */
      type: "requests" | "tokens";
      /**
      * @description by minute, hour, day or week
      * @enum {string}
      */
      unit: "rpm" | "rph" | "rpd" | "rpw";
      value: number;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateRateLimitsPolicyReply: {
      /** Format: uuid */
      id: string;
      /** @constant */
      object: "policy_usage_limits";
    };
    RateLimitsPolicy: {
      /** Format: uuid */
      id: string;
      name: string | null;
      description: string | null;
      conditions: components["schemas"]["PolicyCondition"][];
      group_by: components["schemas"]["PolicyGroupBy"][];
      /** @enum {string} */
      status: "active" | "archived";
      /**
      * Format: uuid
      * @description null: of the organisation, for calls of all its workspaces
      */
      workspace_id: string | null;
      /** Format: uuid */
      organisation_id: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /**
      * @description calls of models, or of tools over MCP
      * @enum {string}
      */
      target: "llm" | "mcp_tools";
      /** @enum {string} */
      type: "requests" | "tokens";
      /**
      * @description by minute, hour, day or week
      * @enum {string}
      */
      unit: "rpm" | "rph" | "rpd" | "rpw";
      value: number;
      /** @constant */
      object: "policy_rate_limits";
    };
    ListRateLimitsPoliciesReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["RateLimitsPolicy"][];
    };
    UpdateRateLimitsPolicyBody: {
      name?: string;
      description?: string | null;
      /** @description calls that meet all of them are bound */
      conditions?: components["schemas"]["PolicyCondition"][];
      /** @enum {string} */
      status?: "active" | "archived";
      /**
      * @description by minute, hour, day or week
      * @enum {string}
      */
      unit?: "rpm" | "rph" | "rpd" | "rpw";
      value?: number;
      /** @enum {string} */
      type?: "requests" | "tokens";
      /** @description calls with other values of these are counted apart */
      group_by?: components["schemas"]["PolicyGroupBy"][];
      /**
      * @description calls of models, or of tools over MCP
      * @enum {string}
      */
      target?: "llm" | "mcp_tools";
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ScimWorkspaceMapping: {
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      workspace_id: string;
      scim_group: string;
      /** Format: uuid */
      scim_group_id: string;
      /** @enum {string} */
      role: "admin" | "manager" | "member";
    };
    ListScimMappingsReply: {
      mappings: components["schemas"]["ScimWorkspaceMapping"][];
      total_count: number;
    };
    CreateScimMappingBody: {
      /**
      * @description admin, manager or member, in upper or lower case
      * @example member
      */
      role: string;
      scim_group_id?: string;
      scim_group_name?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    DeleteScimMappingReply: {
      /** @constant */
      success: true;
    };
    ListScimMappingGroupsReply: {
      schemas: string[];
      totalResults: number;
      startIndex: number;
      itemsPerPage: number;
      Resources: {
        schemas: string[];
        /** Format: uuid */
        id: string;
        displayName: string;
        meta: {
          /** @constant */
          resourceType: "Group";
          /** Format: date-time */
          created: string;
          /** Format: date-time */
          lastModified: string;
        };
      }[];
    };
    SecretReferenceSummary: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      manager_type: string;
      /** @enum {string} */
      status: "ACTIVE";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "secret-reference";
    };
    ListSecretReferencesReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["SecretReferenceSummary"][];
    };
    CreateSecretReferenceBody: {
      description?: string | null;
      secret_key?: string | null;
      /** @description true unless allowed_workspaces is given */
      allow_all_workspaces?: boolean;
      /** @description ids or slugs */
      allowed_workspaces?: string[];
      tags?: {
        [key: string]: string;
      } | null;
      name: string;
      slug?: string;
      /** @description id of a plugin for secrets, or what it calls itself besides */
      manager_type: string;
      auth_config?: Record<string, unknown>;
      /** @description where the secret lies, as its manager has it */
      secret_path: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateSecretReferenceReply: {
      /** Format: uuid */
      id: string;
      slug: string;
      /** @constant */
      object: "secret-reference";
    };
    SecretReference: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      manager_type: string;
      /** @enum {string} */
      status: "ACTIVE";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @constant */
      object: "secret-reference";
      /** Format: uuid */
      organisation_id: string;
      description: string | null;
      secret_path: string;
      secret_key: string | null;
      allow_all_workspaces: boolean;
      allowed_workspaces: string[];
      tags: {
        [key: string]: string;
      } | null;
      created_by: string;
      auth_config: Record<string, unknown>;
    };
    UpdateSecretReferenceBody: {
      description?: string | null;
      secret_key?: string | null;
      /** @description true unless allowed_workspaces is given */
      allow_all_workspaces?: boolean;
      /** @description ids or slugs */
      allowed_workspaces?: string[];
      tags?: {
        [key: string]: string;
      } | null;
      name?: string;
      auth_config?: Record<string, unknown>;
      /** @description where the secret lies, as its manager has it */
      secret_path?: string;
      manager_type?: string;
      slug?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    GetSessionReply: {
      /** @constant */
      object: "session";
      /** @enum {string} */
      type: "user" | "api_key";
      user: {
        id: string;
        email: string;
        first_name: string;
        last_name: string;
        /** @enum {string} */
        role: "owner" | "admin" | "member";
      } | null;
      workspaces: {
        id: string;
        slug: string;
        name: string;
        /** @enum {string} */
        role: "admin" | "manager" | "member";
      }[];
      /** Format: date-time */
      created_at: string | null;
      /** Format: date-time */
      expires_at: string | null;
    };
    CreateUsageLimitsPolicyBody: {
      name?: string;
      description?: string | null;
      /** @description calls that meet all of them are bound */
      conditions: components["schemas"]["PolicyCondition"][];
      /** @description calls with other values of these are counted apart */
      group_by: components["schemas"]["PolicyGroupBy"][];
      /** @enum {string} */
      type: "cost" | "tokens" | "requests";
      credit_limit: number;
      alert_threshold?: number | null;
      /**
      * @description on the first of the month, or on Monday, at midnight UTC
      * @enum {string|null}
      */
      periodic_reset?: "monthly" | "weekly" | null;
      /** @description every so many days */
      periodic_reset_days?: number | null;
      /**
      * Format: date-time
      * @description the first reset; the midnight UTC before it counts
      */
      next_usage_reset_at?: string | null;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateUsageLimitsPolicyReply: {
      /** Format: uuid */
      id: string;
      /** @constant */
      object: "policy_usage_limits";
    };
    UsageLimitsPolicy: {
      /** Format: uuid */
      id: string;
      name: string | null;
      description: string | null;
      conditions: components["schemas"]["PolicyCondition"][];
      group_by: components["schemas"]["PolicyGroupBy"][];
      /** @enum {string} */
      status: "active" | "archived";
      /**
      * Format: uuid
      * @description null: of the organisation, for calls of all its workspaces
      */
      workspace_id: string | null;
      /** Format: uuid */
      organisation_id: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @enum {string} */
      type: "cost" | "tokens" | "requests";
      /** @description US dollars, tokens, or requests */
      credit_limit: number;
      alert_threshold: number | null;
      /** @enum {string|null} */
      periodic_reset: "monthly" | "weekly" | null;
      periodic_reset_days: number | null;
      /** Format: date-time */
      next_usage_reset_at: string | null;
      /** Format: date-time */
      last_reset_at: string | null;
      /** @constant */
      object: "policy_usage_limits";
    };
    ListUsageLimitsPoliciesReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["UsageLimitsPolicy"][];
    };
    GetUsageLimitsPolicyReply: {
      /** Format: uuid */
      id: string;
      name: string | null;
      description: string | null;
      conditions: components["schemas"]["PolicyCondition"][];
      group_by: components["schemas"]["PolicyGroupBy"][];
      /** @enum {string} */
      status: "active" | "archived";
      /**
      * Format: uuid
      * @description null: of the organisation, for calls of all its workspaces
      */
      workspace_id: string | null;
      /** Format: uuid */
      organisation_id: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @enum {string} */
      type: "cost" | "tokens" | "requests";
      /** @description US dollars, tokens, or requests */
      credit_limit: number;
      alert_threshold: number | null;
      /** @enum {string|null} */
      periodic_reset: "monthly" | "weekly" | null;
      periodic_reset_days: number | null;
      /** Format: date-time */
      next_usage_reset_at: string | null;
      /** Format: date-time */
      last_reset_at: string | null;
      /** @constant */
      object: "policy_usage_limits";
      /** @description at most 1000 of them */
      value_key_usage_map?: {
        [key: string]: {
          current_usage: number;
          /** @enum {string} */
          status: "active" | "exhausted";
          is_threshold_alerts_sent: boolean;
          is_exhausted_alerts_sent: boolean;
        };
      };
    };
    UpdateUsageLimitsPolicyBody: {
      name?: string;
      description?: string | null;
      /** @description calls that meet all of them are bound */
      conditions?: components["schemas"]["PolicyCondition"][];
      /** @enum {string} */
      status?: "active" | "archived";
      credit_limit?: number;
      alert_threshold?: number | null;
      /**
      * @description on the first of the month, or on Monday, at midnight UTC
      * @enum {string|null}
      */
      periodic_reset?: "monthly" | "weekly" | null;
      /** @description every so many days */
      periodic_reset_days?: number | null;
      /**
      * Format: date-time
      * @description the first reset; the midnight UTC before it counts
      */
      next_usage_reset_at?: string | null;
      /** @enum {string} */
      type?: "cost" | "tokens" | "requests";
      /** @description calls with other values of these are counted apart */
      group_by?: components["schemas"]["PolicyGroupBy"][];
      /** @description a value key */
      reset_usage_for_value?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    ListUsageLimitsPolicyEntitiesReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: {
        id: string;
        /** @description such as metadata._user:bob; of several keys one after the other, parted by dashes */
        value_key: string;
        current_usage: number;
        /** @enum {string} */
        status: "active" | "exhausted";
      }[];
    };
    User: {
      /** @enum {string} */
      object: "user";
      id: string;
      first_name: string;
      last_name: string;
      /** @enum {string} */
      role: "owner" | "admin" | "member";
      email: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      workspace_ids: string[];
    };
    ListUsersReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["User"][];
    };
    UpdateUserBody: {
      /** @enum {string} */
      role: "admin" | "member";
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    VirtualKey: {
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
      /** Format: uuid */
      workspace_id: string;
      /** Format: uuid */
      organisation_id: string;
      note: string | null;
      /** @enum {string} */
      status: "active" | "exhausted" | "expired";
      usage_limits: components["schemas"]["UsageLimits"] | null;
      usage: components["schemas"]["CountedUsage"][];
      rate_limits: components["schemas"]["RateLimit"][] | null;
      reset_usage: null;
      /** Format: date-time */
      last_reset_at: string | null;
      /** Format: date-time */
      expires_at: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      provider: string;
      ai_provider_id: string;
      /** @description masked */
      key: string | null;
      masked_key: string | null;
      model_config: Record<string, unknown>;
      secret_mappings: components["schemas"]["SecretMapping"][];
      /** @constant */
      object: "virtual-key";
    };
    ListVirtualKeysReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["VirtualKey"][];
      /** @constant */
      success: true;
    };
    CreateVirtualKeyBody: {
      usage_limits?: Record<string, unknown> | unknown[] | null;
      rate_limits?: Record<string, unknown> | unknown[] | null;
      note?: string | null;
      /** Format: date-time */
      expires_at?: string | null;
      key?: string | null;
      model_config?: Record<string, unknown> | null;
      api_version?: string | null;
      resource_name?: string | null;
      deployment_name?: string | null;
      deployment_config?: Record<string, unknown>[] | null;
      secret_mappings?: components["schemas"]["SecretMapping"][] | null;
      name?: string;
      provider: string;
      slug?: string;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateVirtualKeyReply: {
      /** @constant */
      success: true;
      data: {
        /** Format: uuid */
        id: string;
        slug: string;
      };
      /** Format: uuid */
      id: string;
      slug: string;
      /** @constant */
      object: "virtual-key";
    };
    UpdateVirtualKeyBody: {
      usage_limits?: Record<string, unknown> | unknown[] | null;
      rate_limits?: Record<string, unknown> | unknown[] | null;
      note?: string | null;
      /** Format: date-time */
      expires_at?: string | null;
      key?: string | null;
      model_config?: Record<string, unknown> | null;
      api_version?: string | null;
      resource_name?: string | null;
      deployment_name?: string | null;
      deployment_config?: Record<string, unknown>[] | null;
      secret_mappings?: components["schemas"]["SecretMapping"][] | null;
      name?: string;
      reset_usage?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    AddWorkspaceMemberBody: {
      users: {
        /** Format: uuid */
        id: string;
        /** @enum {string} */
        role: "admin" | "manager" | "member";
      }[];
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    WorkspaceMember: {
      /** @enum {string} */
      object: "workspace-user";
      id: string;
      first_name: string;
      last_name: string;
      /** @enum {string} */
      org_role: "owner" | "admin" | "member";
      /** @enum {string} */
      role: "admin" | "manager" | "member";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** @enum {string} */
      status: "active";
      workspace_id: string;
      email: string;
      scopes: string[];
      settings: null;
    };
    ListWorkspaceMembersReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["WorkspaceMember"][];
    };
    UpdateWorkspaceMemberBody: {
      /** @enum {string} */
      role: "admin" | "manager" | "member";
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    CreateWorkspaceBody: {
      name: string;
      slug?: string;
      description?: string | null;
      icon?: string | null;
      defaults?: {
        metadata?: {
          [key: string]: string;
        } | null;
        input_guardrails?: string[] | null;
        output_guardrails?: string[] | null;
        /** @description slug or id of a config of the workspace, for keys that are made by themselves */
        user_api_key_config?: string | null;
      } | null;
      usage_limits?: components["schemas"]["UsageLimits"][] | null;
      rate_limits?: components["schemas"]["RateLimit"][] | null;
      log_bodies?: {
        /** @description bodies and headers of calls are kept in the log */
        enabled?: boolean;
        /** @description calls may ask for it themselves, with x-gateway-debug: true; by default they may */
        by_call?: boolean;
        /** @description of each body that is kept; longer ones are cut. 65536 by default */
        bytes_max?: number;
        /** @description headers whose values are masked, beside those that hold credentials */
        masked_headers?: string[];
        /** @description also what guardrails changed is kept as it was before */
        keep_original?: boolean;
      } | null;
      /** @description ids of users who are its first members */
      users?: string[];
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    Workspace: {
      /** Format: uuid */
      id: string;
      /** @constant */
      object: "workspace";
      slug: string;
      name: string;
      description: string | null;
      icon: string | null;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** Format: date-time */
      last_reset_at: string | null;
      defaults: {
        metadata: {
          [key: string]: string;
        };
        input_guardrails: string[];
        output_guardrails: string[];
        user_api_key_config: string | null;
        /** @enum {integer} */
        is_default: 0 | 1;
        /** @constant */
        object: "workspace";
      };
      usage_limits: components["schemas"]["UsageLimits"][];
      usage: components["schemas"]["CountedUsage"][];
      rate_limits: components["schemas"]["RateLimit"][];
      log_bodies: {
        /** @description bodies and headers of calls are kept in the log */
        enabled?: boolean;
        /** @description calls may ask for it themselves, with x-gateway-debug: true; by default they may */
        by_call?: boolean;
        /** @description of each body that is kept; longer ones are cut. 65536 by default */
        bytes_max?: number;
        /** @description headers whose values are masked, beside those that hold credentials */
        masked_headers?: string[];
        /** @description also what guardrails changed is kept as it was before */
        keep_original?: boolean;
      } | null;
    };
    ListWorkspacesReply: {
      /** @constant */
      object: "list";
      /** @description of all pages */
      total: number;
      data: components["schemas"]["Workspace"][];
    };
    GetWorkspaceReply: {
      /** Format: uuid */
      id: string;
      /** @constant */
      object: "workspace";
      slug: string;
      name: string;
      description: string | null;
      icon: string | null;
      /** @enum {string} */
      status: "active" | "archived";
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      last_updated_at: string;
      /** Format: date-time */
      last_reset_at: string | null;
      defaults: {
        metadata: {
          [key: string]: string;
        };
        input_guardrails: string[];
        output_guardrails: string[];
        user_api_key_config: string | null;
        /** @enum {integer} */
        is_default: 0 | 1;
        /** @constant */
        object: "workspace";
      };
      usage_limits: components["schemas"]["UsageLimits"][];
      usage: components["schemas"]["CountedUsage"][];
      rate_limits: components["schemas"]["RateLimit"][];
      log_bodies: {
        /** @description bodies and headers of calls are kept in the log */
        enabled?: boolean;
        /** @description calls may ask for it themselves, with x-gateway-debug: true; by default they may */
        by_call?: boolean;
        /** @description of each body that is kept; longer ones are cut. 65536 by default */
        bytes_max?: number;
        /** @description headers whose values are masked, beside those that hold credentials */
        masked_headers?: string[];
        /** @description also what guardrails changed is kept as it was before */
        keep_original?: boolean;
      } | null;
      users: unknown[];
    };
    UpdateWorkspaceBody: {
      name?: string;
      description?: string | null;
      icon?: string | null;
      defaults?: {
        metadata?: {
          [key: string]: string;
        } | null;
        input_guardrails?: string[] | null;
        output_guardrails?: string[] | null;
        /** @description slug or id of a config of the workspace, for keys that are made by themselves */
        user_api_key_config?: string | null;
      } | null;
      usage_limits?: components["schemas"]["UsageLimits"][] | null;
      rate_limits?: components["schemas"]["RateLimit"][] | null;
      log_bodies?: {
        /** @description bodies and headers of calls are kept in the log */
        enabled?: boolean;
        /** @description calls may ask for it themselves, with x-gateway-debug: true; by default they may */
        by_call?: boolean;
        /** @description of each body that is kept; longer ones are cut. 65536 by default */
        bytes_max?: number;
        /** @description headers whose values are masked, beside those that hold credentials */
        masked_headers?: string[];
        /** @description also what guardrails changed is kept as it was before */
        keep_original?: boolean;
      } | null;
      reset_usage?: boolean;
      /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
      workspace_id?: string;
    };
    DeleteWorkspaceBody: {
      /** @description the name of the workspace, so that no other is meant */
      name: string;
      /** @description also when it is in use */
      force_delete?: boolean;
    };
    Error: {
      /** @constant */
      success: false;
      /** @constant */
      status: "failure";
      message: string;
      data: {
        message: string;
        /** @enum {string} */
        errorCode: "AB01" | "AB02" | "AB03" | "AB04" | "AB05" | "AB06" | "AB07" | "AB08";
      };
      error: {
        message: string;
        type: string;
        /** @enum {string} */
        code: "AB01" | "AB02" | "AB03" | "AB04" | "AB05" | "AB06" | "AB07" | "AB08";
        /** @description what of the call it is about */
        param: string | null;
      };
    };
    ChatError: {
      error: {
        message: string;
        type: string;
        param?: string | null;
        /** @description of the gateway: the name of its error in lower case; of a provider: its own */
        code?: string | number | null;
      };
      /** @description which checks failed */
      hook_results?: Record<string, unknown>;
      /**
      * @description the gateway says so, and no provider
      * @constant
      */
      status?: "failure";
      /** @description the same as below `error` */
      message?: string;
    };
    MessagesError: {
      /** @constant */
      type: "error";
      error: {
        type: string;
        message: string;
      };
      hook_results?: Record<string, unknown>;
      /**
      * @description the gateway says so, and no provider
      * @constant
      */
      status?: "failure";
      /** @description the same as below `error` */
      message?: string;
    };
  };
  responses: {
    /** @description The path, a header, the query or the body is not right; `error.param` names what is at fault. */
    BadRequest: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description No key, or one that is not valid. */
    Unauthorized: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description The key lacks the scope, or may not reach the workspace. */
    Forbidden: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description There is no such row (`AB08`), or none that the body names (`AB02`). */
    NotFound: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description It is there already, is still in use, or cannot be done now. */
    Conflict: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description `if-match` names another version than the present one. */
    Stale: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description The body is larger than 1 MiB. */
    TooLarge: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description Too many calls of this key at once, or in a second. */
    TooMany: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description Something that nobody expected; the log of the gateway has it. */
    Internal: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description The control plane gave no answer, or the storage takes no writes. */
    Unavailable: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["Error"];
      };
    };
    /** @description The gateway or the provider refuses the call. A provider's error keeps its status, message and code. */
    ChatRefusal: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["ChatError"];
      };
    };
    /** @description The gateway or the provider failed. */
    ChatFailure: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["ChatError"];
      };
    };
    /** @description The gateway or the provider refuses the call. A provider's error keeps its status, message and code. */
    MessagesRefusal: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["MessagesError"];
      };
    };
    /** @description The gateway or the provider failed. */
    MessagesFailure: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        "application/json": components["schemas"]["MessagesError"];
      };
    };
  };
  parameters: {
    /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
    workspaceId: string;
    /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
    ifMatch: string;
    /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
    idempotencyKey: string;
    /** @description a config as JSON, or the slug of a stored one */
    config: string;
    /** @description id of a provider, or @slug of a stored one */
    provider: string;
    /** @description the older name of a stored provider: its slug */
    virtualKey: string;
    /** @description another base address of the provider */
    customHost: string;
    /** @description names of headers, separated by commas, that go to the provider */
    forwardHeaders: string;
    /** @description milliseconds that each attempt may take to its first byte */
    requestTimeout: number;
    /** @description a JSON object of texts, for routing, logs and limits */
    metadata: string;
    /** @description joins calls that belong together in the log */
    traceId: string;
    /** @description `false` lets members through that only some providers know */
    strict: "true" | "false";
    /** @description what becomes of parameters that the provider cannot take */
    unsupportedParams: "refuse" | "omit";
    /** @description a part of the cache of its own */
    cacheNamespace: string;
    /** @description `true` asks the provider, and keeps the new answer */
    cacheForceRefresh: "true" | "false";
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export interface operations {
  createChatCompletion: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateChatCompletionBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ChatCompletion"];
          "text/event-stream": components["schemas"]["ChatCompletionChunk"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createCompletion: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateCompletionBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Completion"];
          "text/event-stream": components["schemas"]["CompletionChunk"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createEmbedding: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateEmbeddingBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["EmbeddingList"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createImage: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateImageBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ImageList"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  editImage: {
    parameters: {
    };
    requestBody: {
      content: {
        "multipart/form-data": {
          image: string;
          mask?: string;
          prompt: string;
          model?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ImageList"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  varyImage: {
    parameters: {
    };
    requestBody: {
      content: {
        "multipart/form-data": {
          image: string;
          model?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ImageList"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createSpeech: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateSpeechBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "audio/mpeg": unknown;
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createTranscription: {
    parameters: {
    };
    requestBody: {
      content: {
        "multipart/form-data": {
          file: string;
          model: string;
          language?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Transcript"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createTranslation: {
    parameters: {
    };
    requestBody: {
      content: {
        "multipart/form-data": {
          file: string;
          model: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Transcript"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createModeration: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateModerationBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Moderation"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  rerank: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RerankBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Ranking"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createMessage: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateMessageBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["MessageAnswer"];
          "text/event-stream": components["schemas"]["MessageEvent"];
        };
      };
      default: components["responses"]["MessagesRefusal"];
    };
  };
  countMessageTokens: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CountMessageTokensBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TokenCount"];
        };
      };
      default: components["responses"]["MessagesRefusal"];
    };
  };
  createResponse: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateResponseBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Response"];
          "text/event-stream": components["schemas"]["ResponseEvent"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  listFiles: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            object?: "list";
            data?: components["schemas"]["File"][];
            has_more?: boolean;
          };
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  uploadFile: {
    parameters: {
    };
    requestBody: {
      content: {
        "multipart/form-data": {
          file: string;
          purpose: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["File"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  listBatches: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            object?: "list";
            data?: components["schemas"]["Batch"][];
            has_more?: boolean;
          };
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createBatch: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateBatchBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Batch"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  listFineTuningJobs: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            object?: "list";
            data?: components["schemas"]["FineTuningJob"][];
            has_more?: boolean;
          };
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createFineTuningJob: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateFineTuningJobBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FineTuningJob"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  listModels: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            object?: "list";
            data?: components["schemas"]["Model"][];
            has_more?: boolean;
          };
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  getResponse: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Response"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  deleteResponse: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Deleted"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  listResponseInputItems: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            object?: "list";
            data?: Record<string, unknown>[];
            has_more?: boolean;
          };
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  cancelResponse: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Response"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  getFile: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["File"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  deleteFile: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Deleted"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  getFileContent: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/octet-stream": unknown;
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  getBatch: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Batch"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  cancelBatch: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Batch"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  getFineTuningJob: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FineTuningJob"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  cancelFineTuningJob: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FineTuningJob"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  listFineTuningCheckpoints: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            object?: "list";
            data?: Record<string, unknown>[];
            has_more?: boolean;
          };
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  listFineTuningEvents: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            object?: "list";
            data?: Record<string, unknown>[];
            has_more?: boolean;
          };
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  createPromptCompletion: {
    parameters: {
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PromptCallBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ChatCompletion"];
          "text/event-stream": components["schemas"]["ChatCompletionChunk"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  renderPrompt: {
    parameters: {
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PromptCallBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RenderedPrompt"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  generatePromptCompletion: {
    parameters: {
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PromptCallBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ChatCompletion"];
          "text/event-stream": components["schemas"]["ChatCompletionChunk"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  getModel: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Model"];
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
  proxyGet: {
    parameters: {
      path: {
        /** @description of the provider; may hold slashes */
        path: string;
      };
    };
    responses: {
      default: components["responses"]["ChatRefusal"];
    };
  };
  proxyPut: {
    parameters: {
      path: {
        /** @description of the provider; may hold slashes */
        path: string;
      };
    };
    requestBody?: {
      content: {
        "*/*": unknown;
      };
    };
    responses: {
      default: components["responses"]["ChatRefusal"];
    };
  };
  proxyPost: {
    parameters: {
      path: {
        /** @description of the provider; may hold slashes */
        path: string;
      };
    };
    requestBody?: {
      content: {
        "*/*": unknown;
      };
    };
    responses: {
      default: components["responses"]["ChatRefusal"];
    };
  };
  proxyDelete: {
    parameters: {
      path: {
        /** @description of the provider; may hold slashes */
        path: string;
      };
    };
    responses: {
      default: components["responses"]["ChatRefusal"];
    };
  };
  listAnalyticsRequests: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsRequestsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsCost: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsCostReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsLatency: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsLatencyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsTokens: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsTokensReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsUsers: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsUsersReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsUsersRequests: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsUsersRequestsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsErrors: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsErrorsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsErrorsRate: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsErrorsRateReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsErrorsStacks: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsErrorsStacksReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsErrorsStatusCodes: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsErrorsStatusCodesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsRequestsRescued: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsRequestsRescuedReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsCacheHitRate: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsCacheHitRateReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsCacheLatency: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsCacheLatencyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsFeedbacks: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsFeedbacksReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsFeedbacksScores: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsFeedbacksScoresReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsFeedbacksWeighted: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsFeedbacksWeightedReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsFeedbacksAiModels: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsFeedbacksAiModelsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsSummaryCache: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsSummaryCacheReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsGroupUsers: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
        current_page?: number;
        page_size?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsGroupUsersReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAnalyticsGroupAiModels: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
        current_page?: number;
        page_size?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAnalyticsGroupAiModelsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsGroupMetadata: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
        current_page?: number;
        page_size?: number;
      };
      path: {
        /** @description id or slug */
        metadataKey: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsGroupMetadataReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getAnalyticsGroupBy: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min: string;
        /** @description calls that began then or earlier */
        time_of_generation_max: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
        current_page?: number;
        page_size?: number;
        /** @description figures beside the number of requests, separated by commas: cost, total_tokens, avg_tokens, avg_input_tokens, avg_output_tokens, avg_latency, p95_latency, p99_latency, success_rate, error_count, cache_hit_rate, last_seen, first_seen */
        columns?: string;
        /** @description `requests`, or one of the columns */
        order_by?: string;
        order?: "asc" | "desc";
      };
      path: {
        /** @description id or slug */
        groupBy: "ai_service" | "model" | "status_code" | "api_key" | "config" | "workspace" | "provider" | "prompt" | "workspaces";
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetAnalyticsGroupByReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createApiKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
      path: {
        /** @description id or slug */
        type: "organisation" | "workspace";
        /** @description user: of a workspace alone */
        "sub-type": "service" | "user";
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateApiKeyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateApiKeyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listApiKeys: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        /** @description only these, separated by commas */
        ids?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListApiKeysReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getApiKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ApiKey"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateApiKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateApiKeyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteApiKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  rotateApiKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
      path: {
        /** @description id or slug */
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["RotateApiKeyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RotateApiKeyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listAuditLogs: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        start_time: string;
        end_time: string;
        method?: "POST" | "PUT" | "DELETE";
        uri?: string;
        request_id?: string;
        user_id?: string;
        user_type?: "user" | "api_key" | "gateway";
        response_status_code?: number;
        resource_type?: string;
        action?: string;
        client_ip?: string;
        country?: string;
        current_page?: number;
        page_size?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListAuditLogsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listCollections: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        search?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListCollectionsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createCollection: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateCollectionBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateCollectionReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getCollection: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        collectionId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetCollectionReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateCollection: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        collectionId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateCollectionBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteCollection: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        collectionId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listConfigs: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        search?: string;
        status?: "active" | "archived";
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListConfigsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createConfig: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateConfigBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateConfigReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getConfig: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description number or id of an earlier version */
        version?: string;
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetConfigReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateConfig: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateConfigBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdateConfigReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteConfig: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listConfigVersions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListConfigVersionsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  applyDeclaration: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ApplyDeclarationBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ApplyDeclarationReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  exportDeclaration: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ExportDeclarationReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createFeedback: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateFeedbackBody"] | components["schemas"]["CreateFeedbackBody"][];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateFeedbackReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateFeedback: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateFeedbackBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdateFeedbackReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listGuardrails: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        /** @description ids or slugs, parted by commas */
        ids?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListGuardrailsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createGuardrail: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateGuardrailBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateGuardrailReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getGuardrail: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        guardrailId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetGuardrailReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateGuardrail: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        guardrailId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateGuardrailBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdateGuardrailReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteGuardrail: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        guardrailId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DeleteGuardrailReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  invokeGuardrail: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        guardrailId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["InvokeGuardrailBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["InvokeGuardrailReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listIntegrations: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        type?: "workspace" | "organisation" | "all";
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListIntegrationsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createIntegration: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateIntegrationBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateIntegrationReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getIntegration: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Integration"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateIntegration: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateIntegrationBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteIntegration: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listIntegrationModels: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListIntegrationModelsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateIntegrationModels: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateIntegrationModelsBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteIntegrationModels: {
    parameters: {
      query: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description of custom models, separated by commas */
        slugs: string;
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listIntegrationWorkspaces: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListIntegrationWorkspacesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateIntegrationWorkspaces: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateIntegrationWorkspacesBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listInvites: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        role?: "admin" | "member";
        email?: string;
        status?: "pending" | "cancelled" | "accepted" | "expired";
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListInvitesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createInvite: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateInviteBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateInviteReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getInvite: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        inviteId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Invite"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  cancelInvite: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        inviteId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  resendInvite: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
      path: {
        /** @description id or slug */
        inviteId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ResendInviteReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  acceptInvite: {
    parameters: {
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
      path: {
        /** @description id or slug */
        inviteId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AcceptInviteBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AcceptInviteReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listLabels: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        search?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListLabelsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createLabel: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateLabelBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateLabelReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getLabel: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        labelId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Label"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateLabel: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        labelId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateLabelBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteLabel: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        labelId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listLogExports: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListLogExportsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createLogExport: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateLogExportBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateLogExportReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listLogExportFieldRestrictions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListLogExportFieldRestrictionsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getLogExport: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        exportId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["LogExport"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateLogExport: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        exportId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateLogExportBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdateLogExportReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  startLogExport: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
      path: {
        /** @description id or slug */
        exportId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["StartLogExportReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  cancelLogExport: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
      path: {
        /** @description id or slug */
        exportId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CancelLogExportReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getLogExportDownload: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        exportId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetLogExportDownloadReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listLogs: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min?: string;
        /** @description calls that began then or earlier */
        time_of_generation_max?: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description `all`: the targets that were left for another one, too */
        records?: "final" | "all";
        is_success?: boolean;
        /** @description error codes of the gateway; several separated by commas */
        error_code?: string;
        /** @description cache statuses, as HIT; several separated by commas */
        cache_status?: string;
        /** @description endpoints, as chatCompletions; several separated by commas */
        endpoint?: string;
        /** @description milliseconds, at least */
        response_time_min?: number;
        /** @description milliseconds, at most */
        response_time_max?: number;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
        current_page?: number;
        page_size?: number;
        /** @description `next_cursor` of the page before; the filters stay the same */
        cursor?: string;
        /** @description also count all that match */
        include_total?: boolean;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListLogsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createLog: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateLogBody"] | components["schemas"]["CreateLogBody"][];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateLogReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getLogLive: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description calls that began then or later */
        time_of_generation_min?: string;
        /** @description calls that began then or earlier */
        time_of_generation_max?: string;
        /** @description tokens in all, at least */
        total_units_min?: number;
        /** @description tokens in all, at most */
        total_units_max?: number;
        /** @description US cents, at least */
        cost_min?: number;
        /** @description US cents, at most */
        cost_max?: number;
        /** @description input tokens, at least */
        prompt_token_min?: number;
        /** @description input tokens, at most */
        prompt_token_max?: number;
        /** @description output tokens, at least */
        completion_token_min?: number;
        /** @description output tokens, at most */
        completion_token_max?: number;
        /** @description status codes; several separated by commas */
        status_code?: string;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_min?: number;
        /** @description mean of value times weight of the feedback on the trace */
        weighted_feedback_max?: number;
        /** @description slugs of stored providers; several separated by commas */
        virtual_keys?: string;
        /** @description ids or slugs of configs; several separated by commas */
        configs?: string;
        /** @description ids of API keys; several separated by commas */
        api_key_ids?: string;
        /** @description slugs of prompts; several separated by commas */
        prompt_slug?: string;
        /** @description ids of traces; several separated by commas */
        trace_id?: string;
        /** @description ids of spans; several separated by commas */
        span_id?: string;
        /** @description provider and model, as provider__model; several separated by commas */
        ai_org_model?: string;
        /** @description models; several separated by commas */
        ai_model?: string;
        /** @description providers; several separated by commas */
        ai_org?: string;
        /** @description id or slug of a workspace, as workspace_id */
        workspace_slug?: string;
        /** @description `all`: the targets that were left for another one, too */
        records?: "final" | "all";
        is_success?: boolean;
        /** @description error codes of the gateway; several separated by commas */
        error_code?: string;
        /** @description cache statuses, as HIT; several separated by commas */
        cache_status?: string;
        /** @description endpoints, as chatCompletions; several separated by commas */
        endpoint?: string;
        /** @description milliseconds, at least */
        response_time_min?: number;
        /** @description milliseconds, at most */
        response_time_max?: number;
        /** @description JSON object: members that must be there, with these values */
        metadata?: string;
        /** @description `after` of the reply before; without one, the place of now is told */
        after?: string;
        page_size?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetLogLiveReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getLog: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id of the log, or of its trace */
        logId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Log"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getLogWhy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id of the log, or of its trace */
        logId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["LogWhy"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getModelPricing: {
    parameters: {
      path: {
        /** @description id or slug */
        provider: string;
        /** @description id or slug */
        model: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetModelPricingReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getModelGeneral: {
    parameters: {
      path: {
        /** @description id or slug */
        provider: string;
        /** @description id or slug */
        model: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetModelGeneralReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getApiDescription: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetApiDescriptionReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getOrganisation: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Organisation"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateOrganisation: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateOrganisationBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getOrganisationDefaults: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetOrganisationDefaultsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateOrganisationDefaults: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateOrganisationDefaultsBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listOrganisationInputExclusions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListOrganisationInputExclusionsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateOrganisationInputExclusions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateOrganisationInputExclusionsBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listOrganisationOutputExclusions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListOrganisationOutputExclusionsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateOrganisationOutputExclusions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateOrganisationOutputExclusionsBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listPromptPartials: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        /** @description id or slug; the default collection when it is left out */
        collection_id?: string;
        search?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListPromptPartialsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createPromptPartial: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreatePromptPartialBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreatePromptPartialReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getPromptPartial: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description number of a version, or latest; the published one when it is left out */
        version?: string;
      };
      path: {
        /** @description id or slug */
        promptPartialId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Partial"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updatePromptPartial: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        promptPartialId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdatePromptPartialBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdatePromptPartialReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deletePromptPartial: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        promptPartialId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listPromptPartialVersions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
      };
      path: {
        /** @description id or slug */
        promptPartialId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListPromptPartialVersionsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  publishPromptPartial: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        promptPartialId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PublishPromptPartialBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listPrompts: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        /** @description id or slug; the default collection when it is left out */
        collection_id?: string;
        search?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListPromptsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createPrompt: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreatePromptBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreatePromptReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getPrompt: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        /** @description number, id or label of a version, or latest; the published one when it is left out */
        version?: string;
      };
      path: {
        /** @description id or slug */
        promptId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Prompt"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updatePrompt: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        promptId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdatePromptBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdatePromptReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deletePrompt: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        promptId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listPromptVersions: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
      };
      path: {
        /** @description id or slug */
        promptId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListPromptVersionsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getPromptVersion: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        promptId: string;
        /** @description id or slug */
        versionId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Prompt"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updatePromptVersion: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        promptId: string;
        /** @description id or slug */
        versionId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdatePromptVersionBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  publishPrompt: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        promptId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PublishPromptBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listProviders: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListProvidersReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createProvider: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateProviderBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateProviderReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getProvider: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ProviderWithIntegration"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateProvider: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateProviderBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdateProviderReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteProvider: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listRateLimitsPolicies: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        status?: "active" | "archived";
        type?: "requests" | "tokens";
        /** @description by minute, hour, day or week */
        unit?: "rpm" | "rph" | "rpd" | "rpw";
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListRateLimitsPoliciesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createRateLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateRateLimitsPolicyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateRateLimitsPolicyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getRateLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        status?: "active" | "archived";
      };
      path: {
        /** @description id or slug */
        rateLimitsPolicyId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RateLimitsPolicy"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateRateLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        rateLimitsPolicyId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateRateLimitsPolicyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteRateLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        rateLimitsPolicyId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listScimMappings: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        page?: number;
        scim_group_id?: string;
        role?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListScimMappingsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createScimMapping: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateScimMappingBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ScimWorkspaceMapping"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteScimMapping: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        scimWorkspaceGroupId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DeleteScimMappingReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listScimMappingGroups: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        startIndex?: number;
        count?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListScimMappingGroupsReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteScimMappingGroup: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listSecretReferences: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        manager_type?: string;
        /** @description name, or name=value; several with commas */
        tags?: string;
        /** @description part of the name or the slug */
        search?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListSecretReferencesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createSecretReference: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateSecretReferenceBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateSecretReferenceReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getSecretReference: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        secretReferenceId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SecretReference"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateSecretReference: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        secretReferenceId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateSecretReferenceBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteSecretReference: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        secretReferenceId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getSessionLogin: {
    parameters: {
      query?: {
        /** @description a path of this gateway that the browser goes to when the person is signed in */
        return_to?: string;
      };
    };
    responses: {
      302: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getSessionCallback: {
    parameters: {
      query?: {
        code?: string;
        state?: string;
        error?: string;
      };
    };
    responses: {
      302: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getSession: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetSessionReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  logoutSession: {
    parameters: {
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listUsageLimitsPolicies: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        status?: "active" | "archived";
        type?: "cost" | "tokens" | "requests";
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListUsageLimitsPoliciesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createUsageLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateUsageLimitsPolicyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateUsageLimitsPolicyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getUsageLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        status?: "active" | "archived";
        /** @description with value_key_usage_map */
        include_usage?: boolean;
      };
      path: {
        /** @description id or slug */
        policyUsageLimitsId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetUsageLimitsPolicyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateUsageLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        policyUsageLimitsId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateUsageLimitsPolicyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteUsageLimitsPolicy: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        policyUsageLimitsId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listUsageLimitsPolicyEntities: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        status?: "active" | "exhausted";
        search?: string;
      };
      path: {
        /** @description id or slug */
        policyUsageLimitsId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListUsageLimitsPolicyEntitiesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  resetUsageLimitsPolicyEntity: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        policyUsageLimitsId: string;
        /** @description id or slug */
        entityId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listUsers: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        role?: "owner" | "admin" | "member";
        email?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListUsersReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getUser: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        userId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["User"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateUser: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        userId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateUserBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteUser: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        userId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listVirtualKeys: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListVirtualKeysReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createVirtualKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateVirtualKeyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CreateVirtualKeyReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getVirtualKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["VirtualKey"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateVirtualKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateVirtualKeyBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteVirtualKey: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        slug: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listWorkspaceMembers: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        role?: "admin" | "manager" | "member";
        email?: string;
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListWorkspaceMembersReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  addWorkspaceMember: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AddWorkspaceMemberBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getWorkspaceMember: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
        /** @description id or slug */
        userId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WorkspaceMember"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateWorkspaceMember: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
        /** @description id or slug */
        userId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UpdateWorkspaceMemberBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteWorkspaceMember: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
        /** @description id or slug */
        userId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  listWorkspaces: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
        current_page?: number;
        page_size?: number;
        /** @description a part of the name, in upper or lower case */
        name?: string;
        exact_name?: string;
        name_format?: "plain" | "display";
        /** @description active, archived, or both with a comma between; archived is for organisation keys */
        status?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ListWorkspacesReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  createWorkspace: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the same call with the same key, within 24 hours, gets the same reply and changes nothing more */
        "idempotency-key"?: components["parameters"]["idempotencyKey"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateWorkspaceBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Workspace"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getWorkspace: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GetWorkspaceReply"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  updateWorkspace: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["UpdateWorkspaceBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  deleteWorkspace: {
    parameters: {
      query?: {
        /** @description id or slug of a workspace: for keys of the organisation; a key of a workspace has its own */
        workspace_id?: components["parameters"]["workspaceId"];
      };
      header?: {
        /** @description the `etag` of the version that is to be changed; another one is refused with 412 */
        "if-match"?: components["parameters"]["ifMatch"];
      };
      path: {
        /** @description id or slug */
        workspaceId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DeleteWorkspaceBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Empty"];
        };
      };
      default: components["responses"]["BadRequest"];
    };
  };
  getHealth: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            status: "success";
            message: string;
            version: string;
          };
        };
      };
    };
  };
  getHealthV1: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            status: "success";
            message: string;
            version: string;
          };
        };
      };
    };
  };
  getReady: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @enum {string} */
            status: "ready" | "draining";
          };
        };
      };
    };
  };
  getMetrics: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/plain": string;
        };
      };
      default: components["responses"]["ChatRefusal"];
    };
  };
}
