import { randomUUID } from 'node:crypto';
import { everyCall } from '@stagi/contract/api.ts';
import type { Call } from '@stagi/contract/call.ts';
import { LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import {
  holdsAny,
  type Permission,
  ROLE_PERMISSIONS,
  ROLES,
  type Role,
  TOKEN_PERMISSIONS,
} from '@stagi/contract/permissions.ts';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { signAccessToken } from '../../auth/accessToken.ts';
import { issueEnrolment } from '../../daemon-link/enrolment.ts';
import { newSecret, writeApiToken } from '../../secrets/apiToken.ts';
import type { TestApp } from '../../testing/app.ts';
import { enrolNode } from '../../testing/daemon.ts';
import { anApiToken, anOwnServer } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';
import { aMember, type Household } from './household.ts';
import { SAMPLES } from './samples.ts';

/** Seen from where an actor stands: in the workspace of their own, in somebody else's, in none that exists. */
export type Where = 'own' | 'foreign' | 'absent';

export interface Cell {
  /** The workspace that X-Client-ID names. */
  workspace: Where;
  /** Whose ids the body names. */
  ids: Where;
}

/** Why a cell is refused: all refusals of one actor and call with the same reason must not differ by a byte. */
export type Verdict = { status: 401 | 403 | 404 | 400; reason: string } | 'allowed' | 'not asked';

export interface Actor {
  name: string;
  /** Where they stand; the other one is foreign to them. */
  home: 'victim' | 'visitor';
  /** The workspace of their own, where it is not that of `home`. */
  ownWorkspace?: number;
  authorization(call: Call): string | undefined;
  expected(call: Call, cell: Cell): Verdict;
}

/** EMPLOYEE is a flag of a person: no role of a workspace grants it. */
export const isStaffs = ({ auth }: Call): boolean => Array.isArray(auth) && auth.includes('EMPLOYEE');
const asksPermission = (call: Call): call is Call & { auth: readonly Permission[] } => Array.isArray(call.auth);

/** Everybody who must be refused something: each of the eight kinds, in every form that it comes in. */
export async function actorsOf(app: TestApp, victim: Household, visitor: Household): Promise<Actor[]> {
  return [
    ...(await nobodies(app, victim)),
    ...(await outsiders(app, victim, visitor)),
    ...(await insiders(app, victim)),
    ...(await programs(app, victim, visitor)),
  ];
}

/** Those whom no credential lets in. */
async function nobodies(app: TestApp, victim: Household): Promise<Actor[]> {
  const { ctx } = app;
  const refused: Verdict = { status: 401, reason: 'nobody' };
  const nobody = (name: string, authorization: string | undefined): Actor => ({
    name,
    home: 'victim',
    authorization: () => authorization,
    expected: () => refused,
  });
  /** Another way to be the same nobody: about their own and about what is foreign is enough. */
  const likewise = (name: string, authorization: string): Actor => ({
    ...nobody(name, authorization),
    expected: (_, { workspace, ids }) => (workspace !== 'absent' && workspace === ids ? refused : 'not asked'),
  });
  const disabled = await app.signUp('Disabled');
  await aMember(app, disabled, victim.owner.workspaceId, 'Owner');
  await ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', disabled.userId).execute();
  const old = await anApiToken(ctx, victim.owner, { expiresAt: new Date(Date.now() - 60_000) });
  const archived = await anApiToken(ctx, victim.owner);
  await ctx.db
    .updateTable('api_token')
    .set({ archived_at: new Date(), archived_by: 'archived' })
    .where('id', '=', archived.id)
    .execute();
  const madeUp = writeApiToken({ id: victim.ids.apiToken, secret: newSecret() });
  const { enrolment, proof } = await daemonTokens(app, victim.owner);
  return [
    nobody('anonymous', undefined),
    likewise('anonymous, with a word', 'Bearer abc'),
    likewise('anonymous, with a refresh token', `Bearer ${victim.owner.tokens().refreshToken}`),
    nobody('expired token', `Bearer ${await expiredToken(app, victim.owner)}`),
    nobody('disabled account', bearer(disabled)),
    nobody('daemon token: enrolment', `Bearer ${enrolment}`),
    likewise('daemon token: proof of its key', `Bearer ${proof}`),
    likewise('API token, expired', `Bearer ${old.token}`),
    likewise('API token, archived', `Bearer ${archived.token}`),
    likewise('API token, made up', `Bearer ${madeUp}`),
  ];
}

/** Whole members of another workspace: nothing of the victim's is there for them. */
async function outsiders(app: TestApp, victim: Household, visitor: Household): Promise<Actor[]> {
  const removed = await app.signUp('Removed');
  await aMember(app, removed, victim.owner.workspaceId, 'Owner');
  await app.ctx.db
    .deleteFrom('membership')
    .where('user_id', '=', removed.userId)
    .where('workspace_id', '=', victim.owner.workspaceId)
    .execute();
  const operator = await app.signUp('Operator');
  await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', operator.userId).execute();
  return [
    {
      name: 'member elsewhere with every permission',
      home: 'visitor',
      authorization: () => bearer(visitor.owner),
      expected: (call, cell) => asOutsider(call, cell) ?? 'allowed',
    },
    {
      name: 'removed member',
      home: 'visitor',
      ownWorkspace: removed.workspaceId,
      authorization: () => bearer(removed),
      expected: (call, cell) => asOutsider(call, cell) ?? 'not asked',
    },
    {
      name: 'member elsewhere, of the platform’s staff',
      home: 'visitor',
      ownWorkspace: operator.workspaceId,
      authorization: () => bearer(operator),
      // What staff may see is for them to see.
      expected: (call, cell) => (isStaffs(call) ? 'not asked' : (asOutsider(call, cell) ?? 'not asked')),
    },
  ];
}

function asOutsider(call: Call, { workspace, ids }: Cell): Verdict | null {
  if (workspace !== 'own' && call.auth !== 'signed-in') return NO_WORKSPACE;
  if (isStaffs(call)) return NO_PERMISSION;
  if (ids !== 'own') return notTheirs(call);
  return null;
}

/** Members of the victim's workspace who lack what the call asks for: those of the mightiest role without it. */
async function insiders(app: TestApp, victim: Household): Promise<Actor[]> {
  const members = new Map<Role, Person>([['Owner', victim.owner]]);
  for (const role of ['Admin', 'Developer', 'Billing', 'Guest'] as const) {
    const person = await app.signUp(role);
    await aMember(app, person, victim.owner.workspaceId, role);
    members.set(role, person);
  }
  const roleFor = (call: Call): Role =>
    asksPermission(call) ? (ROLES.find((role) => !holdsAny(ROLE_PERMISSIONS[role], call.auth)) ?? 'Guest') : 'Guest';
  return [
    {
      name: 'member here without the permission',
      home: 'victim',
      authorization: (call) => bearer(members.get(roleFor(call))!),
      expected(call, { workspace, ids }) {
        if (asksPermission(call)) return workspace === 'own' ? NO_PERMISSION : NO_WORKSPACE;
        if (workspace !== 'own' && call.auth !== 'signed-in') return NO_WORKSPACE;
        if (SAMPLES[call.path]?.asksThere && ids === 'own') return NO_PERMISSION;
        // What a call without a permission names is a person's own: the owner's is as foreign to a guest.
        if (SAMPLES[call.path]?.foreign) return notTheirs(call);
        return workspace === 'own' && ids === 'own' && call.auth === 'member' ? 'allowed' : 'not asked';
      },
    },
  ];
}

/** API tokens and apps: each call is asked with one that carries everything but what the call needs. */
async function programs(app: TestApp, victim: Household, visitor: Household): Promise<Actor[]> {
  const whole = await anApiToken(app.ctx, visitor.owner);
  const narrow = new Map<string, string>();
  const narrowApp = new Map<string, string>();
  const wishes = new Set(
    everyCall()
      .filter((call) => call.byToken || call.byApp)
      .filter(asksPermission)
      .map(({ auth }) => auth.join()),
  );
  for (const wish of wishes) {
    const permissions = TOKEN_PERMISSIONS.filter((permission) => !wish.split(',').includes(permission));
    narrow.set(wish, (await anApiToken(app.ctx, victim.owner, { permissions })).token);
    narrowApp.set(wish, await anAppsToken(app, victim.owner, permissions));
  }
  const tokenFor = (tokens: Map<string, string>, call: Call): string =>
    `Bearer ${(asksPermission(call) && tokens.get(call.auth.join())) || [...tokens.values()][0]}`;
  const within = (call: Call, { workspace }: Cell): Verdict => {
    if (asksPermission(call)) return workspace === 'own' ? NO_PERMISSION : NO_WORKSPACE;
    return workspace !== 'own' && call.auth !== 'signed-in' ? NO_WORKSPACE : 'not asked';
  };
  return [
    {
      name: 'API token elsewhere',
      home: 'visitor',
      authorization: () => `Bearer ${whole.token}`,
      expected: (call, cell) => (call.byToken ? (asOutsider(call, cell) ?? 'allowed') : NOT_BY_TOKEN),
    },
    {
      name: 'API token here minus the permission',
      home: 'victim',
      authorization: (call) => tokenFor(narrow, call),
      expected: (call, cell) => (call.byToken ? within(call, cell) : NOT_BY_TOKEN),
    },
    {
      name: 'app here minus the permission',
      home: 'victim',
      authorization: (call) => tokenFor(narrowApp, call),
      expected: (call, cell) => (call.byToken || call.byApp ? within(call, cell) : NO_PERMISSION),
    },
  ];
}

const NO_WORKSPACE: Verdict = { status: 404, reason: 'no such workspace' };
const NO_PERMISSION: Verdict = { status: 403, reason: 'no permission' };
const NOT_BY_TOKEN: Verdict = { status: 403, reason: 'not by an API token' };

function notTheirs({ path }: Call): Verdict {
  const status = SAMPLES[path]?.foreign;
  return status ? { status, reason: 'not theirs, or absent' } : 'not asked';
}

const bearer = (person: Person): string => `Bearer ${person.tokens().accessToken}`;

/** A token of a session that lives on, as it is five minutes later. */
async function expiredToken({ ctx }: TestApp, person: Person): Promise<string> {
  const { accessToken } = person.tokens();
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ ...decodeJwt(accessToken), iat: now - 301, exp: now - 1 })
    .setProtectedHeader(decodeProtectedHeader(accessToken) as { alg: string })
    .sign(ctx.keys.access.privateKey);
}

/** What a daemon has to show for itself: the file it enrols with, and the word it signs with its key. */
async function daemonTokens({ ctx, url }: TestApp, owner: Person): Promise<{ enrolment: string; proof: string }> {
  const issue = async () => issueEnrolment(ctx, ctx.db, await anOwnServer(ctx, owner), 'self-hosted');
  const { token: enrolment } = await issue();
  const key = await enrolNode(url, (await issue()).token);
  const proof = await new SignJWT({ nonce: randomUUID() })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setAudience(LINK_AUDIENCE)
    .setSubject(key.node)
    .setExpirationTime('60s')
    .sign(key.privateKey);
  return { enrolment, proof };
}

async function anAppsToken({ ctx }: TestApp, owner: Person, permissions: Permission[]): Promise<string> {
  const id = randomUUID();
  await ctx.db
    .insertInto('session')
    .values({
      id,
      user_id: owner.userId,
      auth_type: 'email',
      app_id: 'stagi-cli',
      app_permissions: permissions,
      app_workspace_id: owner.workspaceId,
      expires_at: new Date(Date.now() + 86_400_000),
    })
    .execute();
  return signAccessToken(ctx.keys.access, owner.userId, id);
}
