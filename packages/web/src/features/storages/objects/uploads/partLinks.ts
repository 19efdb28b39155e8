import { api } from '@stagi/contract/api.ts';
import { call } from '../../../../api/client.ts';

const AT_ONCE = 20;
/** A link that ends sooner is not used any more. */
const LEFT_MS = 5 * 60_000;

interface Multipart {
  id: number;
  key: string;
  uploadId: string;
}

/** Presigned URLs of the missing parts, fetched some at a time. `isFresh` leaves out a link that was refused. */
export function createPartLinks(upload: Multipart, missing: readonly number[]) {
  const links = new Map<number, { link: string; until: number }>();
  return async function linkOf(partNumber: number, isFresh: boolean, signal: AbortSignal): Promise<string> {
    if (isFresh) links.delete(partNumber);
    const known = links.get(partNumber);
    if (known && known.until > Date.now()) return known.link;
    const partNumbers = missing.slice(missing.indexOf(partNumber)).slice(0, AT_ONCE);
    const asked = Date.now();
    const answer = await call(api.storages.multipartPartLinks, { ...upload, partNumbers }, { quiet: true, signal });
    // By the clock of this browser, which may differ from the server's.
    const lifetime = Math.max(0, lifetimeOf(answer.links[0]?.link) - LEFT_MS);
    for (const { partNumber: number, link } of answer.links) links.set(number, { link, until: asked + lifetime });
    const made = links.get(partNumber);
    if (!made) throw new Error(`the server gave no link for part ${partNumber}`);
    return made.link;
  };
}

const lifetimeOf = (link: string | undefined): number =>
  link === undefined ? 0 : Number(new URL(link).searchParams.get('X-Amz-Expires') ?? 0) * 1000;
