import { api } from '@stagi/contract/api.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { listMembers } from './members.ts';
import { addMembers, askedMembers, everyMember } from './testing/manyMembers.ts';

const SEED = newSeed();
const MEMBERS = 240;

let app: TestApp;
let owner: Person;
let other: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [owner, other] = [await app.signUp('Olga Öz'), await app.signUp('Otto Other')];
  await addMembers(app.ctx.db, seeded(SEED), owner.workspaceId, MEMBERS);
});
afterAll(() => app?.close());

describe('the members of a workspace', () => {
  it('are shown once, page after page, however they are sorted', async () => {
    const all = await everyMember(app.ctx.db, owner.workspaceId);
    console.log(`members: n = ${all.length}, seed ${SEED}`);
    for (const orderByField of ['createdAt', 'name', 'email', 'roleName'])
      for (const orderByDirection of ['asc', 'desc'] as const) {
        const seen: number[] = [];
        for (let page = 1, pages = 1; page <= pages; page += 1) {
          const request = { orderByField, orderByDirection, page, limit: 100 };
          const { entities, totalPages } = await owner.client(api.clients.members, { entityFilterRequest: request });
          seen.push(...entities.map(({ userId }) => userId));
          pages = totalPages;
        }
        const expected = askedMembers(all, { orderByField, orderByDirection }, []);
        expect(seen, orderByField).toEqual(expected.map(({ user_id }) => user_id));
      }
  });

  it('of another workspace are found by no search', async () => {
    const request = { queryString: 'otto', orderByField: 'name', orderByDirection: 'asc' as const, page: 1, limit: 10 };
    const found = async (workspaceId: number | null) =>
      (await listMembers(app.ctx.within(workspaceId), other.workspaceId, request)).rows.map(({ user_id }) => user_id);
    expect(await found(owner.workspaceId)).toEqual([]);
    expect(await found(other.workspaceId)).toEqual([other.userId]);
    await expect(found(null)).rejects.toMatchObject({ code: '42501' });
  });

  it('are called as they call themselves from the same moment on', async () => {
    const member = await app.signUp('Before');
    await join(member, owner.workspaceId, other.workspaceId);
    await member.client(api.user.edit, { name: 'Ünal Yılmaz' });
    const moved = `moved-${member.userId}@example.com`;
    await app.ctx.db.updateTable('app_user').set({ email: moved }).where('id', '=', member.userId).execute();
    for (const workspace of [owner, other]) {
      const list = async (queryString: string) =>
        (await workspace.client(api.clients.members, { entityFilterRequest: { queryString } })).entities;
      expect(await list('ünal yı')).toMatchObject([{ userId: member.userId, name: 'Ünal Yılmaz', email: moved }]);
      expect(await list(moved)).toMatchObject([{ userId: member.userId }]);
      expect(await list('Before')).toEqual([]);
    }
  });
});

async function join({ userId }: Person, ...workspaceIds: number[]): Promise<void> {
  for (const workspace_id of workspaceIds)
    await app.ctx.db.insertInto('membership').values({ workspace_id, user_id: userId, role: 'Guest' }).execute();
}
