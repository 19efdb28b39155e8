import { ROUTES } from '@stagi/contract/routes.ts';
import { useEffect } from 'react';
import { Navigate, type RouteObject, useLocation } from 'react-router';
import type { PageHandle } from '../navigation/pageHandle.ts';
import { paths } from '../paths.ts';

/** Open to visitors, and a part of the demo too. */
const PUBLIC_PAGES: readonly string[] = [ROUTES.models.path, ROUTES.model.path, ROUTES.forbidden.path];

/**
 * The pages of the app for the demo: the signed-in ones and the catalogue. Other addresses leave the demo; they stand
 * outside of the layouts, which would lead who is signed in on.
 */
export function demoRoutes([root, ...others]: readonly RouteObject[]): RouteObject[] {
  const outside: RouteObject[] = [];
  const children = (root?.children ?? []).map((layout) => inside(layout, outside));
  return [{ ...root, children: [...children, ...outside] } as RouteObject, ...others];
}

function inside(route: RouteObject, outside: RouteObject[]): RouteObject {
  const children = route.children?.filter((child) => {
    const { route: page } = (child.handle as PageHandle | undefined) ?? {};
    if (!page || page.layout === 'app' || PUBLIC_PAGES.includes(page.path)) return true;
    const Component = page.path === ROUTES.home.path ? Begin : Leave;
    outside.push({ path: child.path, handle: { route: page } satisfies PageHandle, Component });
    return false;
  });
  return children ? ({ ...route, children: children.map((child) => inside(child, outside)) } as RouteObject) : route;
}

/** The demo begins where a workspace is looked after. */
const Begin = () => <Navigate to={paths.instances()} replace />;

/** The same address outside of the demo. */
function Leave() {
  const { pathname, search, hash } = useLocation();
  useEffect(() => window.location.replace(pathname + search + hash), [pathname, search, hash]);
  return null;
}
