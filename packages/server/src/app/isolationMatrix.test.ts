import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { everyCall } from '@stagi/contract/api.ts';
import { isReadOnly } from '@stagi/contract/audit.ts';
import { type Call, needsIdempotencyKey } from '@stagi/contract/call.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { builtDaemonEnv } from '../testing/cloudApp.ts';
import { type Actor, actorsOf, type Cell, isOperatorCall, type Where } from './testing/actors.ts';
import { canariesIn, searchFor, type Whose } from './testing/canaries.ts';
import { type RawAnswer, rawCall, withoutRequestId } from './testing/rawCall.ts';
import { ABSENT } from './testing/sample.ts';
import { SAMPLES } from './testing/samples.ts';
import { type SeededWorkspace, seedWorkspace } from './testing/seededWorkspace.ts';
import { changedTables, hashTables } from './testing/tableHashes.ts';

/**
 * The isolation matrix: every call, by every actor who must be refused, on objects of their own, of somebody else and
 * on absent ones. Two workspaces have a canary in every text: no answer may show one to an actor who may not see it. The
 * answers for somebody else's object and an absent one are equal to the byte, and a refused call changes nothing.
 */
// Thousands of calls.
describe('the walk over every call', { timeout: 240_000 }, () => {
  let folder: string;
  let app: TestApp;
  let houses: Record<Whose, SeededWorkspace>;
  let actors: Actor[];
  const counted = new Map<string, number>();
  const leaks: string[] = [];
  const guarded = everyCall().filter(({ auth }) => auth !== 'public');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stagi-matrix-'));
    // One connection: a call that needs a second one would deadlock.
    app = await startTestApp({ ...builtDaemonEnv(folder), DATABASE_CONNECTIONS: '1' }, { role: 'api' });
    const victim = await seedWorkspace(app, 'victim');
    houses = { victim, visitor: await seedWorkspace(app, 'visitor') };
    actors = await actorsOf(app, houses.victim, houses.visitor);
    // Every session is stepped up, so that the other checks are reached.
    await app.ctx.db.updateTable('session').set({ stepped_up_at: sql<Date>`now()` }).execute();
  });
  afterAll(async () => {
    const cells = [...counted.values()].reduce((sum, n) => sum + n, 0);
    const list = [...counted].map(([name, n]) => `\n  ${name}: ${n}`).join('');
    console.log(
      `isolation matrix: n = ${cells} cells over ${everyCall().length} calls, ${leaks.length} leaks; by actor:${list}`,
    );
    await app?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a sample for every call, and for no other; it says how it refuses the ids that it names', () => {
    expect(Object.keys(SAMPLES).toSorted()).toEqual(
      everyCall()
        .map(({ path }) => path)
        .toSorted(),
    );
    const silent = guarded.filter((call) => namesIds(call) && !isOperatorCall(call) && !SAMPLES[call.path]!.foreign);
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('stands between two workspaces that are full of canaries', () => {
    for (const { sown } of Object.values(houses)) {
      expect(sown.refused).toEqual([]);
      expect(sown.fields.length).toBeGreaterThan(70);
    }
    console.log(`canaries: n = ${houses.victim.sown.fields.length + houses.visitor.sown.fields.length} texts sown`);
  });

  it('refuses every actor what is not theirs, with the same answer as for absent objects, and changes nothing', async () => {
    let before = await hashTables(app.databaseUrl);
    for (const actor of actors) {
      await inParallel(guarded, async (call) => {
        const refusals = new Map<string, { cell: Cell; answer: RawAnswer }>();
        for (const cell of cellsOf(call)) {
          const verdict = actor.expected(call, cell);
          if (verdict === 'allowed' || verdict === 'not asked') continue;
          const answer = await request(actor, call, cell);
          const place = placeOf(actor, call, cell);
          expect.soft(answer.status, `${place}: ${answer.text}`).toBe(verdict.status);
          noCanary(answer, place, ['victim', 'visitor']);
          const first = refusals.get(verdict.reason);
          if (first)
            expect
              .soft(withoutRequestId(answer), `${place} and ${first.cell.ids}`)
              .toBe(withoutRequestId(first.answer));
          else refusals.set(verdict.reason, { cell, answer });
        }
      });
      const after = await hashTables(app.databaseUrl);
      expect.soft(changedTables(before, after), actor.name).toEqual([]);
      before = after;
    }
    for (const { name } of actors) expect(counted.get(name), name).toBeGreaterThan(0);
  });

  it('shows visitors nothing, and answers the same for known and unknown addresses', async () => {
    const open = everyCall().filter(({ auth }) => auth === 'public');
    for (const authorization of [undefined, `Bearer ${houses.visitor.owner.tokens().accessToken}`]) {
      const name = authorization ? 'member elsewhere, where anybody may' : 'anonymous, where anybody may';
      for (const call of open) {
        const [known, unknown] = [houses.victim.ids, ABSENT].map((ids) =>
          rawCall(app.url, call.path, SAMPLES[call.path]!.input(ids), {
            authorization,
            workspace: houses.victim.owner.workspaceId,
          }),
        );
        counted.set(name, (counted.get(name) ?? 0) + 2);
        noCanary(await known!, `${call.path} by ${name}`, ['victim', 'visitor']);
        // The second of two at once may be told to wait a second less.
        const seconds = (answer: RawAnswer) => (answer.status === 429 ? /\d+/g : MADE_FOR_ONE);
        const alike = (answer: RawAnswer) => withoutRequestId(answer).replaceAll(seconds(answer), '');
        expect.soft(alike(await known!), call.path).toBe(alike(await unknown!));
      }
    }
    expect(open.length).toBeGreaterThan(0);
  });

  it('finds nothing of somebody else’s in a search', async () => {
    const searches = guarded.filter(
      (call) => call.input.safeParse({ ...sampleOf(call, 'visitor'), ...SEARCH }).success,
    );
    const lists = searches.filter((call) => call.path.endsWith('/list') && !isOperatorCall(call));
    const actor = actors.find(({ name }) => name === ELSEWHERE)!;
    for (const call of lists) {
      const answer = await send(
        actor,
        call,
        { workspace: 'own', ids: 'own' },
        { ...sampleOf(call, 'visitor'), ...SEARCH },
      );
      noCanary(answer, `${call.path}, searched`, ['victim']);
      expect.soft(answer.status, call.path).toBe(200);
    }
    expect(lists.length).toBeGreaterThan(5);
  });

  it('requires an Idempotency-Key where something is created', async () => {
    const { owner } = houses.visitor;
    for (const call of guarded.filter((call) => needsIdempotencyKey(call.path) && !isOperatorCall(call))) {
      const reply = await app.post(call.path, sampleOf(call, 'visitor'), {
        authorization: `Bearer ${owner.tokens().accessToken}`,
        'x-client-id': String(owner.workspaceId),
      });
      expect.soft(reply.status, call.path).toBe(400);
      expect.soft(reply.body, call.path).toMatchObject({ fieldsWithError: ['Idempotency-Key'] });
    }
  });

  it('answers 403 with its own code where a step-up is required', async () => {
    const stepUpAll = (at: string) =>
      app.ctx.db
        .updateTable('session')
        .set({ stepped_up_at: sql<Date>`now() - ${at}::interval` })
        .execute();
    await stepUpAll('10 minutes 1 second');
    // The actor is no operator: to them those calls answer that they lack the permission.
    const asking = guarded.filter(({ stepUp, auth }) => stepUp && !auth.includes('EMPLOYEE'));
    const actor = actors.find(({ name }) => name === ELSEWHERE)!;
    for (const call of asking) {
      const answer = await request(actor, call, { workspace: 'own', ids: 'own' });
      expect
        .soft({ status: answer.status, ...JSON.parse(answer.text) }, call.path)
        .toMatchObject({ status: 403, code: 'step-up' });
    }
    expect(asking.length).toBeGreaterThan(0);
    await stepUpAll('0 seconds');
  });

  it('allows every actor what is theirs, and shows them nothing else', async () => {
    for (const actor of actors) {
      for (const call of guarded.toSorted((a, b) => Number(ends(a)) - Number(ends(b)))) {
        for (const cell of cellsOf(call)) {
          if (actor.expected(call, cell) !== 'allowed') continue;
          const isOwn = cell.workspace === 'own' && cell.ids === 'own';
          if (!isOwn && !isReadOnly(call.path)) continue;
          if (ends(call) && actor.name !== ELSEWHERE) continue;
          const answer = await request(actor, call, cell);
          const place = placeOf(actor, call, cell);
          expect.soft([401, 403, 500, 503], `${place}: ${answer.text}`).not.toContain(answer.status);
          // A call that names neither a workspace nor a thing may find that there is nothing of its own yet.
          if (call.auth !== 'signed-in' || SAMPLES[call.path]!.foreign)
            expect.soft(answer.status, `${place}: ${answer.text}`).not.toBe(404);
          noCanary(answer, place, [actor.home === 'victim' ? 'visitor' : 'victim']);
          // A guest sees the name of the workspace and nothing else that was written here.
          if (actor.home === 'victim')
            expect
              .soft(canariesIn(answer.text, 'victim').filter((word) => !word.startsWith('canary-v-workspace-')))
              .toEqual([]);
        }
      }
    }
  });

  const sampleOf = (call: Call, whose: Whose): object => SAMPLES[call.path]!.input(houses[whose].ids) as object;

  function cellsOf(call: Call): Cell[] {
    const cells: Cell[] = (['own', 'foreign', 'absent'] as const).map((workspace) => ({ workspace, ids: 'own' }));
    if (namesIds(call))
      cells.push(
        { workspace: 'own', ids: 'foreign' },
        { workspace: 'own', ids: 'absent' },
        { workspace: 'foreign', ids: 'foreign' },
      );
    return cells;
  }

  function request(actor: Actor, call: Call, cell: Cell): Promise<RawAnswer> {
    const ids = { own: () => houses[actor.home].ids, foreign: () => houses[other(actor)].ids, absent: () => ABSENT };
    return send(actor, call, cell, SAMPLES[call.path]!.input(ids[cell.ids]()));
  }

  function send(actor: Actor, call: Call, { workspace }: Cell, input: unknown): Promise<RawAnswer> {
    const workspaces: Record<Where, number> = {
      own: actor.ownWorkspace ?? houses[actor.home].owner.workspaceId,
      foreign: houses[other(actor)].owner.workspaceId,
      absent: 999_999_999,
    };
    counted.set(actor.name, (counted.get(actor.name) ?? 0) + 1);
    return rawCall(app.url, call.path, input, {
      authorization: actor.authorization(call),
      workspace: workspaces[workspace],
    });
  }

  function noCanary({ text, headers }: RawAnswer, place: string, whose: Whose[]): void {
    const found = whose.flatMap((one) => canariesIn(text + JSON.stringify(headers), one));
    if (found.length > 0) leaks.push(place);
    expect.soft(found, place).toEqual([]);
  }
});

const ELSEWHERE = 'member elsewhere with every permission';
/** Flows, states, challenges: whatever is drawn for one answer alone. */
const MADE_FOR_ONE = /[\w-]{20,}/g;
const SEARCH = { entityFilterRequest: { queryString: searchFor('victim') } };

const other = ({ home }: Actor): Whose => (home === 'victim' ? 'visitor' : 'victim');
const placeOf = (actor: Actor, call: Call, { workspace, ids }: Cell): string =>
  `${call.path} by ${actor.name}, workspace ${workspace}, ids ${ids}`;

/** Whether a call ends what its sample names: nothing can be asked about it afterwards. */
const ends = ({ path }: Call): boolean =>
  /(delete|remove|revoke|rotate|part-links|complete|abort|archive|leave|terminate|disconnect|change-password)$/.test(
    path,
  );

/** Whether a sample names things by their ids. */
function namesIds({ path }: Call): boolean {
  const sample = SAMPLES[path];
  const others = Object.fromEntries(
    Object.entries(ABSENT).map(([name, id]) => [name, typeof id === 'number' ? id - 1 : `x${id}`]),
  );
  return (
    sample !== undefined &&
    JSON.stringify(sample.input(ABSENT)) !== JSON.stringify(sample.input(others as unknown as typeof ABSENT))
  );
}

const AT_ONCE = 6;

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}
