import { randomBytes } from 'node:crypto';
import type { api } from '@stagi/contract/api.ts';
import { API_PREFIX, type ParsedInputOf } from '@stagi/contract/call.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/schema.ts';
import { limiterOf, takePoint } from '../http/takePoint.ts';
import { type DrawnImage, redraw } from '../images/redraw.ts';

/** Sharp at twice the largest size it is shown at. */
const PIXELS = 256;

/** A try counts, not only what was kept: looking at images takes more than sending them. */
const tries = limiterOf({ points: 20, duration: 600 });

type Upload = NonNullable<ParsedInputOf<typeof api.user.edit>['image']>;

/** What becomes of an upload; takes long, so no transaction waits for it. */
export async function drawPicture(
  ctx: { config: Config; user: { id: number } },
  { contentBase64 }: Upload,
): Promise<DrawnImage> {
  await takePoint(tries(ctx), ctx.user.id);
  return redraw(contentBase64, 'image.contentBase64', PIXELS);
}

/** Keeps somebody's picture, or none, in place of the one before. Answers its new name. */
export async function keepPicture(trx: Db, userId: number, picture: DrawnImage | null): Promise<string | null> {
  await trx.deleteFrom('user_picture').where('user_id', '=', userId).execute();
  const name = picture && randomBytes(18).toString('base64url');
  if (picture && name) {
    await trx
      .insertInto('user_picture')
      .values({ user_id: userId, name, mime_type: picture.mimeType, content: picture.content })
      .execute();
  }
  await trx.updateTable('app_user').set({ image: name }).where('id', '=', userId).execute();
  return name;
}

export const PICTURES = `${API_PREFIX}user/picture/`;

export const picturePath = (name: string): string => PICTURES + name;
