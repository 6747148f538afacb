const byExtension: Readonly<Record<string, string>> = {
  png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', bmp: 'image/bmp', svg: 'image/svg+xml', avif: 'image/avif',
  heic: 'image/heic', heif: 'image/heif', tif: 'image/tiff', tiff: 'image/tiff', ico: 'image/x-icon',
};

/** Types that servers name when they do not know. */
const unspecific: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'application/binary', 'application/x-octet-stream']);

/** The type that the server names; when it does not know, that of the first bytes or else of the ending of the path. Undefined: not an image. */
export function imageTypeOf(contentType: string | undefined, bytes: Uint8Array, path: string): string | undefined {
  const named = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  // jpg is not a registered type, and strict providers refuse it.
  if (named === 'image/jpg' || named === 'image/pjpeg') return 'image/jpeg';
  if (/^image\/[a-z0-9][a-z0-9.+-]{0,63}$/.test(named)) return named;
  if (!unspecific.has(named)) return undefined;
  return byFirstBytes(bytes) ?? byExtension[/\.([a-z]{2,4})$/i.exec(path)?.[1]?.toLowerCase() ?? ''];
}

function byFirstBytes(bytes: Uint8Array): string | undefined {
  const starts = (text: string, from = 0): boolean => {
    for (let index = 0; index < text.length; index += 1) if (bytes[from + index] !== text.charCodeAt(index)) return false;
    return true;
  };
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  if (starts('BM')) return 'image/bmp';
  if (starts('ftypavif', 4)) return 'image/avif';
  if (starts('ftypheic', 4) || starts('ftypheix', 4)) return 'image/heic';
  if (starts('II*\0') || starts('MM\0*')) return 'image/tiff';
  return undefined;
}
