import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES, type Route, type RouteName } from '@stagi/contract/routes.ts';
import { expect, it } from 'vitest';
import { SECTIONS } from './navigation/sections.ts';

// A page stands in several lists. Each of these tests names the list that a new page is missing from, and the page.

/** Pages below a section that its navigation does not list: they are reached from another page. */
const UNLISTED: Partial<Record<RouteName, string>> = {
  security: 'from the account page',
  sessions: 'from the account page',
  invites: 'from the team page',
  audit: 'from the team page',
};

/** Pages of the app that ask nothing before they are opened. */
const READS_NOTHING_AHEAD: Partial<Record<RouteName, string>> = {
  cloud: 'leads to another page',
  profile: 'leads to another page',
  admin: 'leads to another page',
  account: 'the profile is known to every page',
  security: 'its parts ask on their own',
  sessions: 'what is shown must be of this moment',
  audit: 'what is shown must be of this moment',
  newTask: 'what is free on servers must be of this moment',
  adminAudit: 'what is shown must be of this moment',
  adminSite: 'every page has the configuration',
};

const source = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const all = Object.entries<Route>(ROUTES) as [RouteName, Route][];
const ofApp = all.filter(([, { layout }]) => layout === 'app');
const named = (names: readonly [RouteName, Route][]) => names.map(([name]) => name);

it('routes.tsx maps every route to a page', () => {
  const map = source('routes.tsx') + source('demoApp.tsx');
  expect(named(all.filter(([name]) => !new RegExp(`ROUTES\\.${name}\\b`).test(map)))).toEqual([]);
});

it('paths.ts builds the address of every page of the app that something links to', () => {
  const addresses = source('paths.ts');
  const linked = ofApp.filter(([name]) => name !== 'admin' && !name.startsWith('admin'));
  const start = ({ path }: Route) => path.replace(/\/:.*$/, '');
  expect(named(linked.filter(([, route]) => !new RegExp(`['\`]${start(route)}['\`/?]`).test(addresses)))).toEqual([]);
});

it('sections.ts lists every page of a section, or it is said where it is reached from', () => {
  const roots = SECTIONS.map(({ under }) => under);
  const places = SECTIONS.flatMap(({ places }) => places);
  const below = ofApp.filter(
    ([, { path }]) => !path.includes(':') && roots.some((root) => path.startsWith(`${root}/`)),
  );
  expect(below.length).toBeGreaterThan(0);
  expect(named(below.filter(([name, route]) => !places.includes(route) && !UNLISTED[name]))).toEqual([]);
});

it('routeIcons.tsx has an icon for every page that navigation or palette list', () => {
  const icons = source('navigation/routeIcons.tsx');
  const listed = ofApp.filter(
    ([name, route]) => UNLISTED[name] || SECTIONS.some(({ places }) => places.includes(route)),
  );
  expect(named(listed.filter(([name]) => !new RegExp(`ROUTES\\.${name}\\.path`).test(icons)))).toEqual([]);
});

it('firstReads.ts knows what every page of the app reads first, or that it reads nothing ahead', () => {
  const reads = source('firstReads.ts');
  expect(
    named(ofApp.filter(([name]) => !new RegExp(`^  ${name}: `, 'm').test(reads) && !READS_NOTHING_AHEAD[name])),
  ).toEqual([]);
});
