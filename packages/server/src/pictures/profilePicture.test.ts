import { crc32 } from 'node:zlib';
import { api } from '@stagi/contract/api.ts';
import type { Reply } from '@stagi/contract/apiClient.ts';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFile } from '../files/keep.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';

const MB = 1024 * 1024;
const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');
const TOO_LARGE = 'File is too large. Max allowed size is 5MB.';
const WRONG_KIND = 'Only JPG and PNG images can be uploaded';
const UNREADABLE = 'This image cannot be read. Use a JPG or PNG of at most 40 megapixels.';

const picture = (format: 'png' | 'jpeg' | 'gif' | 'webp' | 'tiff', background = '#c04') =>
  sharp({ create: { width: 400, height: 200, channels: 3, background } })
    .toFormat(format)
    .toBuffer();

describe('one’s picture', () => {
  let app: TestApp;
  let ada: Person;
  beforeAll(async () => {
    app = await startTestApp();
    ada = await app.signUp('Ada');
  });
  afterAll(() => app?.close());

  const edit = (person: Person, image: unknown): Promise<Reply> =>
    app.post('user/edit', { image }, { authorization: `Bearer ${person.tokens().accessToken}` });
  const upload = (content: Buffer, mimeType = 'image/png') => ({
    fileName: 'me',
    mimeType,
    contentBase64: content.toString('base64'),
  });
  const imageOf = async (person: Person) => (await person.client(api.user.profile, {})).userProfile.image;
  const stored = (person: Person) =>
    app.ctx.db.selectFrom('user_picture').selectAll().where('user_id', '=', person.userId).execute();

  it('is re-encoded as a small square without metadata, and served so that browsers do not show it as a page', async () => {
    const photo = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#084' } })
      .jpeg()
      .withExif({ IFD0: { Copyright: 'secret place' } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    expect(photo.includes('Exif')).toBe(true);
    const reply = await edit(
      ada,
      upload(Buffer.concat([photo, Buffer.from('<script>alert(1)</script>')]), 'image/jpeg'),
    );
    expect(reply.status).toBe(200);
    const path = (await imageOf(ada)) ?? '';
    expect(path).toMatch(/^\/frontend-api\/user\/picture\/[\w-]{24}$/);
    const served = await fetch(app.url + path);
    expect(served.status).toBe(200);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'content-disposition': 'attachment; filename="picture"',
      'cache-control': 'private, max-age=31536000, immutable',
    });
    const content = Buffer.from(await served.arrayBuffer());
    expect(await sharp(content).metadata()).toMatchObject({ format: 'jpeg', width: 256, height: 256 });
    for (const word of ['Exif', 'secret place', '<script>']) expect(content.includes(word)).toBe(false);
  });

  it('replaces the one before, which is deleted, and can be removed', async () => {
    await edit(ada, upload(await picture('png')));
    const before = (await imageOf(ada)) ?? '';
    await edit(ada, upload(await picture('png', '#0c4')));
    const after = (await imageOf(ada)) ?? '';
    expect(after).not.toBe(before);
    expect((await fetch(app.url + before)).status).toBe(404);
    expect((await fetch(app.url + after)).headers.get('content-type')).toBe('image/png');
    // Changing something else keeps it.
    await ada.client(api.user.edit, { name: 'Ada L.' });
    expect(await imageOf(ada)).toBe(after);
    expect((await edit(ada, null)).status).toBe(200);
    expect(await imageOf(ada)).toBeNull();
    expect(await stored(ada)).toEqual([]);
    expect((await fetch(app.url + after)).status).toBe(404);
  });

  it('keeps transparency, and only the first frame of an animation', async () => {
    const clear = await sharp({
      create: { width: 64, height: 64, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    })
      .png()
      .toBuffer();
    await edit(ada, upload(animated(clear)));
    const [row] = await stored(ada);
    const content = await readFile(app.ctx, row!.file_id!);
    expect(content.includes('acTL')).toBe(false);
    const { data } = await sharp(content).raw().toBuffer({ resolveWithObject: true });
    expect(data[3]).toBe(0);
  });

  it('accepts none of a corpus of bad uploads, and keeps the one before', async () => {
    const eve = await app.signUp('Eve');
    await edit(eve, upload(await picture('png')));
    const before = await stored(eve);
    const png = await picture('png');
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const html = Buffer.from('<!doctype html><script>alert(1)</script>');
    const corpus: [string, unknown, string][] = [
      ['an SVG', upload(svg), WRONG_KIND],
      ['an SVG that says so', upload(svg, 'image/svg+xml'), WRONG_KIND],
      ['an SVG behind a PNG header', upload(Buffer.concat([PNG_HEAD, svg])), UNREADABLE],
      ['HTML behind a PNG header', upload(Buffer.concat([PNG_HEAD, html])), UNREADABLE],
      ['HTML', upload(html), WRONG_KIND],
      ['an animated GIF', upload(await picture('gif')), WRONG_KIND],
      ['a WebP', upload(await picture('webp')), WRONG_KIND],
      ['a TIFF', upload(await picture('tiff')), WRONG_KIND],
      ['a cut PNG', upload(png.subarray(0, png.length - 30)), UNREADABLE],
      ['5 MB and a byte', upload(Buffer.concat([png, Buffer.alloc(5 * MB + 1 - png.length)])), TOO_LARGE],
      ['an address elsewhere', 'https://evil.example/me.png', 'image must be an object'],
      [
        'a data address',
        { ...upload(png), contentBase64: `data:image/png;base64,${png.toString('base64')}` },
        'The image upload was incomplete. Add it again.',
      ],
      ['nothing', { ...upload(png), contentBase64: '' }, 'The image is empty'],
    ];
    let accepted = 0;
    for (const [name, image, message] of corpus) {
      const reply = await edit(eve, image);
      if (reply.status === 200) accepted += 1;
      expect([name, reply.status, (reply.body as { message: string }).message]).toEqual([name, 400, message]);
    }
    expect(await stored(eve)).toEqual(before);
    console.log(`bad pictures accepted: ${accepted} of n = ${corpus.length}`);
  });

  it('is rate limited, and a guessed name gets 404', async () => {
    const mallory = await app.signUp('Mallory');
    const bad = upload(Buffer.from('not a picture'));
    for (let n = 0; n < 20; n += 1) expect((await edit(mallory, bad)).status).toBe(400);
    expect(await edit(mallory, bad)).toMatchObject({ status: 429, retryAfter: expect.any(Number) });
    for (const name of ['x', 'A'.repeat(24), '..%2Fprofile', `${'A'.repeat(23)}'`])
      expect((await fetch(`${app.url}/frontend-api/user/picture/${name}`)).status).toBe(404);
  });
});

/** An animated PNG: only its first frame is kept. */
function animated(png: Buffer): Buffer {
  const control = Buffer.alloc(20);
  control.writeUInt32BE(8, 0);
  control.write('acTL', 4, 'latin1');
  control.writeUInt32BE(1, 8);
  control.writeUInt32BE(crc32(control.subarray(4, 16)), 16);
  const header = 8 + 25;
  return Buffer.concat([png.subarray(0, header), control, png.subarray(header)]);
}
