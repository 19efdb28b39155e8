import { z } from 'zod';
import { call } from './call.ts';
import { Email } from './fields.ts';
import { BYTES_PER_MB, FEEDBACK_MAX_IMAGE_MB, FEEDBACK_MAX_IMAGES, sizeOfBase64 } from './files.ts';
import { Done } from './page.ts';

export const FEEDBACK_TOPICS = ['Report an issue', 'Suggest a feature', 'Ask a question', 'Something else'] as const;

const NO_DESCRIPTION = "Please provide a description of the issue you're experiencing";

const ImageUpload = z.object({
  fileName: z.string().trim().max(255, 'File name is too long: at most 255 characters').default(''),
  /** The body alone, without the prefix of a data address. */
  contentBase64: z
    .string('The image is empty')
    .min(1, 'The image is empty')
    .refine(
      (content) => sizeOfBase64(content) <= FEEDBACK_MAX_IMAGE_MB * BYTES_PER_MB,
      'File is too large. Max allowed size is 5MB.',
    ),
  mimeType: z.enum(['image/png', 'image/jpeg'], 'Only JPG and PNG images can be uploaded'),
});
export type ImageUpload = z.input<typeof ImageUpload>;

export const feedback = {
  send: call({
    path: 'user-feedback/send/default',
    summary: 'Sends feedback to the operators of the platform, with up to three screenshots.',
    auth: 'signed-in',
    // Three images of 5 MB as base64, and the words.
    bodyLimit: 21 * 1024 * 1024,
    input: z.object({
      topic: z.enum(FEEDBACK_TOPICS, 'Please choose an option'),
      subject: z
        .string('Subject is required')
        .trim()
        .min(1, 'Subject is required')
        .max(200, 'Subject is too long: at most 200 characters'),
      description: z
        .string(NO_DESCRIPTION)
        .trim()
        .min(1, NO_DESCRIPTION)
        .max(10_000, 'Description is too long: at most 10,000 characters'),
      contactEmail: z
        .string('Enter a valid email')
        .trim()
        .refine((email) => email === '' || Email.safeParse(email).success, 'Enter a valid email')
        .optional(),
      imageUploads: z.array(ImageUpload).max(FEEDBACK_MAX_IMAGES, 'You can upload a maximum of 3 images.').default([]),
    }),
    output: Done,
  }),
};
