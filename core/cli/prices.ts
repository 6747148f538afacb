// `gateway prices`: models whose calls of the last days have no price; or, for `provider/model`, the prices of one.

import { fail } from '../errors/gateway-error.js';
import type { Rate } from '../limits/prices.js';
import { readSettings } from '../settings/read.js';
import type { ShownModel, Surroundings, UnpricedModel } from './app-contract.js';
import type { CommandWords } from './command.js';
import { plain, plainJson, tableOf } from './resource-table.js';

const daysDefault = 7;
const daysMax = 3_650;
const tokensPerPrice = 1e6;
const centsPerDollar = 100;

/** Resolves with the exit code: 1 when a model has no price. */
export async function prices(around: Surroundings, { argument, flags, options }: CommandWords): Promise<number> {
  const settings = readSettings(around.environment, around.cwd);
  const isJson = flags.has('--json');
  if (argument === undefined) {
    const days = daysOf(options.get('--days'));
    const app = await around.loadApp();
    const models = await app.unpricedModels(settings, days);
    around.out(isJson ? plainJson({ days, models }) : unpricedText(models, days));
    return 0;
  }
  const slash = argument.indexOf('/');
  const provider = argument.slice(0, slash);
  const model = argument.slice(slash + 1);
  if (slash <= 0 || model === '') throw fail('SETTINGS_INVALID', { reason: `${plain(argument)} is not the name of a model; give provider/model, such as openai/gpt-4o` });
  const app = await around.loadApp();
  const shown = await app.showModel(settings, { provider, model });
  if (shown === undefined) {
    if (isJson) around.out(JSON.stringify(null));
    around.error(`gateway: the table has no price for the model ${plain(model)} of ${plain(provider)}; calls of it cost 0 and are listed by gateway prices. Give it one as pricing_config, in the models of the integration`);
    return 1;
  }
  around.out(isJson ? plainJson(shown) : modelText(shown));
  return 0;
}

function daysOf(text: string | undefined): number {
  if (text === undefined) return daysDefault;
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1 || Number(text) > daysMax) throw fail('SETTINGS_INVALID', { reason: `--days must be a whole number from 1 to ${daysMax}, which is not so for ${JSON.stringify(text.slice(0, 32))}` });
  return Number(text);
}

function unpricedText(models: readonly UnpricedModel[], days: number): string {
  const time = `the last ${days === 1 ? 'day' : `${days} days`}`;
  if (models.length === 0) return `ok     every model that used tokens in ${time} has a price`;
  const isOne = new Set(models.map(({ organisationId }) => organisationId)).size === 1;
  const rows = models.map((each) => ({ provider: each.provider, model: each.model, calls: each.count, 'without a price': each.unpriced, tokens: each.totalTokens, last: new Date(each.lastSeenMs).toISOString(), organisation: isOne ? '' : each.organisationId }));
  const lines = tableOf(rows, ['provider', 'model', 'calls', 'without a price', 'tokens', 'last', 'organisation']);
  return `${lines}\n\n${models.length} without a price in ${time}: their calls cost 0. Give them one as pricing_config of the integration, then: gateway reprice`;
}

function modelText({ id, name, contextLength, isDeprecated, isTimely, tokens, units }: ShownModel): string {
  const rows = [
    ...Object.entries(tokens).flatMap(([kind, rate]) => (rate === undefined ? [] : rowsOf(kind, rate, tokensPerPrice, 'million'))),
    ...Object.entries(units).flatMap(([unit, rate]) => (unit.endsWith('_token') ? rowsOf(unit, rate, tokensPerPrice, 'million') : rowsOf(unit, rate, 1, 'one'))),
  ];
  const facts = [contextLength === null ? '' : `context of ${contextLength} tokens`, isDeprecated ? 'deprecated' : '', isTimely ? 'prices depend on the time of day; these are those of now' : ''].filter((fact) => fact !== '');
  return [`${id}  ${name}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`, rows.length === 0 ? 'free' : tableOf(rows, ['kind', 'us dollars', 'for', 'where'])].join('\n');
}

function rowsOf(kind: string, { price, tiers }: Rate, per: number, unit: string): object[] {
  const dollars = (cents: number): string => String(Number((cents * per / centsPerDollar).toPrecision(10)));
  return [
    { kind, 'us dollars': dollars(price), for: unit }, ...tiers.map((tier) => ({ kind, 'us dollars': dollars(tier.price), for: unit, where: `with more than ${tier.above} input tokens` })),
  ];
}
