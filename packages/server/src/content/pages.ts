import { ROUTES } from '@stagi/contract/routes.ts';
import type { PageKind } from '../catalogue/pages.ts';
import { written } from './written.ts';

const POSTS = `${ROUTES.blog.path}/`;
/** They have addresses below their own. */
const SECTIONS = [ROUTES.docs, ROUTES.tutorials, ROUTES.blog].map(({ path }) => `${path}/`);

/** Where pages are written: nothing is read for other addresses. */
const ALL = [ROUTES.docs, ROUTES.tutorials, ROUTES.blog, ROUTES.terms, ROUTES.privacy, ROUTES.aiUse].map(
  ({ path }) => path,
);

/** Of a written page or a list of them; null for other addresses. */
export async function writtenPage(pathname: string, query: URLSearchParams): Promise<PageKind | null> {
  const path = pathname.replace(/\/$/, '');
  if (!ALL.some((place) => path === place || path.startsWith(`${place}/`))) return null;
  const content = await written();
  if (content.paths().some((page) => page.path === path)) return 'prerendered';
  if (!SECTIONS.some((section) => path.startsWith(section))) return null;
  // A post is found by its id when it got another name.
  const id = path.startsWith(POSTS) ? Number(query.get('id')) : 0;
  const post = content.list('blog', 'en').find((one) => one.id === id);
  return post ? { elsewhere: `${post.path}?id=${id}` } : 'missing';
}
