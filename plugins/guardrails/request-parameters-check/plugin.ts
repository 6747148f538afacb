import { defineGuardrail, isObject, ParameterError, type Json } from '@gateway/plugin-sdk';
import { anyValue } from '../common/request/any-value.js';
import { verdictOf } from '../common/request/verdict.js';
import { compileParameterRules } from './parameter-rules.js';
import { compileToolRules } from './tool-rules.js';
import { toolsOf } from './tools.js';

const names = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;
const values = (description: string) => ({ type: 'array', items: anyValue('Any JSON value.'), description }) as const;

export default defineGuardrail({
  title: 'Request parameters',
  describe: 'Passes when the tools and the parameters of the request are allowed, by name, by type and by value.',
  stages: ['input'],
  needs: { request: 'json' },
  params: {
    type: 'object',
    properties: {
      tools: {
        type: 'object',
        description: 'Which tools a request may bring. A list of allowed ones holds for every tool.',
        properties: {
          allowedTypes: names('Types of tools that are allowed, such as function.'),
          blockedTypes: names('Types of tools that are blocked.'),
          allowedFunctionNames: names('Names of tools that are allowed.'),
          blockedFunctionNames: names('Names of tools that are blocked.'),
        },
      },
      params: {
        type: 'object',
        description: 'Which top-level members the body may have.',
        properties: {
          allowedKeys: names('JsonObject that are allowed; with this list every other one fails, so it has to name model, messages and so on.'),
          blockedKeys: names('JsonObject that are blocked.'),
          values: {
            type: 'object',
            properties: {},
            description: 'What single members may be, by name.',
            additionalProperties: {
              type: 'object',
              properties: {
                allowedValues: values('Values that are allowed; for a list, its items.'),
                blockedValues: values('Values that are blocked; for a list, its items.'),
              },
            },
          },
        },
      },
    },
  },
  create: ({ tools, params }) => {
    const judgeTool = compileToolRules(tools ?? {});
    const judgeParameters = compileParameterRules(params ?? {});
    if (judgeTool === undefined && judgeParameters === undefined) throw new ParameterError('', 'must have rules for tools or for params; without any the check cannot fail');
    return {
      evaluate(input) {
        const body = input.json();
        if (!isObject(body)) throw new Error('the request has no JSON body whose parameters could be judged');
        const found = toolsOf(input.exchange.endpoint, body);
        const blockedToolsFound: Json[] = [];
        const sentences: string[] = [];
        for (const tool of judgeTool === undefined ? [] : found) {
          const reasons = judgeTool?.(tool) ?? [];
          if (reasons.length > 0) blockedToolsFound.push({ type: tool.type, name: tool.name, reasons });
        }
        const blockedParamsFound = judgeParameters?.(body) ?? [];
        if (blockedToolsFound.length > 0) sentences.push(`${blockedToolsFound.length} of its ${found.length} tools`);
        if (blockedParamsFound.length > 0) sentences.push(`the parameters ${[...new Set(blockedParamsFound.map(({ param }) => param))].slice(0, namesShownMax).join(', ')}`);
        const pass = sentences.length === 0;
        return verdictOf(pass, pass ? 'the tools and parameters of the request are allowed' : `the request must not have ${sentences.join(' and ')} as they are`, {
          toolsInRequest: found.map(({ name }) => name), blockedToolsFound, blockedParamsFound,
        });
      },
    };
  },
});

/** Names listed in a sentence. */
const namesShownMax = 10;
