import { anthropic } from './anthropic.js';
import { azureAi, azureOpenai } from './azure.js';
import { bedrock, bedrockClaude } from './bedrock.js';
import { cohere } from './cohere.js';
import type { Family } from './family.js';
import { google } from './google.js';
import { mistral } from './mistral-ai.js';
import { ollama } from './ollama.js';
import { groq, openai } from './openai.js';
import { vertexClaude, vertexGemini } from './vertex-ai.js';

export const families: readonly Family[] = [
  openai, groq, anthropic, google, vertexGemini, vertexClaude, bedrock, bedrockClaude, azureOpenai, azureAi, cohere, mistral, ollama,
];
