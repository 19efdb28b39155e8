import { ROUTES } from '@stagi/contract/routes.ts';
import type { Context } from '../context.ts';
import { builtInCatalogue, readCatalogue } from './catalogue.ts';
import { findIn } from './find.ts';

/**
 * The way that the page of an address is served: as the build prerendered it from the checked-in catalogue, the same with
 * a mark that there is more by now, without data, as one that does not exist, or by sending the browser elsewhere.
 */
export type PageKind = 'prerendered' | 'outdated' | 'plain' | 'missing' | { elsewhere: string };

const MODEL = `${ROUTES.models.path}/`;

/** Of a page of the catalogue; null for other pages. */
export async function cataloguePage(
  ctx: Pick<Context, 'db' | 'log'>,
  pathname: string,
  query: URLSearchParams,
): Promise<PageKind | null> {
  if (pathname !== ROUTES.models.path && !pathname.startsWith(MODEL)) return null;
  if (pathname === MODEL) return 'plain';
  const catalogue = await readCatalogue(ctx);
  if (pathname === ROUTES.models.path) {
    const isBare = query.size === 0;
    // What operators added appears when the app has read the list; what they changed or hid must not be seen before.
    const unchanged = catalogue.filter(({ change }) => change === null);
    if (!isBare || unchanged.length !== builtInCatalogue().length) return 'plain';
    return catalogue.length === unchanged.length ? 'prerendered' : 'outdated';
  }
  const id = query.get('id')?.trim() || null;
  const byName = findIn(catalogue, { name: pathname.slice(MODEL.length) });
  const byId = id === null ? byName : findIn(catalogue, { id });
  if (byId) return byId === byName && byId.change === null ? 'prerendered' : 'plain';
  return byName ? { elsewhere: pathname } : 'missing';
}
