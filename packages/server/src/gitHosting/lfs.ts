import { GitRefusal } from './refusal.ts';

/** Shown by git-lfs, over HTTP and over SSH. */
export const NO_LFS = 'Git LFS is not supported yet: keep large files in a storage';
/** The media type that git-lfs asks for and reads (its docs/api). */
export const LFS_JSON = 'application/vnd.git-lfs+json';

const PATH = /^\/git\/([1-9][0-9]{0,9})\/([a-z0-9](?:-?[a-z0-9]){2,39})\.git\/info\/lfs(?:\/|$)/;

/** The project whose batch or locking API a request is for; null: it is no request of git-lfs. */
export function lfsProjectOf(url: string): { clientId: number; slug: string } | null {
  const [, clientId, slug] = PATH.exec(url.split('?', 1)[0] ?? '') ?? [];
  return slug ? { clientId: Number(clientId), slug } : null;
}

/** A client takes 501 of the locking API to mean that there are no locks, and pushes. */
export const noLfs = (): GitRefusal => new GitRefusal(501, NO_LFS);
