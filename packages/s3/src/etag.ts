import { createHash, type Hash } from 'node:crypto';

/** S3's ETags are MD5 hashes, which clients compare with their own. Nothing that has to be safe rests on them. */
export const etagHash = (): Hash => createHash('md5');

/** The ETag of an object made of parts: the MD5 of the parts' MD5s, and their number. */
export function multipartEtag(parts: readonly { etag: string }[]): string {
  const hash = etagHash();
  for (const { etag } of parts) hash.update(Buffer.from(etag, 'hex'));
  return `${hash.digest('hex')}-${parts.length}`;
}
