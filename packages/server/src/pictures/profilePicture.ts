import { randomBytes } from 'node:crypto';
import type { api } from '@stagi/contract/api.ts';
import { API_PREFIX, type ParsedInputOf } from '@stagi/contract/call.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { keepFile, type StagedFile } from '../files/keep.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { type ReencodedImage, reencodeImage } from './reencodeImage.ts';

/** Twice the largest size that it is shown at, for high-density screens. */
const PIXELS = 256;

/** Failed attempts count too: decoding images costs more than sending them. */
const tries = createRateLimiter({ points: 20, duration: 600 });

type Upload = NonNullable<ParsedInputOf<typeof api.user.edit>['image']>;

/** Re-encodes an upload. Not to be called in a transaction: it takes long. */
export async function preparePicture(
  ctx: { config: Config; user: { id: number } },
  { contentBase64 }: Upload,
): Promise<ReencodedImage> {
  await consumePoint(tries(ctx), ctx.user.id);
  return reencodeImage(contentBase64, 'image.contentBase64', PIXELS);
}

/** Replaces the user's picture, or deletes it with `null`. Returns the new name. */
export async function storePicture(
  trx: Db,
  userId: number,
  picture: { mimeType: ReencodedImage['mimeType']; file: StagedFile } | null,
): Promise<string | null> {
  await trx.deleteFrom('user_picture').where('user_id', '=', userId).execute();
  const name = picture && randomBytes(18).toString('base64url');
  if (picture && name) {
    await keepFile(trx, picture.file);
    await trx
      .insertInto('user_picture')
      .values({ user_id: userId, name, mime_type: picture.mimeType, file_id: picture.file.id })
      .execute();
  }
  await trx.updateTable('app_user').set({ image: name }).where('id', '=', userId).execute();
  return name;
}

export const PICTURES = `${API_PREFIX}user/picture/`;

export const picturePath = (name: string): string => PICTURES + name;
