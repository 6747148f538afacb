import { defineGuardrail, ParameterError, type Json } from '@gateway/plugin-sdk';
import { eachLimited } from '../common/request/limited.js';
import { verdictOf } from '../common/request/verdict.js';
import { ImageFetcher } from './fetcher.js';
import { replaceImages, type Image } from './images.js';

/** Different URLs of one request; the others stay and are reported. */
const urlsMax = 50;
const atOnce = 4;

export default defineGuardrail({
  title: 'Inline image URLs',
  describe: 'Fetches the images that a request names by URL and puts them into it as Base64 data, for providers that fetch none themselves.',
  stages: ['input'],
  needs: { request: 'json', changes: 'request' },
  // The fetches have their own, shorter deadline.
  timeoutMs: 120_000,
  params: {
    type: 'object',
    properties: {
      providers: { type: 'array', items: { type: 'string' }, description: 'Providers for which images are put in; empty or left out: all.' },
      maxSizeBytes: { type: 'integer', minimum: 1, maximum: 104_857_600, default: 20_971_520, description: 'Largest image, in bytes.' },
      timeoutMs: { type: 'integer', minimum: 1, maximum: 110_000, default: 30_000, description: 'Milliseconds for all images of a request.' },
      failOnError: { type: 'boolean', default: false, description: 'Fails the check when an image could not be put in; otherwise its URL stays.' },
    },
  },
  create: (params, host) => {
    const providers = new Set((params.providers ?? []).map((name, index) => {
      if (name.trim() === '') throw new ParameterError(`providers[${index}]`, 'must name a provider');
      return name.trim().toLowerCase();
    }));
    return {
      async evaluate({ exchange, json, signal }) {
        if (providers.size > 0 && !providers.has(exchange.target.provider.toLowerCase())) {
          return verdictOf(true, 'images are not put in for this provider', { imagesConverted: 0, errors: [] });
        }
        const body = json();
        const urls = new Set<string>();
        replaceImages(exchange.endpoint, body, (url) => { urls.add(url); return undefined; });
        if (urls.size === 0) return verdictOf(true, 'the request names no image by its URL', { imagesConverted: 0, errors: [] });
        const images = new Map<string, Image>();
        const fetcher = new ImageFetcher(host, params.maxSizeBytes, params.timeoutMs, signal);
        const faults = await eachLimited([...urls].slice(0, urlsMax), atOnce, async (url) => {
          try {
            images.set(url, await fetcher.fetch(url));
            return undefined;
          } catch (thrown) {
            if (signal.aborted) throw thrown;
            return { url: shown(url), error: thrown instanceof Error ? thrown.message : 'could not be fetched' };
          }
        });
        const errors: Json[] = faults.filter((fault) => fault !== undefined);
        for (const url of [...urls].slice(urlsMax)) errors.push({ url: shown(url), error: `is one of more than ${urlsMax} images` });
        if (errors.length > 0 && params.failOnError) {
          return verdictOf(false, `${errors.length} of ${urls.size} images could not be put in`, { imagesConverted: 0, errors });
        }
        let imagesConverted = 0;
        const changed = replaceImages(exchange.endpoint, body, (url) => {
          const image = images.get(url);
          if (image !== undefined) imagesConverted += 1;
          return image;
        });
        const explanation = errors.length === 0
          ? `${imagesConverted} images were put in`
          : `${imagesConverted} images were put in, and the URLs of ${errors.length} left as they are`;
        const verdict = verdictOf(true, explanation, { imagesConverted, errors });
        return changed === body ? verdict : { ...verdict, body: changed };
      },
    };
  },
});

/** Queries carry signatures. */
const shown = (url: string): string => url.split(/[?#]/, 1)[0]?.replace(/\/\/[^/@]*@/, '//').slice(0, 512) ?? '';
