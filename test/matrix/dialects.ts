// The three client dialects, each spoken by the client library that people use for it, behind one neutral interface.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Thinking, Usage } from './family.js';

export interface GotCall { readonly id: string; readonly name: string; readonly args: unknown }
export interface Got {
  readonly text: string;
  readonly thinking?: Thinking;
  readonly toolCalls: readonly GotCall[];
  readonly finish: string;
  readonly usage: Usage;
  /** The answer as the client sends it back. */
  readonly native: unknown;
}
export type Step =
  | { readonly user: string; readonly image?: string }
  | { readonly assistant: unknown }
  | { readonly results: readonly { readonly id: string; readonly text: string }[] };
export interface Tool { readonly name: string; readonly parameters: Record<string, unknown> }
export interface Ask {
  readonly model: string;
  readonly system?: string;
  readonly steps: readonly Step[];
  readonly tools?: readonly Tool[];
  readonly toolChoice?: 'required';
  readonly schema?: Record<string, unknown>;
  readonly maxTokens?: number;
  readonly thinkingBudget?: number;
  readonly temperature?: number;
  readonly isStream: boolean;
}
export interface Dialect {
  readonly name: 'chat' | 'messages' | 'responses';
  ask(origin: string, headers: Record<string, string>, ask: Ask): Promise<Got>;
}

const image = 'data:image/png;base64,';

const chat: Dialect = {
  name: 'chat',
  async ask(origin, headers, ask) {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: { ...headers, 'x-gateway-strict-reference-compliance': 'false' } });
    const body: any = {
      model: ask.model,
      messages: [
        ...(ask.system === undefined ? [] : [{ role: 'system', content: ask.system }]),
        ...ask.steps.flatMap((step): any[] => {
          if ('user' in step) return [{ role: 'user', content: step.image === undefined ? step.user : [{ type: 'text', text: step.user }, { type: 'image_url', image_url: { url: image + step.image } }] }];
          if ('assistant' in step) return [step.assistant];
          return step.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
        }),
      ],
      ...(ask.tools === undefined ? {} : { tools: ask.tools.map((tool) => ({ type: 'function', function: tool })) }),
      ...(ask.toolChoice === undefined ? {} : { tool_choice: ask.toolChoice }),
      ...(ask.schema === undefined ? {} : { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: ask.schema, strict: true } } }),
      ...(ask.maxTokens === undefined ? {} : { max_tokens: ask.maxTokens }),
      ...(ask.thinkingBudget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: ask.thinkingBudget } }),
      ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
      ...(ask.isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
    };
    let message: any;
    let finish = '';
    let usage: any;
    if (ask.isStream) {
      const stream: any = await client.chat.completions.create(body);
      message = { role: 'assistant', content: '', content_blocks: [], tool_calls: [] };
      for await (const chunk of stream) {
        usage = chunk.usage ?? usage;
        const [choice] = chunk.choices;
        if (choice === undefined) continue;
        finish = choice.finish_reason ?? finish;
        message.content += choice.delta.content ?? '';
        for (const { index, delta } of choice.delta.content_blocks ?? []) {
          const block = message.content_blocks[index] ??= {};
          for (const [key, value] of Object.entries(delta as object)) block[key] = key !== 'type' && typeof block[key] === 'string' ? block[key] + value : value;
        }
        for (const { index, ...delta } of choice.delta.tool_calls ?? []) {
          const call = message.tool_calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } };
          const { id, function: called, type, ...rest } = delta;
          if (id) call.id = id;
          if (called?.name) call.function.name = called.name;
          call.function.arguments += called?.arguments ?? '';
          Object.assign(call, rest);
        }
      }
      message.content_blocks = message.content_blocks.filter(Boolean).map((block: any) => ({ ...block, type: block.type ?? (block.thinking === undefined && block.signature === undefined ? 'text' : 'thinking') }));
      if (message.content_blocks.length === 0) delete message.content_blocks;
      if (message.tool_calls.length === 0) delete message.tool_calls;
      if (message.content === '') message.content = null;
    } else {
      const answer: any = await client.chat.completions.create(body);
      ({ message, finish_reason: finish } = answer.choices[0]);
      ({ usage } = answer);
    }
    const thinking = message.content_blocks?.filter((block: any) => block.type === 'thinking') ?? [];
    return {
      text: message.content ?? '', finish, native: message,
      ...(thinking.length === 0 ? {} : { thinking: { text: thinking.map((block: any) => block.thinking ?? '').join(''), signature: thinking.map((block: any) => block.signature ?? '').join('') } }),
      toolCalls: (message.tool_calls ?? []).map((call: any) => ({ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) })),
      usage: {
        input: usage?.prompt_tokens, output: usage?.completion_tokens, cached: usage?.prompt_tokens_details?.cached_tokens ?? usage?.cache_read_input_tokens,
        reasoning: usage?.completion_tokens_details?.reasoning_tokens,
      },
    };
  },
};

const messages: Dialect = {
  name: 'messages',
  async ask(origin, headers, ask) {
    const client = new Anthropic({ baseURL: origin, apiKey: 'unused', maxRetries: 0, defaultHeaders: headers });
    const body: any = {
      model: ask.model, max_tokens: ask.maxTokens ?? 4096,
      messages: ask.steps.map((step): any => {
        if ('user' in step) {
          return { role: 'user', content: step.image === undefined ? step.user : [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: step.image } }, { type: 'text', text: step.user },
          ] };
        }
        if ('assistant' in step) return { role: 'assistant', content: step.assistant };
        return { role: 'user', content: step.results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })) };
      }),
      ...(ask.system === undefined ? {} : { system: ask.system }),
      ...(ask.tools === undefined ? {} : { tools: ask.tools.map(({ name, parameters }) => ({ name, input_schema: parameters })) }),
      ...(ask.toolChoice === undefined ? {} : { tool_choice: { type: 'any' } }),
      ...(ask.schema === undefined ? {} : { output_config: { format: { type: 'json_schema', schema: ask.schema } } }),
      ...(ask.thinkingBudget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: ask.thinkingBudget } }),
      ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
    };
    const answer: any = ask.isStream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    // A signature that came after the text is in a thinking block of its own.
    const thinking = answer.content.filter((block: any) => block.type === 'thinking');
    const words: Record<string, string> = { end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length', tool_use: 'tool_calls', refusal: 'content_filter' };
    const { usage } = answer;
    return {
      text: answer.content.filter((block: any) => block.type === 'text').map((block: any) => block.text).join(''),
      ...(thinking.length === 0 ? {} : { thinking: { text: thinking.map((block: any) => block.thinking).join(''), signature: thinking.map((block: any) => block.signature).join('') } }),
      toolCalls: answer.content.filter((block: any) => block.type === 'tool_use').map((block: any) => ({ id: block.id, name: block.name, args: block.input })),
      finish: words[answer.stop_reason] ?? String(answer.stop_reason),
      usage: { input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0), output: usage.output_tokens, cached: usage.cache_read_input_tokens ?? 0 },
      native: answer.content,
    };
  },
};

const responses: Dialect = {
  name: 'responses',
  async ask(origin, headers, ask) {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: headers });
    const body: any = {
      model: ask.model, store: false,
      input: ask.steps.flatMap((step): any[] => {
        if ('user' in step) return [{ role: 'user', content: step.image === undefined ? step.user : [{ type: 'input_text', text: step.user }, { type: 'input_image', image_url: image + step.image, detail: 'auto' }] }];
        if ('assistant' in step) return step.assistant as any[];
        return step.results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
      }),
      ...(ask.system === undefined ? {} : { instructions: ask.system }),
      ...(ask.tools === undefined ? {} : { tools: ask.tools.map((tool) => ({ type: 'function', ...tool, strict: false })) }),
      ...(ask.toolChoice === undefined ? {} : { tool_choice: ask.toolChoice }),
      ...(ask.schema === undefined ? {} : { text: { format: { type: 'json_schema', name: 'answer', schema: ask.schema, strict: true } } }),
      ...(ask.maxTokens === undefined ? {} : { max_output_tokens: ask.maxTokens }),
      ...(ask.thinkingBudget === undefined ? {} : { reasoning: { effort: 'medium', summary: 'auto' }, include: ['reasoning.encrypted_content'] }),
      ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
      ...(ask.isStream ? { stream: true } : {}),
    };
    let answer: any;
    if (ask.isStream) {
      let streamed = '';
      const stream: any = await client.responses.create(body);
      for await (const event of stream) {
        if (event.type === 'error') throw new Error(`event error: ${event.message}`);
        if (event.type === 'response.failed') throw new Error(`response.failed: ${event.response.error?.message}`);
        if (event.type === 'response.output_text.delta') streamed += event.delta;
        if (event.type === 'response.completed' || event.type === 'response.incomplete') answer = event.response;
      }
      if (answer === undefined) throw new Error('the stream ended without response.completed');
      const whole = answer.output.filter((item: any) => item.type === 'message').flatMap((item: any) => item.content).map((part: any) => part.text ?? '').join('');
      if (streamed !== whole) throw new Error(`the deltas say ${JSON.stringify(streamed)}, the end says ${JSON.stringify(whole)}`);
    } else {
      answer = await client.responses.create(body);
    }
    const reasoning = answer.output.filter((item: any) => item.type === 'reasoning');
    const calls = answer.output.filter((item: any) => item.type === 'function_call');
    const thinking = reasoning.flatMap((item: any) => [...(item.summary ?? []), ...(item.content ?? [])]).map((part: any) => part.text)[0];
    const reason = answer.incomplete_details?.reason;
    return {
      text: answer.output.filter((item: any) => item.type === 'message').flatMap((item: any) => item.content).map((part: any) => part.text ?? '').join(''),
      ...(thinking === undefined ? {} : { thinking: { text: thinking } }),
      toolCalls: calls.map((call: any) => ({ id: call.call_id, name: call.name, args: JSON.parse(call.arguments) })),
      finish: reason === 'max_output_tokens' ? 'length' : reason === 'content_filter' ? reason : calls.length > 0 ? 'tool_calls' : 'stop',
      usage: {
        input: answer.usage?.input_tokens, output: answer.usage?.output_tokens, cached: answer.usage?.input_tokens_details?.cached_tokens,
        reasoning: answer.usage?.output_tokens_details?.reasoning_tokens,
      },
      native: answer.output,
    };
  },
};

export const dialects: readonly Dialect[] = [chat, messages, responses];
