import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { keepFile, type StagedFile, withStagedFiles } from './keep.ts';

/** Rows that are read at once: an image has at most 5 MB. */
const BATCH = 8;

type Mover = Pick<Context, 'db' | 'files' | 'log'>;

/**
 * Moves what the database still holds to the store, row by row: the bytes first, then the reference in place of the
 * content. A row that was replaced or deleted meanwhile is left alone. May be killed at any moment and run twice at once.
 * Returns how many rows it moved.
 */
export async function moveIn(ctx: Mover): Promise<number> {
  return (await movePictures(ctx)) + (await moveFeedbackImages(ctx));
}

async function movePictures(ctx: Mover): Promise<number> {
  let moved = 0;
  for (let after = 0; ; ) {
    const rows = await ctx.db
      .selectFrom('user_picture')
      .select(['user_id', 'name', 'content'])
      .where('content', 'is not', null)
      .where('user_id', '>', after)
      .orderBy('user_id')
      .limit(BATCH)
      .execute();
    for (const { name, content } of rows) {
      moved += await moveOne(ctx, content!, (trx, { id }) =>
        trx
          .updateTable('user_picture')
          .set({ content: null, file_id: id })
          .where('name', '=', name)
          .where('content', 'is not', null)
          .executeTakeFirst(),
      );
    }
    const last = rows.at(-1);
    if (!last) return moved;
    after = last.user_id;
  }
}

async function moveFeedbackImages(ctx: Mover): Promise<number> {
  let moved = 0;
  for (let after = { feedback_id: 0, position: 0 }; ; ) {
    const rows = await ctx.db
      .selectFrom('feedback_image')
      .select(['feedback_id', 'position', 'content'])
      .where('content', 'is not', null)
      .where((where) =>
        where(where.refTuple('feedback_id', 'position'), '>', where.tuple(after.feedback_id, after.position)),
      )
      .orderBy('feedback_id')
      .orderBy('position')
      .limit(BATCH)
      .execute();
    for (const { feedback_id, position, content } of rows) {
      moved += await moveOne(ctx, content!, (trx, { id }) =>
        trx
          .updateTable('feedback_image')
          .set({ content: null, file_id: id })
          .where('feedback_id', '=', feedback_id)
          .where('position', '=', position)
          .where('content', 'is not', null)
          .executeTakeFirst(),
      );
    }
    const last = rows.at(-1);
    if (!last) return moved;
    after = last;
  }
}

/** Thrown to give up the staged file of a row that is no longer there to be moved. */
class RowGone extends Error {}

async function moveOne(
  ctx: Mover,
  content: Buffer,
  refer: (trx: Db, staged: StagedFile) => Promise<{ numUpdatedRows: bigint }>,
): Promise<number> {
  try {
    await withStagedFiles(ctx, [content], ([staged]) =>
      ctx.db.transaction().execute(async (trx) => {
        await keepFile(trx, staged!);
        if ((await refer(trx, staged!)).numUpdatedRows === 0n) throw new RowGone();
      }),
    );
    return 1;
  } catch (error) {
    if (error instanceof RowGone) return 0;
    throw error;
  }
}
