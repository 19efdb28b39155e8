import { MENU } from '@stagi/contract/menu.ts';
import { holdsAny, type Permission, ROLE_PERMISSIONS, ROLES } from '@stagi/contract/permissions.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { describe, expect, it } from 'vitest';
import { SECTIONS } from '../navigation/sections.ts';
import { canOpen, isMenuItemShown, permissionsText } from './permissionChecks.ts';
import { guardRoute, type Visitor } from './routeGuard.ts';

const RENTED: Permission = 'INSTANCE_RENTED_MANAGEMENT';
const OWN: Permission = 'SELFHOSTED_INSTANCE_MANAGEMENT';

/**
 * The specification's table of section 6, and what was decided beside it, written a second time: what an address asks
 * for. The first that fits counts; whatever is not here is open to all signed-in users.
 */
const ASKED: [RegExp, readonly Permission[]][] = [
  [/^\/cloud\/(marketplace|instances|storages)(\/|$)/, [RENTED]],
  [/^\/cloud\/self-instances(\/|$)/, [OWN]],
  [/^\/cloud\/containers$/, [RENTED, OWN]],
  [/^\/cloud\/containers\/:id/, ['PROJECT_MANAGEMENT', RENTED, OWN]],
  [/^\/projects\/(:id\/)?tasks/, ['RUNNING_TASKS']],
  [/^\/projects/, ['PROJECT_MANAGEMENT']],
  [/^\/profile\/team\/audit$/, ['CLIENT_MANAGEMENT']],
  [/^\/profile\/team(\/|$)/, ['INVITE_USERS_TO_CLIENT']],
  [/^\/admin(\/|$)/, ['EMPLOYEE']],
];

const VISITORS: Record<string, Visitor> = {
  ...Object.fromEntries(ROLES.map((role) => [role, { is: 'signed-in', permissions: ROLE_PERMISSIONS[role] }])),
  'Guest of the staff': { is: 'signed-in', permissions: [...ROLE_PERMISSIONS.Guest, 'EMPLOYEE'] },
};

const routes = Object.values<Route>(ROUTES);
const asked = ({ path }: Route): readonly Permission[] => ASKED.find(([pattern]) => pattern.test(path))?.[1] ?? [];
const at = (path: string) => new URL(path.replace(':id', '1').replace(/:\w+/g, 'x'), 'http://localhost:4400');

describe('what each role finds', () => {
  it('is what its permissions open, at every address', () => {
    let cells = 0;
    for (const route of routes.filter(({ layout, public: isPublic }) => !isPublic && layout !== 'sign'))
      for (const [role, visitor] of Object.entries(VISITORS)) {
        const wanted = asked(route);
        const verdict = guardRoute(route, visitor, at(route.path));
        const place = `${role} at ${route.path}`;
        if (wanted.length === 0 || holdsAny(visitor.permissions, wanted))
          expect.soft(verdict, place).toEqual({ outcome: 'allow' });
        else {
          expect.soft(verdict, place).toMatchObject({ outcome: 'redirect', to: '/403' });
          const named = 'deniedRoute' in verdict ? [...(verdict.deniedRoute?.permissions ?? [])] : [];
          expect.soft(named.toSorted(), place).toEqual([...wanted].toSorted());
        }
        cells += 1;
      }
    console.log(`routes by role: n = ${cells}`);
    expect(cells).toBeGreaterThan(0);
  });

  it('is told apart from what visitors find, who are asked to log in', () => {
    const closed = routes.filter(({ layout, public: isPublic }) => !isPublic && layout !== 'sign');
    for (const route of closed) {
      const verdict = guardRoute(route, { is: 'anonymous', permissions: [] }, at(route.path));
      expect
        .soft(verdict, route.path)
        .toMatchObject({ outcome: 'redirect', to: expect.stringMatching(/^\/sign-in\?/) });
    }
    expect(closed.length).toBeGreaterThan(0);
  });

  it('is listed under the header exactly where it opens', () => {
    for (const { places } of SECTIONS)
      for (const [role, visitor] of Object.entries(VISITORS))
        for (const route of places) {
          const isIn = guardRoute(route, visitor, at(route.path)).outcome === 'allow';
          expect.soft(canOpen(route, visitor.permissions), `${role} at ${route.path}`).toBe(isIn);
        }
  });

  it('is in the menu greyed with its reason, hidden, or open, as section 6 gates it', () => {
    const cloud: readonly Permission[] = ['INSTANCE_RENTED', 'SELFHOSTED_INSTANCE'];
    const needs: Record<string, readonly Permission[]> = { Cloud: cloud, Projects: ['PROJECT'] };
    for (const item of MENU) {
      expect.soft(item.needs ?? [], item.name).toEqual(needs[item.name] ?? []);
      for (const [role, { permissions }] of Object.entries(VISITORS)) {
        const shown = isMenuItemShown(item, { mobile: false, anonymous: false, permissions });
        const expected = item.name === 'Blog' ? holdsAny(permissions, cloud) : !item.onlyAnonymousMobile;
        expect.soft(shown, `${role}: ${item.name}`).toBe(expected);
      }
    }
    expect(permissionsText(cloud)).toBe('INSTANCE_RENTED or SELFHOSTED_INSTANCE');
  });
});
