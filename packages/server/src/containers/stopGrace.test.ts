import { api } from '@stagi/contract/api.ts';
import { templateFieldsOf } from '@stagi/contract/containerTemplates.ts';
import { CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readyServer } from './testing/readyServer.ts';

const MESSAGE = 'Time to stop must be a whole number of seconds from 10 to 300';

describe('the time that programs have to stop', () => {
  const { at, create, view, running } = readyServer();
  const edit = (id: number, stopGraceSeconds: number) =>
    at.alice.client(api.containers.edit, { ref: { id }, stopGraceSeconds });
  const wanted = async (id: number, fits: (seconds: number | undefined) => boolean) => {
    const found = await at.daemon.desired(({ containers }) =>
      containers.some((one) => one.id === id && fits(one.stopGraceSeconds)),
    );
    return found.containers.find((one) => one.id === id)!;
  };
  const secondsLeft = async (id: number) => {
    const { rows } = await sql<{ left: number }>`
      select extract(epoch from status_deadline - status_since)::int as left from container where id = ${id}`.execute(
      at.app.ctx.db,
    );
    return rows[0]!.left;
  };

  it.each([
    ['left out', undefined, 30],
    ['the least', 10, 10],
    ['one more', 11, 11],
    ['a minute', 60, 60],
    ['the most', 300, 300],
  ])('%s', async (_, stopGraceSeconds, expected) => {
    const { id, ...made } = await create({ stopGraceSeconds });
    expect(made.stopGraceSeconds).toBe(expected);
    expect((await wanted(id, () => true)).stopGraceSeconds).toBe(expected);
    expect(templateFieldsOf({ id, ...made })).toMatchObject({ stopGraceSeconds: expected });
  });

  it('refuses any other (n = 7)', async () => {
    const wrong = [9, 301, 0, -30, 30.5, '30', null];
    for (const value of wrong) {
      const error = await create({ stopGraceSeconds: value as number }).catch((thrown: unknown) => thrown);
      expect(error, String(value)).toBeInstanceOf(CallError);
      expect(fieldErrors(error)).toEqual({ stopGraceSeconds: MESSAGE });
    }
    console.log(`n = ${wrong.length}`);
  });

  it('is changed without recreating anything', async () => {
    const { id } = await running({ stopGraceSeconds: 20 });
    const before = await wanted(id, () => true);
    const { entity } = await edit(id, 240);
    expect(entity).toMatchObject({ stopGraceSeconds: 240, pendingEdit: null, status: 'running' });
    const { stopGraceSeconds: _, ...same } = before;
    expect(await wanted(id, (seconds) => seconds === 240)).toMatchObject({
      gen: same.gen,
      specNo: same.specNo,
      spec: same.spec,
    });
  });

  it('is given besides the time of a stop and of a restart', async () => {
    const stopped = await running({ stopGraceSeconds: 300 });
    await at.alice.client(api.containers.stop, { id: stopped.id });
    expect(await secondsLeft(stopped.id)).toBe(180 + 300);
    const restarted = await running({ stopGraceSeconds: 100 });
    await at.alice.client(api.containers.restart, { id: restarted.id });
    expect(await secondsLeft(restarted.id)).toBe(180 + 100);
    expect((await view(restarted.id)).statusDeadline).not.toBeNull();
  });

  it('is shorter at zero balance, as the server is stopped then', async () => {
    const { id } = await running({ stopGraceSeconds: 300 });
    const setExhausted = (to: string | null) =>
      sql`update workspace set exhausted_at = ${to} where id = ${at.alice.workspaceId}`.execute(at.app.ctx.db);
    await setExhausted(new Date().toISOString());
    await at.alice.client(api.containers.stop, { id });
    expect((await wanted(id, (seconds) => seconds !== 300)).stopGraceSeconds).toBe(45);
    await setExhausted(null);
  });
});
