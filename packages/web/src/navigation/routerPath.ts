import type { Route } from '@stagi/contract/routes.ts';

/** The pattern of a route for the router: with its tab as `:tab`, or the rest of the address as `*`. */
export function routerPath({ path, tabs, rest }: Route): string {
  if (rest) return `${path}/*`;
  return tabs ? `${path}/:tab?` : path;
}
