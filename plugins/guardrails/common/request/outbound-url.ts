import { ParameterError } from '@gateway/plugin-sdk';

/** An http or https address of the config, checked before any call; whether it may be reached is the host's policy. */
export function readUrl(text: string, path: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ParameterError(path, 'must be a whole URL, such as https://example.com/check');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new ParameterError(path, 'must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') throw new ParameterError(path, 'must not carry a user name or password; send them in a header');
  return url;
}
