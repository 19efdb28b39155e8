import { text } from '@stagi/contract/text.ts';
import { BYTES_PER_MB, PROFILE_IMAGE_MAX_MB } from '@stagi/contract/uploadLimits.ts';
import type { Sharp, SharpOptions } from 'sharp';
import { invalid, unavailable } from '../http/errors.ts';

export interface ReencodedImage {
  mimeType: 'image/png' | 'image/jpeg';
  width: number;
  height: number;
  content: Buffer;
}

const MAX_BYTES = PROFILE_IMAGE_MAX_MB * BYTES_PER_MB;
const MAX_PIXELS = 40_000_000;
const MAX_SECONDS = 10;
const WAITING_MAX = 16;
const JPEG_QUALITY = 88;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/**
 * Re-encodes an uploaded image, which removes everything else in the file: scripts, locations, appended files, further
 * frames. Refuses what is no JPG or PNG by its bytes, whatever its name; the error is shown at `field`. With `square` the
 * middle is cropped to so many pixels.
 */
export async function reencodeImage(contentBase64: string, field: string, square?: number): Promise<ReencodedImage> {
  const bytes = decode(contentBase64);
  if (!bytes) throw invalid(text('The image upload was incomplete. Add it again.'), field);
  if (bytes.length > MAX_BYTES) throw invalid(text('File is too large. Max allowed size is 5MB.'), field);
  const format = formatOf(bytes);
  if (!format) throw invalid(text('Only JPG and PNG images can be uploaded'), field);
  return oneAtATime(async () => {
    const sharp = await loadSharp();
    return draw(sharp, bytes, format, square).catch((cause: unknown) => {
      const error = invalid(text('This image cannot be read. Use a JPG or PNG of at most 40 megapixels.'), field);
      error.cause = cause;
      throw error;
    });
  });
}

/** Null for anything but canonical base64. */
function decode(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : null;
}

function formatOf(bytes: Buffer): 'png' | 'jpeg' | null {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'png';
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return 'jpeg';
  return null;
}

type MakeSharp = (input: Buffer, options: SharpOptions) => Sharp;

async function draw(
  sharp: MakeSharp,
  bytes: Buffer,
  format: 'png' | 'jpeg',
  square: number | undefined,
): Promise<ReencodedImage> {
  const upright = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true })
    .autoOrient()
    .timeout({ seconds: MAX_SECONDS });
  const picture = square ? upright.resize(square, square, { fit: 'cover' }) : upright;
  if (format === 'png') {
    const { data, info } = await picture.clone().png({ compressionLevel: 9 }).toBuffer({ resolveWithObject: true });
    if (data.length <= MAX_BYTES)
      return { mimeType: 'image/png', width: info.width, height: info.height, content: data };
  }
  // A PNG may grow when it is re-encoded without its palette.
  const { data, info } = await picture
    .flatten({ background: 'white' })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer({ resolveWithObject: true });
  return { mimeType: 'image/jpeg', width: info.width, height: info.height, content: data };
}

let loaded: Promise<MakeSharp> | null = null;

/** Loaded with the first image; all decoders but the two formats' are blocked. */
function loadSharp(): Promise<MakeSharp> {
  loaded ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng'] });
    return sharp;
  });
  return loaded;
}

let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/** A progressive JPG of 40 megapixels takes 370 MB of memory: one image at a time, with a bounded queue. */
async function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= WAITING_MAX) throw unavailable();
  waiting += 1;
  const mine = last.then(work, work);
  last = mine.catch(() => null);
  return mine.finally(() => {
    waiting -= 1;
  });
}
