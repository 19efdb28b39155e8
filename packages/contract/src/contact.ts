import { z } from 'zod';
import { call } from './call.ts';
import { CONTACT_MESSAGE_MAX, CONTACT_NOTE_MAX, CONTACT_TOPICS } from './contactTopics.ts';
import { Company, Email, Name, nameOf, optionalNameOf } from './fields.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { isPlainLine, plainText } from './plainText.ts';
import { text } from './text.ts';

const Topic = z.enum(CONTACT_TOPICS, text('Please choose an option'));

const NO_MESSAGE = text('Message is required');

const AboutName = nameOf({ max: 200 });

/** What the visitor was looking at, as the page called it. */
const About = z.object({
  model: z.object({
    id: AboutName,
    name: AboutName,
  }),
  gpu: optionalNameOf({ max: 200 }).optional(),
  quality: optionalNameOf({ max: 100 }).optional(),
});
export type ContactAbout = z.input<typeof About>;

export const ContactRequest = z.object({
  id: Id,
  at: z.string(),
  topic: Topic,
  name: z.string(),
  email: z.string(),
  company: z.string().nullable(),
  message: z.string(),
  about: z
    .object({
      model: z.object({ id: z.string(), name: z.string() }),
      gpu: z.string().nullable(),
      quality: z.string().nullable(),
    })
    .nullable(),
  /** Who was signed in when it was sent. The name and address above are what was typed. */
  from: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
  /** It was filled in like a machine does: it was not mailed. */
  looksAutomated: z.boolean(),
  /** Whether it was mailed to the operators' address. */
  mailed: z.boolean(),
  handled: z.object({ at: z.string(), by: z.object({ userId: Id, name: z.string() }) }).nullable(),
  note: z.string(),
});
export type ContactRequest = z.infer<typeof ContactRequest>;

const OPERATOR = ['EMPLOYEE'] as const;

export const contact = {
  send: call({
    path: 'contact/send',
    summary: 'Sends a request to the operators of the platform. Nothing is mailed to the address that it names.',
    auth: 'public',
    bodyLimit: 64 * 1024,
    input: z.object({
      /** Random: a request that is sent again with the same key is stored once. */
      key: z.uuid().optional(),
      topic: Topic,
      name: Name,
      email: z
        .string(text('Email is required'))
        .trim()
        .min(1, text('Email is required'))
        .refine(
          (email) => email === '' || (isPlainLine(email) && Email.safeParse(email).success),
          text('Enter a valid email'),
        ),
      company: Company.optional(),
      message: z
        .string(NO_MESSAGE)
        .transform(plainText)
        .pipe(
          z
            .string()
            .trim()
            .min(1, NO_MESSAGE)
            .max(CONTACT_MESSAGE_MAX, text('Message is too long: at most 5,000 characters')),
        ),
      about: About.optional(),
      /** Stays empty: people do not see it, programs that fill in every field do. */
      website: z.string().max(2_000).optional(),
    }),
    output: SuccessResponse,
  }),
  list: call({
    path: 'admin/contact/list',
    summary: 'The requests of the contact form, newest first.',
    auth: OPERATOR,
    input: ListInput.extend({
      handled: z.boolean().optional(),
      topics: z.array(Topic).max(CONTACT_TOPICS.length).optional(),
    }),
    output: listOf(ContactRequest),
  }),
  view: call({
    path: 'admin/contact/view',
    summary: 'One request of the contact form.',
    auth: OPERATOR,
    input: z.object({ id: Id }),
    output: oneOf(ContactRequest),
  }),
  handle: call({
    path: 'admin/contact/handle',
    summary: 'Marks a request of the contact form as handled, or as open again. A note is for operators only.',
    auth: OPERATOR,
    input: z.object({
      id: Id,
      handled: z.boolean(),
      note: z
        .string()
        .transform(plainText)
        .pipe(z.string().trim().max(CONTACT_NOTE_MAX, text('Note is too long: at most 1,000 characters')))
        .optional(),
    }),
    output: oneOf(ContactRequest),
  }),
};
