import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
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

const MB = 1024 * 1024;
const WORDS = { topic: 'Report an issue', subject: 'It fails', description: 'Every time' } as const;
const TOO_LARGE = 'File is too large. Max allowed size is 5MB.';
const WRONG_KIND = 'Only JPG and PNG images can be uploaded';
const UNREADABLE = 'This image cannot be read. Use a JPG or PNG of at most 40 megapixels.';
const NOT_WHOLE = 'The image upload was incomplete. Add it again.';

const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');
const picture = (format: 'png' | 'jpeg' | 'gif' | 'webp' | 'tiff') =>
  sharp({ create: { width: 40, height: 20, channels: 3, background: '#c04' } })
    .toFormat(format)
    .toBuffer();

/** A PNG of 900 megapixels in a few hundred kilobytes, created in another process so that its memory does not count here. */
function hugePng(): Buffer {
  const script = `
    const { crc32, deflateSync } = require('node:zlib');
    const chunk = (type, data) => {
      const body = Buffer.concat([Buffer.from(type), data]);
      const ends = [Buffer.alloc(4), Buffer.alloc(4)];
      ends[0].writeUInt32BE(data.length);
      ends[1].writeUInt32BE(crc32(body));
      return Buffer.concat([ends[0], body, ends[1]]);
    };
    const head = Buffer.alloc(13);
    head.writeUInt32BE(30000, 0);
    head.writeUInt32BE(30000, 4);
    head[8] = 1;
    process.stdout.write(Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head),
      chunk('IDAT', deflateSync(Buffer.alloc(30000 * 3751))), chunk('IEND', Buffer.alloc(0))]));`;
  return execFileSync(process.execPath, ['-e', script], { maxBuffer: 8 * MB });
}

/** The peak memory of this process since `resetPeakMb` (Linux). */
function peakMb(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

function resetPeakMb(): number {
  writeFileSync('/proc/self/clear_refs', '5');
  return peakMb();
}

describe('feedback', () => {
  let app: TestApp;
  let ada: Person;

  beforeAll(async () => {
    app = await startTestApp();
    ada = await app.signUp('Ada');
  });
  afterAll(async () => app?.close());

  const raw = (person: Person, body: unknown): Promise<Reply> =>
    app.post(api.feedback.send.path, body, { authorization: `Bearer ${person.tokens().accessToken}` });
  const upload = (content: Buffer | string, mimeType = 'image/png', fileName = 'shot.png') => ({
    fileName,
    mimeType,
    contentBase64: typeof content === 'string' ? content : content.toString('base64'),
  });
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
      subject: '  It fails\0  ',
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
    [{ subject: undefined }, 'subject', 'Subject is required'],
    [{ description: '' }, 'description', "Please provide a description of the issue you're experiencing"],
    [{ contactEmail: 'ada@' }, 'contactEmail', 'Enter a valid email'],
  ])('refuses %j under %s: %s', async (wrong, field, message) => {
    const reply = await raw(ada, { ...WORDS, ...wrong });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ fieldMessages: { [field]: message } });
  });

  it('accepts none of a corpus of bad uploads, in bounded memory (W12)', async () => {
    const eve = await app.signUp('Eve');
    const png = await picture('png');
    const valid = png.toString('base64');
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const html = Buffer.from('<!doctype html><script>alert(1)</script>');
    const corpus: [string, unknown[], string][] = [
      ['four images', [1, 2, 3, 4].map(() => upload(png)), 'You can upload a maximum of 3 images.'],
      ['5 MB and a byte', [upload(Buffer.concat([png, Buffer.alloc(5 * MB + 1 - png.length)]))], TOO_LARGE],
      ['HTML behind a PNG header', [upload(Buffer.concat([PNG_HEAD, html]))], UNREADABLE],
      ['HTML behind a JPG header', [upload(Buffer.concat([Buffer.from('ffd8ff', 'hex'), html]))], UNREADABLE],
      ['HTML', [upload(html)], WRONG_KIND],
      ['an SVG', [upload(svg)], WRONG_KIND],
      ['an SVG that says so', [upload(svg, 'image/svg+xml')], WRONG_KIND],
      ['an SVG behind a PNG header', [upload(Buffer.concat([PNG_HEAD, svg]))], UNREADABLE],
      ['a GIF', [upload(await picture('gif'))], WRONG_KIND],
      ['a WebP', [upload(await picture('webp'))], WRONG_KIND],
      ['a TIFF', [upload(await picture('tiff'))], WRONG_KIND],
      ['30,000 × 30,000 pixels', [upload(hugePng())], UNREADABLE],
      ['a cut PNG', [upload(png.subarray(0, png.length - 30))], UNREADABLE],
      ['nothing', [upload('')], 'The image is empty'],
      ['no content', [{ fileName: 'a.png', mimeType: 'image/png' }], 'The image is empty'],
      ['base64 with a stranger in it', [upload(`${valid.slice(0, 8)}*${valid.slice(9)}`)], NOT_WHOLE],
      ['base64 with a line break', [upload(`${valid.slice(0, 8)}\n${valid.slice(8)}`)], NOT_WHOLE],
      ['base64 without its padding', [upload(`${PNG_HEAD.toString('base64').replaceAll('=', '')}`)], NOT_WHOLE],
      ['base64 for addresses', [upload(Buffer.from('ffd8fffbff', 'hex').toString('base64url'))], NOT_WHOLE],
      ['a data address', [upload(`data:image/png;base64,${valid}`)], NOT_WHOLE],
      ['a good image and a bad one', [upload(png), upload(html)], WRONG_KIND],
    ];
    const before = (await images()).length;
    const from = resetPeakMb();
    for (const [name, imageUploads, message] of corpus) {
      const reply = await raw(eve, { ...WORDS, imageUploads });
      expect.soft([reply.status, reply.body], name).toMatchObject([400, { isSuccess: false, message }]);
      expect.soft((reply.body as { fieldsWithError: string[] }).fieldsWithError[0], name).toMatch(/^imageUploads/);
    }
    const grown = peakMb() - from;
    console.log(`bad uploads: n = ${corpus.length}, accepted 0, peak memory grew by ${Math.round(grown)} MB`);
    expect((await images()).length).toBe(before);
    expect(grown).toBeLessThan(300);
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
