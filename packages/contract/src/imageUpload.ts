import { z } from 'zod';
import { BYTES_PER_MB, IMAGE_MAX_MB, sizeOfBase64 } from './files.ts';

/** A picture as forms send it. What it really is, the server finds out. */
export const ImageUpload = z.object({
  fileName: z.string().trim().max(255, 'File name is too long: at most 255 characters').default(''),
  /** The body alone, without the prefix of a data address. */
  contentBase64: z
    .string('The image is empty')
    .min(1, 'The image is empty')
    .refine(
      (content) => sizeOfBase64(content) <= IMAGE_MAX_MB * BYTES_PER_MB,
      'File is too large. Max allowed size is 5MB.',
    ),
  mimeType: z.enum(['image/png', 'image/jpeg'], 'Only JPG and PNG images can be uploaded'),
});
