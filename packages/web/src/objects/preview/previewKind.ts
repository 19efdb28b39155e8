export type PreviewKind = 'image' | 'audio' | 'video' | 'json' | 'csv' | 'text' | 'none';

const RASTER: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
};
const TEXT = new Set(
  'txt log md markdown yaml yml toml ini cfg conf env sh bash py js mjs ts tsx jsx css html htm xml svg sql go rs c h cpp hpp java rb php r ipynb tex rst diff patch dockerfile gitignore jsonl ndjson'.split(
    ' ',
  ),
);
const BINARY = new Set(
  'zip gz tgz tar bz2 xz zst 7z rar pdf mp3 mp4 mov avi mkv wav ogg webm pt pth ckpt safetensors onnx bin npy npz parquet arrow h5 hdf5 pkl exe so dll iso img woff woff2 ttf'.split(
    ' ',
  ),
);

/** Types that say only that somebody set none. */
const UNKNOWN = ['', 'binary/octet-stream', 'application/octet-stream', 'application/x-www-form-urlencoded'];

/** How an object is shown, by its stored type, else by the end of its name. */
export function previewKind(contentType: string, key: string): PreviewKind {
  const type = essenceOf(contentType);
  const end = endOf(key);
  if (end === 'csv' || end === 'tsv' || type === 'text/csv' || type === 'text/tab-separated-values') return 'csv';
  if (!UNKNOWN.includes(type)) {
    if (type.startsWith('image/')) return 'image';
    if (type.startsWith('audio/')) return 'audio';
    if (type.startsWith('video/')) return 'video';
    if (type.startsWith('inode/')) return 'none';
    if (type === 'application/json' || type.endsWith('+json')) return 'json';
    if (type.startsWith('text/')) return 'text';
  }
  if (end in RASTER && UNKNOWN.includes(type)) return 'image';
  if (end === 'json' || end === 'geojson') return 'json';
  if (TEXT.has(end)) return 'text';
  // Anything else may be text too: its first bytes tell.
  return UNKNOWN.includes(type) && !BINARY.has(end) ? 'text' : 'none';
}

/** The type of a picture whose stored type does not tell; null: the stored one does. */
export function pictureTypeByName(contentType: string, key: string): string | null {
  return UNKNOWN.includes(essenceOf(contentType)) ? (RASTER[endOf(key)] ?? null) : null;
}

export interface ReadText {
  text: string;
  isCut: boolean;
}

/** Bytes as text, or null where they are none. The last character may be cut in two. */
export function textOf(bytes: Uint8Array, isCut: boolean): ReadText | null {
  if (bytes.includes(0)) return null;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut }), isCut };
  } catch {
    // Not UTF-8: an old encoding is shown as far as it can be, other bytes are not.
    const text = new TextDecoder('utf-8').decode(bytes);
    const unknown = text.split('\ufffd').length - 1;
    return unknown * 20 < text.length ? { text, isCut } : null;
  }
}

/** JSON with indentation; what is no JSON, or not all of it, as it stands. */
export function formattedJson({ text, isCut }: ReadText): string {
  if (isCut) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const essenceOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

function endOf(key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}
