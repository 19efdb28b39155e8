import { z } from 'zod';
import { text } from './text.ts';
import { BYTES_PER_MB, PROFILE_IMAGE_MAX_MB, sizeOfBase64 } from './uploadLimits.ts';

/** An image as forms send it. The server checks its real type. */
export const ImageUpload = z.object({
  fileName: z.string().trim().max(255, text('File name is too long: at most 255 characters')).default(''),
  /** Without the prefix of a data URL. */
  contentBase64: z
    .string(text('The image is empty'))
    .min(1, text('The image is empty'))
    .refine(
      (content) => sizeOfBase64(content) <= PROFILE_IMAGE_MAX_MB * BYTES_PER_MB,
      text('File is too large. Max allowed size is 5MB.'),
    ),
  mimeType: z.enum(['image/png', 'image/jpeg'], text('Only JPG and PNG images can be uploaded')),
});
