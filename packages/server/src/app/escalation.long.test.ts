import { api, everyCall } from '@stagi/contract/api.ts';
import { isReadOnly } from '@stagi/contract/audit.ts';
import { API_PREFIX, type Call } from '@stagi/contract/call.ts';
import { PERMISSIONS, ROLES, type Role } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { isOperatorCall } from './testing/actors.ts';
import { canariesIn } from './testing/canaries.ts';
import { idPaths, spreadIds, withValueAt } from './testing/idPaths.ts';
import { type RawAnswer, rawCall, withoutRequestId } from './testing/rawCall.ts';
import { postRaw } from './testing/rawRequests.ts';
import { ABSENT } from './testing/sample.ts';
import { SAMPLES } from './testing/samples.ts';
import { aMember, type SeededWorkspace, seedWorkspace } from './testing/seededWorkspace.ts';
import { changedTables, hashTables } from './testing/tableHashes.ts';

/** Attempts to gain permissions that the caller lacks: all are refused, and each is counted. */
// Hundreds of calls to a test: on a slow machine that is a minute.
describe('a privilege escalation', { timeout: 240_000 }, () => {
  let app: TestApp;
  let victim: SeededWorkspace;
  let visitor: SeededWorkspace;
  const members = new Map<Role, Person>();
  const tried = new Map<string, number>();
  const count = (kind: string): void => void tried.set(kind, (tried.get(kind) ?? 0) + 1);

  beforeAll(async () => {
    app = await startTestApp({ OAUTH_APPS: JSON.stringify([DASH]) }, { role: 'api' });
    await spreadIds(app.databaseUrl);
    victim = await seedWorkspace(app, 'victim');
    visitor = await seedWorkspace(app, 'visitor');
    for (const role of ['Admin', 'Developer', 'Billing', 'Guest'] as const) {
      const person = await app.signUp(role);
      await aMember(app, person, victim.owner.workspaceId, role);
      person.useWorkspace(victim.owner.workspaceId);
      members.set(role, person);
    }
    await app.ctx.db.updateTable('session').set({ stepped_up_at: sql<Date>`now()` }).execute();
  });
  afterAll(async () => {
    const n = [...tried.values()].reduce((sum, one) => sum + one, 0);
    console.log(
      `role escalation: n = ${n}, 0 accepted; ${[...tried].map(([kind, one]) => `${kind} ${one}`).join(', ')}`,
    );
    await app?.close();
  });

  it('is not possible by granting oneself or others a role, however it is written', async () => {
    const before = await hashTables(app.databaseUrl);
    for (const [role, person] of members) {
      const targets = [person.userId, victim.owner.userId, visitor.owner.userId, 0, -1, 2 ** 53, `${person.userId}`];
      const above = [...ROLES.slice(0, ROLES.indexOf(role)), ...WRITINGS];
      for (const userId of targets)
        for (const wanted of above) {
          // An admin may make somebody else whatever they are themselves.
          if (role === 'Admin' && wanted !== 'Owner' && ROLES.includes(wanted as Role)) continue;
          await isRefused('a role', api.clients.editMember, person, { userId, role: wanted });
        }
      for (const wanted of above) await isRefused('an invite', api.invites.create, person, { role: wanted });
      for (const extra of ['roleName', 'permissions', 'permission', 'is_employee', 'isEmployee'])
        await isRefused('a role', api.clients.editMember, person, {
          userId: victim.owner.userId,
          role: 'Guest',
          [extra]: extra.startsWith('perm') ? [...PERMISSIONS] : 'Owner',
        });
    }
    // Nor by the staff's flag: no role of a workspace has it, the owner's neither.
    for (const call of everyCall().filter(isOperatorCall))
      await isRefused('a call of staff', call, victim.owner, SAMPLES[call.path]!.input(victim.ids));
    expect(changedTables(before, await hashTables(app.databaseUrl))).toEqual([]);
  });

  it('is not possible with an API token that has more permissions than its creator', async () => {
    const { token } = await anApiToken(app.ctx, victim.owner);
    const before = await hashTables(app.databaseUrl);
    for (const [role, person] of members) {
      const { permissions: held } = await person.client(api.apiTokens.cliCheck, { clientVersion: '1.0.0' });
      const never = [
        'EMPLOYEE',
        'CLIENT_SUPERADMIN',
        'CLIENT_MANAGEMENT',
        'SSH_KEY_MANAGEMENT',
        'INVITE_USERS_TO_CLIENT',
      ];
      const beyond = PERMISSIONS.filter((permission) => !held.includes(permission) || never.includes(permission));
      expect(beyond.length, role).toBeGreaterThan(0);
      for (const permission of [
        ...beyond,
        ...beyond.map((one) => one.toLowerCase()),
        ' BILLING',
        'BILLING,EMPLOYEE',
        '*',
      ])
        for (const permissions of [[permission], ['BASIC_ACTIONS', permission], permission])
          await isRefused('a token', api.apiTokens.create, person, { description: 'more', permissions });
    }
    // A token makes none, joins nothing and touches no member.
    const calls = everyCall().filter(({ path }) =>
      /^(api-token\/(create|archive)|client\/|auth\/|user\/|ssh-key\/(add|generate|delete))/.test(path),
    );
    for (const call of calls.filter(({ auth, byToken }) => auth !== 'public' && !byToken)) {
      const answer = await rawCall(app.url, call.path, SAMPLES[call.path]!.input(victim.ids), {
        authorization: `Bearer ${token}`,
        workspace: victim.owner.workspaceId,
      });
      count('a call by token');
      expect.soft(answer.status, call.path).toBe(403);
    }
    expect(changedTables(before, await hashTables(app.databaseUrl))).toEqual([]);
  });

  it('is not possible with a workspace header that is forged, doubled, spaced, signed, huge or a list', async () => {
    const mine = visitor.owner.workspaceId;
    const theirs = victim.owner.workspaceId;
    const forged = [
      ...[theirs, `0${theirs}`, `${theirs} `, ` ${theirs}`, `+${theirs}`, `-${theirs}`, `${theirs}.0`, `${theirs}e0`],
      ...[`0x${theirs.toString(16)}`, `${mine},${theirs}`, `${theirs},${mine}`, `${mine};${theirs}`, `[${theirs}]`],
      ...[
        `{"id":${theirs}}`,
        `"${theirs}"`,
        `${theirs}\t`,
        '*',
        '0',
        '-1',
        '',
        'null',
        'NaN',
        'undefined',
        '__proto__',
      ],
      ...[
        `${2 ** 32 + theirs}`,
        `${2n ** 64n + BigInt(theirs)}`,
        '9'.repeat(15),
        '9'.repeat(400),
        `${theirs}'--`,
        `${theirs} or 1=1`,
      ],
    ].map((value) => [`X-Client-ID: ${value}`]);
    const doubled = [
      [`X-Client-ID: ${mine}`, `X-Client-ID: ${theirs}`],
      [`X-Client-ID: ${theirs}`, `X-Client-ID: ${mine}`],
      [`X-Client-ID: ${mine}`, `x-client-id: ${theirs}`],
      [`X-Client-ID: ${mine}`, ` ${theirs}`],
      [`X-Client-ID: ${mine}`, `X-Client-ID : ${theirs}`],
      [`X-Client-ID: ${theirs}`, 'X-Client-ID: '],
      [`X_Client_ID: ${theirs}`],
      [`X-Client-ID[]: ${theirs}`],
      [`X-Forwarded-Client-ID: ${theirs}`],
      [`Client-ID: ${theirs}`],
    ];
    const before = await hashTables(app.databaseUrl);
    for (const lines of [...forged, ...doubled])
      for (const call of [api.clients.members, api.billing.balance, api.clients.edit]) {
        const body = JSON.stringify(call === api.clients.edit ? { newName: 'taken' } : {});
        const answer = await postRaw(app.url, API_PREFIX + call.path, [authorizationOf(visitor.owner), ...lines], body);
        count('a header');
        // The HTTP parser itself refuses some of them.
        expect.soft([400, 404], `${lines.join(' | ')}: ${answer.text}`).toContain(answer.status);
        noCanary(answer, lines.join(' | '));
      }
    expect(changedTables(before, await hashTables(app.databaseUrl))).toEqual([]);
  });

  it('is not possible with somebody else’s id at any place of any call', async () => {
    const { email: _, containerSlug, ...things } = victim.ids;
    const ids = [...Object.values(things), victim.owner.workspaceId, victim.owner.userId];
    const calls = everyCall().filter((call) => call.auth !== 'public' && !isOperatorCall(call));
    let places = 0;
    const before = await hashTables(app.databaseUrl);
    for (const call of calls) {
      const sample = { ...(SAMPLES[call.path]!.input(visitor.ids) as object), ...INSTEAD[call.path] };
      for (const place of idPaths(call.input)) {
        places += 1;
        for (const id of place.at(-1) === 'slug' ? [containerSlug] : ids) {
          const input = withValueAt(sample, place, id);
          if (!call.input.safeParse(input).success) continue;
          const answer = await rawCall(app.url, call.path, input, as(visitor.owner));
          count('an id in the body');
          noCanary(answer, `${call.path} with ${place.join('.')} ${id}`);
          // A list may be narrowed down to it, and is as empty as for an absent one; whatever acts is refused.
          if (isReadOnly(call.path) && accepted(answer)) {
            const nobodys = withValueAt(
              sample,
              place,
              typeof id === 'number' ? 999_999_999 : place.at(-1) === 'slug' ? 'nowhere' : ABSENT.session,
            );
            const empty = await rawCall(app.url, call.path, nobodys, as(visitor.owner));
            expect.soft(withoutRequestId(answer), call.path).toBe(withoutRequestId(empty));
          } else
            expect.soft(accepted(answer), `${call.path} with ${place.join('.')} ${id}: ${answer.text}`).toBe(false);
        }
      }
    }
    expect(places).toBeGreaterThan(20);
    expect(changedTables(before, await hashTables(app.databaseUrl))).toEqual([]);
  });

  it('is not possible with fields that a call does not have', async () => {
    const { owner } = visitor;
    const before = await powersOf(owner);
    const extra = {
      userId: victim.owner.userId,
      user_id: victim.owner.userId,
      clientId: victim.owner.workspaceId,
      workspaceId: victim.owner.workspaceId,
      workspace_id: victim.owner.workspaceId,
      role: 'Owner',
      roleName: 'Owner',
      permissions: [...PERMISSIONS],
      isEmployee: true,
      is_employee: true,
      hasTestModePrivileges: true,
      has_test_mode: true,
      plan: 'Enterprise',
      subscriptionPlan: 'Enterprise',
      balance: '1000000',
      disabled_at: null,
      id: victim.ids.instance,
    };
    const calls = everyCall().filter(
      (call) =>
        call.auth !== 'public' && !isOperatorCall(call) && !ENDS.test(call.path) && call.path !== 'client/create',
    );
    for (const call of calls) {
      const sample = SAMPLES[call.path]!.input(visitor.ids) as object;
      for (const body of [
        JSON.stringify({ ...extra, ...sample }),
        JSON.stringify(sample).replace(
          /\}$/,
          `${JSON.stringify(sample) === '{}' ? '' : ','}"__proto__":${JSON.stringify(extra)}}`,
        ),
        JSON.stringify(sample).replace(
          /\}$/,
          `${JSON.stringify(sample) === '{}' ? '' : ','}"constructor":{"prototype":${JSON.stringify(extra)}}}`,
        ),
      ]) {
        const answer = await postRaw(
          app.url,
          API_PREFIX + call.path,
          [authorizationOf(owner), `X-Client-ID: ${owner.workspaceId}`, `Idempotency-Key: ${crypto.randomUUID()}`],
          body,
        );
        count('a field too many');
        expect.soft(answer.status, `${call.path}: ${answer.text}`).not.toBe(500);
        noCanary(answer, call.path);
      }
    }
    expect(await powersOf(owner)).toEqual(before);
    expect(({} as { isEmployee?: boolean }).isEmployee).toBeUndefined();
  });

  async function isRefused(kind: string, call: Call, person: Person, input: unknown): Promise<void> {
    const answer = await rawCall(app.url, call.path, input, as(person, victim.owner.workspaceId));
    count(kind);
    expect.soft(accepted(answer), `${call.path} ${JSON.stringify(input)}: ${answer.text}`).toBe(false);
  }

  /** What somebody may do, and what is theirs. */
  async function powersOf(person: Person): Promise<unknown> {
    const { rows } = await sql`
      select m.workspace_id, m.role, u.is_employee, u.has_test_mode, w.plan, w.disabled_at,
        (select sum(balance) from account where client_id = w.id) as balance,
        (select count(*) from membership o where o.workspace_id = w.id) as members
      from membership m join app_user u on u.id = m.user_id join workspace w on w.id = m.workspace_id
      where u.id = ${person.userId} order by 1`.execute(app.ctx.db);
    return rows;
  }
});

const WRITINGS = [
  'owner',
  'OWNER',
  'Owner ',
  ' Owner',
  'Ow\u200bner',
  'Оwner',
  'EMPLOYEE',
  'Superadmin',
  '',
  null,
  0,
  ['Owner'],
  { role: 'Owner' },
];

/** Refused in whatever way; a form that is refused is, too. */
function accepted({ status, text }: RawAnswer): boolean {
  return status < 400 && (JSON.parse(text) as { isSuccess?: boolean }).isSuccess === true;
}

function noCanary({ text, headers }: RawAnswer, place: string): void {
  expect.soft(canariesIn(text + JSON.stringify(headers), 'victim'), place).toEqual([]);
}

const as = (person: Person, workspace = person.workspaceId) => ({
  authorization: `Bearer ${person.tokens().accessToken}`,
  workspace,
});

const authorizationOf = (person: Person): string => `Authorization: Bearer ${person.tokens().accessToken}`;

/** The platform's own apps work wherever their person does, whatever the request says: apps of others ask here. */
const INSTEAD: Record<string, object> = {
  [api.apps.authorizationCode.path]: { client_id: 'dash', redirect_uri: 'https://dash.example/callback' },
};
const DASH = {
  clientId: 'dash',
  name: 'Dash',
  redirectUris: ['https://dash.example/callback'],
  permissions: ['BILLING'],
};

/** Calls that take something away from whoever makes them. */
const ENDS = /(delete|remove|revoke|archive|leave|terminate|disconnect|change-password)$/;
