const ESSENCE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,60}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}$/;
const CHARSET = /;\s*charset\s*=\s*"?([a-z0-9_-]{1,40})"?\s*(;|$)/i;

/** Documents and scripts that a browser would run, or read in parts of any type. */
const ACTIVE =
  /^(text\/(html|xml|xsl|(java|ecma|live|j)script[0-9.]*)|application\/(xml|(x-)?(java|ecma)script|xslt)|[^/]+\/[^/]*(xml|xhtml|html)|multipart\/.*)$/;
/** Shown by browsers and unable to run anything. An SVG runs nothing either, as the answer is sandboxed. */
const SHOWN =
  /^(image\/.+|audio\/.+|video\/.+|font\/.+|text\/.+|application\/(pdf|json|x-ndjson|ld\+json|geo\+json|zip|gzip))$/;
const SVG = 'image/svg+xml';
const BYTES = 'application/octet-stream';

/**
 * The Content-Type that an object of this stored type is answered with. What could run in a browser becomes text; what is
 * neither that nor shown becomes bytes.
 */
export function safeContentType(stored: string | undefined): string {
  const [first = ''] = (stored ?? '').split(';', 1);
  const essence = first.trim().toLowerCase();
  // Of several types in one header browsers take the last.
  if (!ESSENCE.test(essence) || stored?.includes(',')) return BYTES;
  const type = essence === SVG || !ACTIVE.test(essence) ? essence : 'text/plain';
  if (!SHOWN.test(type)) return BYTES;
  return type.startsWith('text/') ? `${type}; charset=${CHARSET.exec(stored ?? '')?.[1] ?? 'utf-8'}` : type;
}

export const isMedia = (contentType: string): boolean => /^(image|audio|video)\//.test(contentType);
