import { z } from 'zod';
import { call } from './call.ts';
import { FEEDBACK_TOPICS } from './feedbackTopics.ts';
import { Email, nameOf } from './fields.ts';
import { ImageUpload } from './imageUpload.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { plainText } from './plainText.ts';
import { text } from './text.ts';
import { FEEDBACK_MAX_IMAGES } from './uploadLimits.ts';

const Topic = z.enum(FEEDBACK_TOPICS, text('Please choose an option'));

export const Feedback = z.object({
  id: Id,
  at: z.string(),
  topic: Topic,
  subject: z.string(),
  description: z.string(),
  contactEmail: z.string().nullable(),
  userAgent: z.string().nullable(),
  from: z.object({ userId: Id, name: z.string(), email: z.string() }),
  /** Kept for 180 days. */
  images: z.array(
    z.object({
      position: z.number().int(),
      fileName: z.string(),
      mimeType: z.enum(['image/png', 'image/jpeg']),
      width: z.number().int(),
      height: z.number().int(),
      bytes: z.number().int(),
    }),
  ),
});
export type Feedback = z.infer<typeof Feedback>;

const OPERATOR = ['EMPLOYEE'] as const;

const NO_DESCRIPTION = text("Please provide a description of the issue you're experiencing");

export const feedback = {
  send: call({
    path: 'user-feedback/send/default',
    summary: 'Sends feedback to the operators of the platform, with up to three screenshots.',
    auth: 'signed-in',
    // Three images of 5 MB as base64, and the text.
    bodyLimit: 21 * 1024 * 1024,
    input: z.object({
      topic: Topic,
      subject: nameOf({
        required: text('Subject is required'),
        tooLong: text('Subject is too long: at most 200 characters'),
        max: 200,
      }),
      description: z
        .string(NO_DESCRIPTION)
        .transform(plainText)
        .pipe(
          z
            .string()
            .trim()
            .min(1, NO_DESCRIPTION)
            .max(10_000, text('Description is too long: at most 10,000 characters')),
        ),
      contactEmail: z
        .string(text('Enter a valid email'))
        .trim()
        .refine((email) => email === '' || Email.safeParse(email).success, text('Enter a valid email'))
        .optional(),
      imageUploads: z
        .array(ImageUpload)
        .max(FEEDBACK_MAX_IMAGES, text('You can upload a maximum of 3 images.'))
        .default([]),
    }),
    output: SuccessResponse,
  }),
  list: call({
    path: 'admin/feedback/list',
    summary: 'The feedback of all users, newest first.',
    auth: OPERATOR,
    input: ListInput.extend({ topics: z.array(Topic).max(FEEDBACK_TOPICS.length).optional() }),
    output: listOf(Feedback),
  }),
  view: call({
    path: 'admin/feedback/view',
    summary: 'One feedback.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(Feedback),
  }),
  image: call({
    path: 'admin/feedback/image/view',
    summary: 'One screenshot of a feedback, re-encoded. It has no URL of its own that could be shared.',
    auth: OPERATOR,
    input: z.object({ id: Id, position: z.number().int().min(0).max(FEEDBACK_MAX_IMAGES) }),
    output: z.object({
      isSuccess: z.literal(true),
      mimeType: z.enum(['image/png', 'image/jpeg']),
      contentBase64: z.string(),
    }),
  }),
};
