import { isObject, type Json, type Part, type ProviderCall, type Source } from '@gateway/plugin-sdk';

const imageFormats: ReadonlyMap<string, string> = new Map([['image/png', 'png'], ['image/jpeg', 'jpeg'], ['image/jpg', 'jpeg'], ['image/gif', 'gif'], ['image/webp', 'webp']]);

const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'], ['text/csv', 'csv'], ['text/html', 'html'], ['text/plain', 'txt'], ['text/markdown', 'md'], ['application/json', 'txt'],
  ['application/msword', 'doc'], ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'], ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
]);

const videoFormats: ReadonlyMap<string, string> = new Map([
  ['video/mp4', 'mp4'], ['video/quicktime', 'mov'], ['video/x-matroska', 'mkv'], ['video/webm', 'webm'], ['video/x-flv', 'flv'],
  ['video/mpeg', 'mpeg'], ['video/mpg', 'mpg'], ['video/x-ms-wmv', 'wmv'], ['video/3gpp', 'three_gp'],
]);

const audioFormats: ReadonlySet<string> = new Set(['aac', 'flac', 'm4a', 'mka', 'mkv', 'mp3', 'mp4', 'mpeg', 'mpga', 'ogg', 'opus', 'pcm', 'wav', 'webm', 'x-aac']);
const audioByMediaType: ReadonlyMap<string, string> = new Map([['audio/mpeg', 'mp3'], ['audio/mp4', 'm4a'], ['audio/x-wav', 'wav'], ['audio/wave', 'wav']]);

const documentNameMax = 200;

/** Anthropic's `{ type: 'ephemeral', ttl: '1h' }` as Converse has it. */
export function cachePointOf(cacheControl: Json): Json {
  const ttl = isObject(cacheControl) && typeof cacheControl.ttl === 'string' ? { ttl: cacheControl.ttl } : {};
  return { cachePoint: { type: 'default', ...ttl } };
}

/** Turns content parts into blocks of Converse. One for each request: the names of documents are unique in it. */
export class ContentWriter {
  readonly #names = new Set<string>();

  constructor(readonly call: ProviderCall, readonly caches: boolean) {}

  /** The blocks of one part with its cache point. A text without a visible character gives none, for Converse refuses it. */
  blocks(part: Part): Json[] {
    const blocks = part.kind === 'text' && part.text.trim() === '' ? [] : [this.#block(part)];
    if (part.cacheControl !== undefined && blocks.length > 0) blocks.push(...this.cachePoint(part.cacheControl));
    return blocks;
  }

  /** A cache point for what is before it; none for models that do not cache on request. */
  cachePoint(cacheControl: Json): Json[] {
    if (!this.caches) {
      this.call.report('cache_control');
      return [];
    }
    return [cachePointOf(cacheControl)];
  }

  #block(part: Part): Json {
    switch (part.kind) {
      case 'text': return { text: part.text };
      case 'image': {
        if (part.detail !== undefined && part.detail !== 'auto') this.call.report('messages.content.image_url.detail');
        return this.#media(part, part.source, undefined);
      }
      case 'file': return this.#media(part, part.source, part.filename);
      case 'audio': {
        if (!audioFormats.has(part.format)) this.call.refuse(part.place, `Bedrock takes these audio formats: ${[...audioFormats].join(', ')}`);
        return { audio: { format: part.format, source: { bytes: part.data } } };
      }
    }
  }

  #media(part: Part, source: Source, filename: string | undefined): Json {
    if (source.kind === 'id') return this.call.refuse(part.place, 'Bedrock has no uploaded files; send the bytes or an s3:// address');
    const mediaType = source.mediaType ?? '';
    const image = imageFormats.get(mediaType);
    if (image !== undefined) return { image: { format: image, source: this.#source(part, source) } };
    if (part.kind === 'image') {
      this.#source(part, source);
      return this.call.refuse(part.place, 'Bedrock takes images as png, jpeg, gif or webp');
    }
    const video = videoFormats.get(mediaType);
    if (video !== undefined) return { video: { format: video, source: this.#source(part, source) } };
    if (mediaType.startsWith('audio/')) {
      const audio = audioByMediaType.get(mediaType) ?? mediaType.slice('audio/'.length);
      if (!audioFormats.has(audio)) this.call.refuse(part.place, `Bedrock takes these audio formats: ${[...audioFormats].join(', ')}`);
      return { audio: { format: audio, source: this.#source(part, source) } };
    }
    const format = documentFormats.get(mediaType) ?? (mediaType.startsWith('text/') ? 'txt' : undefined);
    if (format === undefined) return this.call.refuse(part.place, 'Bedrock takes documents as pdf, csv, doc, docx, xls, xlsx, html, txt or md; give mime_type or a filename with an extension');
    const given = filename ?? (source.kind === 'url' ? source.url.slice(source.url.lastIndexOf('/') + 1) : '');
    return { document: { format, name: this.#documentName(given), source: this.#source(part, source) } };
  }

  #source(part: Part, source: Source): Json {
    if (source.kind === 'data') return { bytes: source.data };
    if (source.kind === 'url' && source.url.startsWith('s3://')) return { s3Location: { uri: source.url } };
    return this.call.refuse(part.place, 'Bedrock fetches nothing from the web; send the bytes (data:image/png;base64,...) or an s3:// address');
  }

  /** Letters, digits, single blanks, hyphens, parentheses and square brackets are all that a name may hold. */
  #documentName(filename: string): string {
    const plain = filename.replace(/\.[A-Za-z0-9]{1,5}$/, '').replace(/[^A-Za-z0-9\s\-()[\]]+/g, '-').replace(/\s+/g, ' ').trim().slice(0, documentNameMax - 8);
    const base = plain === '' || plain === '-' ? 'document' : plain;
    let name = base;
    for (let count = 2; this.#names.has(name); count += 1) name = `${base} ${count}`;
    this.#names.add(name);
    return name;
  }
}
