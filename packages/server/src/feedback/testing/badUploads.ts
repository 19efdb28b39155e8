import { execFileSync } from 'node:child_process';
import { api } from '@stagi/contract/api.ts';
import type { Reply } from '@stagi/contract/apiClient.ts';
import sharp from 'sharp';
import { expect } from 'vitest';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';

export const MB = 1024 * 1024;
export const WORDS = { topic: 'Report an issue', subject: 'It fails', description: 'Every time' } as const;
const TOO_LARGE = 'File is too large. Max allowed size is 5MB.';
const WRONG_KIND = 'Only JPG and PNG images can be uploaded';
const UNREADABLE = 'This image cannot be read. Use a JPG or PNG of at most 40 megapixels.';
const NOT_WHOLE = 'The image upload was incomplete. Add it again.';
const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');

export const picture = (format: 'png' | 'jpeg' | 'gif' | 'webp' | 'tiff') =>
  sharp({ create: { width: 40, height: 20, channels: 3, background: '#c04' } })
    .toFormat(format)
    .toBuffer();

export const upload = (content: Buffer | string, mimeType = 'image/png', fileName = 'shot.png') => ({
  fileName,
  mimeType,
  contentBase64: typeof content === 'string' ? content : content.toString('base64'),
});

export const sendRawFeedback = (app: TestApp, person: Person, body: unknown): Promise<Reply> =>
  app.post(api.feedback.send.path, body, { authorization: `Bearer ${person.tokens().accessToken}` });

interface BadUpload {
  name: string;
  imageUploads: unknown[];
  message: string;
}

export async function badUploads(): Promise<BadUpload[]> {
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
  return corpus.map(([name, imageUploads, message]) => ({ name, imageUploads, message }));
}

/** Sends them all, and expects each to be refused with its message and nothing to be stored. */
export async function expectRefused(app: TestApp, person: Person, corpus: readonly BadUpload[]): Promise<void> {
  const stored = () => app.ctx.db.selectFrom('feedback_image').selectAll().execute();
  const before = (await stored()).length;
  for (const { name, imageUploads, message } of corpus) {
    const reply = await sendRawFeedback(app, person, { ...WORDS, imageUploads });
    expect.soft([reply.status, reply.body], name).toMatchObject([400, { isSuccess: false, message }]);
    expect.soft((reply.body as { fieldsWithError: string[] }).fieldsWithError[0], name).toMatch(/^imageUploads/);
  }
  expect((await stored()).length).toBe(before);
}

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
