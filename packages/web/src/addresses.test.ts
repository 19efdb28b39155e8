import { routeOf } from '@stagi/contract/routeOf.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { matchRoutes } from 'react-router';
import { expect, it } from 'vitest';
import { routerPath } from './navigation/routerPath.ts';
import { idIn } from './paths.ts';

// The server answers an address with 404 where `routeOf` knows no page, the browser where the router knows none.

const all = Object.values<Route>(ROUTES).filter(({ path }) => path !== ROUTES.kit.path);
const routes = [
  ...all.map((route) => ({ path: routerPath(route), handle: route })),
  { path: `${ROUTES.project.path}/code`, handle: ROUTES.project },
  { path: '*', handle: null },
];

/** What the browser shows: null is the not-found page. */
function shownAt(pathname: string): string | null {
  const matches = matchRoutes(routes, pathname);
  const route = matches?.at(-1)?.route.handle as Route | null | undefined;
  const { id, taskId } = matches?.at(-1)?.params ?? {};
  const areNumbers = [id, taskId].every((word) => word === undefined || idIn(word) !== null);
  return route && areNumbers ? route.path : null;
}

const filled = (path: string, number: string) =>
  path.replace(/:(id|taskId)\b/g, number).replace(/:\w+/g, 'some-word.1');

const addresses = all.flatMap(({ path }) => {
  const address = filled(path, '7');
  return [address, `${address}/`, address.toUpperCase(), `${address}/more`, `${address}/more/and/more`];
});
const noNumbers = all
  .filter(({ path }) => path.includes(':id'))
  .flatMap(({ path }) => ['0', '07', '-1', '1e3', 'x', '7x', '1234567890123456'].map((word) => filled(path, word)));
const others = [
  '/projects/7/code',
  '/projects/7/code/',
  '/projects/7/code/other',
  '/projects/7/nothing',
  '/projects/tasks',
  '/projects/tasks/create',
  '/projects/7/code/tree/main/src%2Fa.ts',
  '/profile/tokens/archive',
  '/404',
  '/foo.xml',
  '/sitemap.xml.bak',
  '/wp-login.php',
  '/Models/Some',
  '/%6dodels',
  '/models/a%2Fb',
  '/models/%E0%A4%A',
  '/index.html',
];

it('server and browser know the same addresses', () => {
  const walked = [...addresses, ...noNumbers, ...others];
  for (const address of walked) expect.soft(routeOf(address)?.path ?? null, address).toBe(shownAt(address));
  console.log(`addresses walked: n = ${walked.length}, known ${walked.filter(routeOf).length}`);
});

it('every route is found at its own address', () => {
  for (const route of all) expect.soft(routeOf(filled(route.path, '7')), route.path).toBe(route);
});

it('an id that is no number, and what no page has, is no address', () => {
  for (const address of noNumbers) expect.soft(routeOf(address), address).toBeNull();
  for (const address of ['/404', '/foo.xml', '/projects/7/nothing', '/models/a/b', '/signin', '//models'])
    expect.soft(routeOf(address), address).toBeNull();
});
