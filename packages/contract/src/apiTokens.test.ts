import { describe, expect, it } from 'vitest';
import { everyCall } from './api.ts';
import type { Permission } from './permissions.ts';
import { PERMISSIONS, TOKEN_PERMISSIONS } from './permissions.ts';

/** What programs work with. A call anywhere else that is marked for tokens must be added here by hand. */
const RESOURCES = [
  'hardware/',
  'instance-rented/',
  'self-hosted-instance/',
  'docker-container/',
  'model/',
  'storage/',
  'project/',
  'task/',
  'logging/',
];
const SINGLE = ['stream-ticket', 'billing/balance', 'ssh-key/list', 'api-token/cli/check'];

describe('the calls that an API token may make', () => {
  const calls = everyCall();
  const byToken = calls.filter((call) => call.byToken);

  it('are those about resources, and a few named others', () => {
    const elsewhere = byToken.filter(
      ({ path }) => !SINGLE.includes(path) && !RESOURCES.some((prefix) => path.startsWith(prefix)),
    );
    expect(elsewhere.map(({ path }) => path)).toEqual([]);
    console.log(`calls by token: n = ${byToken.length} of ${calls.length}`);
    expect(byToken.length).toBeGreaterThan(0);
  });

  it('each need a permission that a token can have', () => {
    const outOfReach = byToken.filter(
      ({ auth }) =>
        Array.isArray(auth) && !auth.some((permission: Permission) => TOKEN_PERMISSIONS.includes(permission)),
    );
    expect(outOfReach.map(({ path }) => path)).toEqual([]);
  });
});

it('a token never has the permissions of staff or of the administration of a workspace', () => {
  expect(PERMISSIONS.filter((permission) => !TOKEN_PERMISSIONS.includes(permission))).toEqual([
    'EMPLOYEE',
    'CLIENT_SUPERADMIN',
    'CLIENT_MANAGEMENT',
    'SSH_KEY_MANAGEMENT',
    'INVITE_USERS_TO_CLIENT',
  ]);
});
