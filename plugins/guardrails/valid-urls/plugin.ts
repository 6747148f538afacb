import { defineGuardrail, type Host } from '@gateway/plugin-sdk';
import { eachLimited } from '../common/request/limited.js';
import { verdictOf } from '../common/request/verdict.js';
import { findUrls } from './urls.js';

/** URLs that one verdict asks about; the others are only counted. */
const urlsMax = 20;
const atOnce = 5;
/** For one URL. */
const probeTimeoutMs = 3000;
/** Servers may send all there is, though a byte was asked for. */
const answerBytesMax = 64 * 1024;
const deadlineMs = 15_000;

export default defineGuardrail({
  title: 'Valid URLs',
  describe: 'Passes when every URL in the text answers, or with onlyDNS has a name that resolves.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json' },
  timeoutMs: deadlineMs,
  params: {
    type: 'object',
    properties: {
      onlyDNS: { type: 'boolean', default: false, description: 'Only asks whether the host names have an address, and calls nobody.' },
      not: { type: 'boolean', default: false, description: 'Inverts the verdict.' },
    },
  },
  create: ({ onlyDNS, not }, host) => ({
    async evaluate(input) {
      const found = new Set<string>();
      for (const text of input.text()) findUrls(text, found);
      const urls = [...found].slice(0, urlsMax);
      const answers = await eachLimited(urls, atOnce, async (url) => {
        const parsed = parse(url);
        if (parsed === undefined) return false;
        return onlyDNS ? resolves(host, parsed) : probe(host, parsed, input.signal);
      });
      const validCount = answers.filter((isValid) => isValid).length;
      const invalidCount = urls.length - validCount;
      const areValid = invalidCount === 0;
      const does = onlyDNS ? 'resolve' : 'answer';
      const explanation = urls.length === 0 ? 'there is no URL, so none that is invalid'
        : areValid ? `all ${urls.length} URLs ${does}` : `${invalidCount} of ${urls.length} URLs do not ${does}`;
      return verdictOf(areValid !== not, found.size > urls.length ? `${explanation}; ${found.size - urls.length} more were not looked at` : explanation, {
        validCount, invalidCount, validationMethod: onlyDNS ? 'dns' : 'http', urlsNotChecked: found.size - urls.length,
      });
    },
  }),
});

function parse(text: string): URL | undefined {
  try {
    const url = new URL(text);
    // Credentials in a model's answer are nothing to be tried out.
    return url.username === '' && url.password === '' ? url : undefined;
  } catch {
    return undefined;
  }
}

async function resolves(host: Host, url: URL): Promise<boolean> {
  const name = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  // What was not asked is not known: a rejection makes the check err.
  return (await host.resolve(name)).length > 0;
}

/** Servers that do not know HEAD are asked with GET, for as little as possible. A redirect is an answer, and not followed. */
async function probe(host: Host, url: URL, signal: AbortSignal): Promise<boolean> {
  const ask = async (method: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    (await host.fetch({ url: url.href, method, headers: { 'user-agent': 'gateway-url-check/1.0', ...headers }, timeoutMs: probeTimeoutMs, bytesMax: answerBytesMax, isHeadEnough: true, signal })).status;
  try {
    let status = await ask('HEAD', {});
    if (status === 405 || status === 501) status = await ask('GET', { range: 'bytes=0-0' });
    return status >= 200 && status <= 399;
  } catch (thrown) {
    // Says nothing about the URL, only that nobody waits any more.
    if (signal.aborted) throw thrown;
    return false;
  }
}
