import { randomBytes } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import type { Reply } from '@stagi/contract/apiClient.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { readFile } from '../files/keep.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { badUploads, expectRefused, MB, picture, sendRawFeedback, upload, WORDS } from './testing/badUploads.ts';

describe('feedback', () => {
  let app: TestApp;
  let ada: Person;

  beforeAll(async () => {
    app = await startTestApp();
    ada = await app.signUp('Ada');
  });
  afterAll(async () => app?.close());

  const raw = (person: Person, body: unknown): Promise<Reply> => sendRawFeedback(app, person, body);
  const kept = () =>
    app.ctx.db.selectFrom('feedback').selectAll().where('user_id', '=', ada.userId).orderBy('id').execute();
  const images = async () => app.ctx.db.selectFrom('feedback_image').selectAll().orderBy('position').execute();

  it('stores the text and up to three images, re-encoded without anything else in the files', async () => {
    const photo = await sharp({ create: { width: 40, height: 20, channels: 3, background: '#084' } })
      .jpeg()
      .withExif({ IFD0: { Copyright: 'secret place' } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const polyglot = Buffer.concat([await picture('png'), Buffer.from('<script>alert(1)</script>')]);
    expect(photo.includes('Exif')).toBe(true);
    await ada.client(api.feedback.send, {
      ...WORDS,
      subject: '  It fails  ',
      description: `${WORDS.description}\0\u202e`,
      contactEmail: ' Ada@Example.com ',
      imageUploads: [
        upload(photo, 'image/jpeg', '../../etc/photo.jpg') as never,
        upload(polyglot) as never,
        // The format is detected from the bytes.
        upload(await picture('jpeg'), 'image/png') as never,
      ],
    });
    expect(await kept()).toMatchObject([{ ...WORDS, subject: 'It fails', contact_email: 'Ada@Example.com' }]);
    const stored = await images();
    expect(stored.map(({ file_name, mime_type, width, height }) => [file_name, mime_type, width, height])).toEqual([
      ['photo.jpg', 'image/jpeg', 20, 40],
      ['shot.png', 'image/png', 40, 20],
      ['shot.png', 'image/jpeg', 40, 20],
    ]);
    for (const { file_id, mime_type } of stored) {
      const content = await readFile(app.ctx, file_id!);
      for (const word of ['Exif', 'secret place', '<script>']) expect(content.includes(word)).toBe(false);
      expect(`image/${(await sharp(content).metadata()).format}`).toBe(mime_type);
    }
  });

  it.each<[Partial<Record<keyof InputOf<typeof api.feedback.send>, unknown>>, string, string]>([
    [{ topic: '' }, 'topic', 'Please choose an option'],
    [{ topic: 'Anything' }, 'topic', 'Please choose an option'],
    [{ subject: ' ' }, 'subject', 'Subject is required'],
    [{ subject: 'It fails\0' }, 'subject', 'Remove line breaks and invisible characters'],
    [{ subject: '\u3164' }, 'subject', 'Enter at least one visible character'],
    [{ subject: undefined }, 'subject', 'Subject is required'],
    [{ description: '' }, 'description', "Please provide a description of the issue you're experiencing"],
    [{ contactEmail: 'ada@' }, 'contactEmail', 'Enter a valid email'],
  ])('refuses %j under %s: %s', async (wrong, field, message) => {
    const reply = await raw(ada, { ...WORDS, ...wrong });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ fieldMessages: { [field]: message } });
  });

  it('accepts none of a corpus of bad uploads (W12)', async () => {
    const corpus = await badUploads();
    await expectRefused(app, await app.signUp('Eve'), corpus);
    console.log(`bad uploads: n = ${corpus.length}, accepted 0`);
  });

  it('accepts three images of 5 MB in one call', async () => {
    const noise = await sharp(randomBytes(1300 * 1300 * 3), { raw: { width: 1300, height: 1300, channels: 3 } })
      .png({ compressionLevel: 0 })
      .toBuffer();
    expect(noise.length).toBeGreaterThan(4.8 * MB);
    expect(noise.length).toBeLessThanOrEqual(5 * MB);
    const before = (await images()).length;
    await ada.client(api.feedback.send, { ...WORDS, imageUploads: [1, 2, 3].map(() => upload(noise) as never) });
    expect((await images()).length).toBe(before + 3);
  });

  it('reads no large body without a session, and no body above 21 MiB', async () => {
    const large = { ...WORDS, description: 'x'.repeat(2 * MB) };
    expect((await app.post(api.feedback.send.path, large)).status).toBe(401);
    const beyond = await raw(ada, { ...WORDS, description: 'x'.repeat(21 * MB) });
    expect([beyond.status, beyond.body]).toMatchObject([400, { message: 'The request is too large' }]);
  });

  it('is rate limited', async () => {
    const bob = await app.signUp('Bob');
    let last: CallError | null = null;
    let sent = 0;
    while (last === null && sent < 40) {
      sent += 1;
      last = await bob.client(api.feedback.send, WORDS).then(
        () => null,
        (error: unknown) => (error instanceof CallError ? error : Promise.reject(error)),
      );
    }
    expect([sent, last?.status]).toEqual([21, 429]);
    expect(last?.retryAfter).toBeGreaterThan(0);
  });

  it('keeps images for 180 days and the text for longer', async () => {
    const words = (await kept()).length;
    await sql`update feedback_image set created_at = now() - interval '179 days' where position > 0`.execute(
      app.ctx.db,
    );
    await sql`update feedback_image set created_at = now() - interval '181 days' where position = 0`.execute(
      app.ctx.db,
    );
    const young = (await images()).filter(({ position }) => position > 0).length;
    expect(young).toBeGreaterThan(0);
    await cleanUp(app.ctx);
    expect((await images()).map(({ position }) => position)).not.toContain(0);
    expect(await images()).toHaveLength(young);
    expect(await kept()).toHaveLength(words);
  });
});
