import { describe, expect, it } from 'vitest';
import type { Db } from '../db/schema.ts';
import { findLines, MAX_SEQ } from './findLines.ts';
import { aLoggingContainer, line } from './testing/shipped.ts';

describe('searching logs', () => {
  const at = aLoggingContainer();

  it('finds lines by a regular expression, from either end, and refuses unsupported ones with a reason', async () => {
    await refusesUnsupported();
    const ship = await at.logs.open(at.container);
    await ship.print(
      ...Array.from({ length: 60 }, (_, index) => line(`step ${index + 1}: ${index % 3 === 0 ? 'ERROR' : 'ok'}`)),
    );
    await at.logs.stored(at.container, 60);
    const found = async (text: string, more = {}) =>
      (await at.logs.query(at.container, { mode: 'regex', text, ...more })).lines.map(({ seq }) => seq);
    expect(await found('^step [1-9]: error$')).toEqual([1, 4, 7]);
    expect(await found('\\b1\\d\\b.*ERROR')).toEqual([10, 13, 16, 19]);
    expect(await found('error', { limit: 2 })).toEqual([55, 58]);
    expect(await found('error', { limit: 2, cursor: { before: 55 } })).toEqual([49, 52]);
    expect(await found('error', { limit: 2, cursor: { after: 7 } })).toEqual([10, 13]);
    expect((await at.logs.query(at.container, { mode: 'regex', text: 'error', limit: 2 })).hasBefore).toBe(true);
    expect((await at.logs.query(at.container, { mode: 'regex', text: 'step 1:' })).hasBefore).toBe(false);
    expect(await found('never printed')).toEqual([]);
    await refusesUnsupported();
    await ship.daemon.close();

    /** The same before and after anything was printed. */
    async function refusesUnsupported(): Promise<void> {
      for (const [text, message] of [
        ['(', 'This regular expression is not valid'],
        ['a{2,1}', 'This regular expression is not valid'],
        ['(a)\\1', 'Back-references and look-around are not supported'],
        ['(?=a)b', 'Back-references and look-around are not supported'],
      ] as const) {
        await expect(at.logs.query(at.container, { mode: 'regex', text }), text).rejects.toMatchObject({
          status: 400,
          message,
          body: { fieldsWithError: ['text'] },
        });
      }
    }
  });

  it('finds no line of another workspace', async () => {
    const { app, alice, mallory } = at.logs;
    const ship = await at.logs.open(at.container);
    await ship.print(line('hers alone'));
    await at.logs.stored(at.container, 1);
    const everything = { like: '%', matches: null, first: 0n, last: MAX_SEQ, fromNs: null, toNs: null };
    const found = (db: Db) => findLines(db, at.container, { ...everything, forward: true, limit: 10 });
    expect((await found(app.ctx.within(alice.workspaceId))).rows).toMatchObject([{ text: 'hers alone' }]);
    expect((await found(app.ctx.within(mallory.workspaceId))).rows).toEqual([]);
    // Without a workspace no rows are visible; with "no workspace" the query is refused.
    expect((await found(app.ctx.db)).rows).toEqual([]);
    await expect(found(app.ctx.within(null))).rejects.toMatchObject({ code: '42501' });
    await ship.daemon.close();
  });
});
