import { z } from 'zod';
import { call } from './call.ts';
import { Email } from './fields.ts';
import { FEEDBACK_MAX_IMAGES } from './files.ts';
import { ImageUpload } from './imageUpload.ts';
import { Done } from './page.ts';

export const FEEDBACK_TOPICS = ['Report an issue', 'Suggest a feature', 'Ask a question', 'Something else'] as const;

const NO_DESCRIPTION = "Please provide a description of the issue you're experiencing";

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
