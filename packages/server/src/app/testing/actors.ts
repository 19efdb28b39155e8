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
import { issueEnrolment } from '../../nodes/enrolment.ts';
import { formatApiToken, newTokenSecret } from '../../secrets/apiTokenFormat.ts';
import { signAccessToken } from '../../sessions/accessToken.ts';
import type { TestApp } from '../../testing/app.ts';
import { enrolNode } from '../../testing/daemon.ts';
import { anApiToken, aSelfHostedServer } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';
import { SAMPLES } from './samples.ts';
import { aMember, type SeededWorkspace } from './seededWorkspace.ts';

/** Relative to the actor: in their own workspace, in another, or in none that exists. */
export type Where = 'own' | 'foreign' | 'absent';

export interface Cell {
  /** The workspace that X-Client-ID names. */
  workspace: Where;
  /** Whose ids the body names. */
  ids: Where;
}

/** The expected result of a cell. All refusals of one actor and call with the same reason must be equal to the byte. */
export type Verdict = { status: 401 | 403 | 404 | 400; reason: string } | 'allowed' | 'not asked';

export interface Actor {
  name: string;
  /** The seeded workspace that is theirs; the other one is foreign. */
  home: 'victim' | 'visitor';
  /** Their own workspace, if it is not `home`. */
  ownWorkspace?: number;
  authorization(call: Call): string | undefined;
  expected(call: Call, cell: Cell): Verdict;
}

/** EMPLOYEE is a flag of a person: no role of a workspace grants it. */
export const isOperatorCall = ({ auth }: Call): boolean => Array.isArray(auth) && auth.includes('EMPLOYEE');
const asksPermission = (call: Call): call is Call & { auth: readonly Permission[] } => Array.isArray(call.auth);

/** All actors who must be refused something: each of the eight kinds, in every variant. */
export async function actorsOf(app: TestApp, victim: SeededWorkspace, visitor: SeededWorkspace): Promise<Actor[]> {
  return [
    ...(await unauthenticatedActors(app, victim)),
    ...(await outsiders(app, victim, visitor)),
    ...(await insiders(app, victim)),
    ...(await tokensAndApps(app, victim, visitor)),
  ];
}

/** Actors without a valid credential. */
async function unauthenticatedActors(app: TestApp, victim: SeededWorkspace): Promise<Actor[]> {
  const { ctx } = app;
  const refused: Verdict = { status: 401, reason: 'nobody' };
  const unauthenticated = (name: string, authorization: string | undefined): Actor => ({
    name,
    home: 'victim',
    authorization: () => authorization,
    expected: () => refused,
  });
  /** A variant of an actor already covered: only a part of its cells is tried. */
  const variant = (name: string, authorization: string): Actor => ({
    ...unauthenticated(name, authorization),
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
  const madeUp = formatApiToken({ id: victim.ids.apiToken, secret: newTokenSecret() });
  const { enrolment, proof } = await daemonTokens(app, victim.owner);
  return [
    unauthenticated('anonymous', undefined),
    variant('anonymous, with a word', 'Bearer abc'),
    variant('anonymous, with a refresh token', `Bearer ${victim.owner.tokens().refreshToken}`),
    unauthenticated('expired token', `Bearer ${await expiredToken(app, victim.owner)}`),
    unauthenticated('disabled account', bearer(disabled)),
    unauthenticated('daemon token: enrolment', `Bearer ${enrolment}`),
    variant('daemon token: proof of its key', `Bearer ${proof}`),
    variant('API token, expired', `Bearer ${old.token}`),
    variant('API token, archived', `Bearer ${archived.token}`),
    variant('API token, made up', `Bearer ${madeUp}`),
  ];
}

/** Members of another workspace: nothing of the victim's is visible to them. */
async function outsiders(app: TestApp, victim: SeededWorkspace, visitor: SeededWorkspace): Promise<Actor[]> {
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
      expected: (call, cell) => outsiderVerdict(call, cell) ?? 'allowed',
    },
    {
      name: 'removed member',
      home: 'visitor',
      ownWorkspace: removed.workspaceId,
      authorization: () => bearer(removed),
      expected: (call, cell) => outsiderVerdict(call, cell) ?? 'not asked',
    },
    {
      name: 'member elsewhere, of the platform’s staff',
      home: 'visitor',
      ownWorkspace: operator.workspaceId,
      authorization: () => bearer(operator),
      // Operators may see what the operators' calls show.
      expected: (call, cell) => (isOperatorCall(call) ? 'not asked' : (outsiderVerdict(call, cell) ?? 'not asked')),
    },
  ];
}

function outsiderVerdict(call: Call, { workspace, ids }: Cell): Verdict | null {
  if (workspace !== 'own' && call.auth !== 'signed-in') return NO_WORKSPACE;
  if (isOperatorCall(call)) return NO_PERMISSION;
  if (ids !== 'own') return foreignVerdict(call);
  return null;
}

/** Members of the victim's workspace without the permission that the call needs, in the highest role that lacks it. */
async function insiders(app: TestApp, victim: SeededWorkspace): Promise<Actor[]> {
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
        // Entities of calls without a permission belong to a person: a guest may not reach the owner's.
        if (SAMPLES[call.path]?.foreign) return foreignVerdict(call);
        return workspace === 'own' && ids === 'own' && call.auth === 'member' ? 'allowed' : 'not asked';
      },
    },
  ];
}

/** API tokens and apps: each call is made with one that has every permission but the one that the call needs. */
async function tokensAndApps(app: TestApp, victim: SeededWorkspace, visitor: SeededWorkspace): Promise<Actor[]> {
  const whole = await anApiToken(app.ctx, visitor.owner);
  const narrow = new Map<string, string>();
  const narrowApp = new Map<string, string>();
  const required = new Set(
    everyCall()
      .filter((call) => call.byToken || call.byApp)
      .filter(asksPermission)
      .map(({ auth }) => auth.join()),
  );
  for (const auth of required) {
    const permissions = TOKEN_PERMISSIONS.filter((permission) => !auth.split(',').includes(permission));
    narrow.set(auth, (await anApiToken(app.ctx, victim.owner, { permissions })).token);
    narrowApp.set(auth, await anAppToken(app, victim.owner, permissions));
  }
  const tokenFor = (tokens: Map<string, string>, call: Call): string =>
    `Bearer ${(asksPermission(call) && tokens.get(call.auth.join())) || [...tokens.values()][0]}`;
  const insideExpected = (call: Call, { workspace }: Cell): Verdict => {
    if (asksPermission(call)) return workspace === 'own' ? NO_PERMISSION : NO_WORKSPACE;
    return workspace !== 'own' && call.auth !== 'signed-in' ? NO_WORKSPACE : 'not asked';
  };
  return [
    {
      name: 'API token elsewhere',
      home: 'visitor',
      authorization: () => `Bearer ${whole.token}`,
      expected: (call, cell) => (call.byToken ? (outsiderVerdict(call, cell) ?? 'allowed') : NOT_BY_TOKEN),
    },
    {
      name: 'API token here minus the permission',
      home: 'victim',
      authorization: (call) => tokenFor(narrow, call),
      expected: (call, cell) => (call.byToken ? insideExpected(call, cell) : NOT_BY_TOKEN),
    },
    {
      name: 'app here minus the permission',
      home: 'victim',
      authorization: (call) => tokenFor(narrowApp, call),
      expected: (call, cell) => (call.byToken || call.byApp ? insideExpected(call, cell) : NO_PERMISSION),
    },
  ];
}

const NO_WORKSPACE: Verdict = { status: 404, reason: 'no such workspace' };
const NO_PERMISSION: Verdict = { status: 403, reason: 'no permission' };
const NOT_BY_TOKEN: Verdict = { status: 403, reason: 'not by an API token' };

function foreignVerdict({ path }: Call): Verdict {
  const status = SAMPLES[path]?.foreign;
  return status ? { status, reason: 'not theirs, or absent' } : 'not asked';
}

const bearer = (person: Person): string => `Bearer ${person.tokens().accessToken}`;

/** An expired access token of a session that is still valid. */
async function expiredToken({ ctx }: TestApp, person: Person): Promise<string> {
  const { accessToken } = person.tokens();
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ ...decodeJwt(accessToken), iat: now - 301, exp: now - 1 })
    .setProtectedHeader(decodeProtectedHeader(accessToken) as { alg: string })
    .sign(ctx.keys.access.privateKey);
}

/** The credentials of a daemon: an enrolment token, and a proof signed with its node key. */
async function daemonTokens({ ctx, url }: TestApp, owner: Person): Promise<{ enrolment: string; proof: string }> {
  const issue = async () => issueEnrolment(ctx, ctx.db, await aSelfHostedServer(ctx, owner), 'self-hosted');
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

async function anAppToken({ ctx }: TestApp, owner: Person, permissions: Permission[]): Promise<string> {
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
