import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { addSshKey, aMachine, type Machine } from '../gitHosting/testing/gitClient.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { APPS_DOMAIN, aGround, aliveOf, everyRight, type Ground, type Rights } from './testing/everyRight.ts';

const MADE_BY = ['session', 'token', 'app'];
const OF_EACH = ['access key', 'share link', 'preview', 'presigned link', 'code link', 'call'];
const ALONE = ['SSH key on a server', 'git over SSH', 'git over HTTPS', 'port cookie', 'event stream'];
const every = [...MADE_BY.flatMap((by) => OF_EACH.map((what) => `${what} by ${by}`)), ...ALONE];
const but = (...gone: string[]): string[] => every.filter((name) => !gone.some((end) => name.endsWith(end)));
const kept = (...kinds: string[]): string[] => every.filter((name) => kinds.some((kind) => name.startsWith(kind)));

let app: TestApp;
let owner: Person;
let operator: Person;
/** Null: it has been disabled. */
let ground: Ground | null = null;
let member: Person;
let machine: Machine;
let rights: Rights;

beforeAll(async () => {
  app = await startTestApp({ APPS_DOMAIN });
  operator = await app.signUp('Olga');
  await makeOperator(app.ctx, operator);
});
afterAll(() => app?.close());
beforeEach(async () => {
  await markSteppedUp(app.ctx, operator);
  if (!ground) {
    owner = await app.signUp('Ada');
    ground = await aGround(app, owner);
  }
  machine = aMachine();
  member = await app.signUp('Max');
  await addSshKey(member, await machine.sshKey());
  await aMember(app, member, owner.workspaceId, 'Developer');
  member.useWorkspace(owner.workspaceId);
  rights = await everyRight(ground, member, machine);
});
afterEach(() => machine?.remove());

const demote = () => owner.client(api.clients.editMember, { userId: member.userId, role: 'Guest' });
const remove = (keepKeys: boolean) => owner.client(api.clients.removeMember, { userId: member.userId, keepKeys });
const archive = () => member.client(api.apiTokens.archive, { id: rights.tokenId });

const CAUSES: [cause: string, end: () => Promise<unknown>, alive: string[]][] = [
  ['nothing', async () => {}, every],
  ['removal', () => remove(false), []],
  ['removal, where the keys are kept', () => remove(true), kept('access key', 'share link')],
  ['demotion', demote, ['event stream']],
  ['archiving the token', archive, but('by token', 'over HTTPS')],
  [
    'expiry of the token',
    () => sql`update api_token set expires_at = clock_timestamp() where id = ${rights.tokenId}`.execute(app.ctx.db),
    but('by token', 'over HTTPS'),
  ],
  ['shutting the app out', () => member.client(api.apps.revokeConsent, { id: rights.appSession }), but('by app')],
  [
    'logging out',
    () => member.client(api.auth.logout, { refreshToken: member.tokens()!.refreshToken }),
    but(
      'preview by session',
      'presigned link by session',
      'code link by session',
      'call by session',
      'cookie',
      'stream',
    ),
  ],
  [
    'disabling the account',
    () => operator.client(api.adminUsers.disable, { id: member.userId, reason: 'why not' }),
    [],
  ],
  [
    'disabling the workspace',
    async () => {
      await operator.client(api.adminClients.disable, { id: owner.workspaceId, reason: 'why not' });
      ground = null;
    },
    [],
  ],
];

describe('what is alive after', () => {
  it.each(CAUSES)('%s', async (_, end, alive) => {
    expect(await aliveOf(rights)).toEqual(every);
    await end();
    await expect.poll(() => aliveOf(rights), { timeout: 10_000 }).toEqual(alive);
  });
});

describe('what ended with a right', () => {
  it('does not come back with it', async () => {
    await demote();
    await owner.client(api.clients.editMember, { userId: member.userId, role: 'Developer' });
    const ended = kept('access key', 'share link', 'preview', 'presigned', 'SSH key');
    expect(await aliveOf(rights)).toEqual(every.filter((name) => !ended.includes(name)));
  });

  it('goes on through a change of role that leaves the right', async () => {
    await owner.client(api.clients.editMember, { userId: member.userId, role: 'Admin' });
    expect(await aliveOf(rights)).toEqual(every);
  });

  it('is not kept by whoever removes the member later', async () => {
    await archive();
    await remove(true);
    const alive = kept('access key', 'share link').filter((name) => !name.endsWith('by token'));
    await expect.poll(() => aliveOf(rights), { timeout: 10_000 }).toEqual(alive);
  });
});
