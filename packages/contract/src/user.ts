import { z } from 'zod';
import { call } from './call.ts';
import { NewPassword, PersonName, Phone } from './fields.ts';
import { ImageUpload } from './imageUpload.ts';
import { LANGUAGES } from './languages.ts';
import { Done, Id } from './page.ts';
import { PERMISSIONS, ROLES } from './permissions.ts';
import { PURPOSES } from './purposes.ts';

const Language = z.enum(LANGUAGES);

export const Theme = z.enum(['system', 'light', 'dark']);
export type Theme = z.infer<typeof Theme>;

export const Plan = z.enum(['Free', 'Individual', 'Team', 'Enterprise']);
export type Plan = z.infer<typeof Plan>;

/** A membership: what the wire calls client, the screen calls workspace. */
export const ClientRelation = z.object({
  clientId: Id,
  clientName: z.string(),
  roleName: z.enum(ROLES),
  permissions: z.array(z.enum(PERMISSIONS)),
  hourlyPaidServicesDaysLeft: z.number().nullable(),
  subscriptionPlan: Plan,
});
export type ClientRelation = z.infer<typeof ClientRelation>;

export const UserProfile = z.object({
  userId: Id,
  email: z.string(),
  name: z.string(),
  /** The path of their picture on the host of the calls. Whoever knows it may see it. */
  image: z.string().nullable(),
  language: Language.nullable(),
  theme: Theme,
  isPasswordExist: z.boolean(),
  isSignupFormSubmitted: z.boolean(),
  hasTestModePrivileges: z.boolean(),
  clientRelations: z.array(ClientRelation),
});
export type UserProfile = z.infer<typeof UserProfile>;

export const Profile = z.object({ isSuccess: z.literal(true), userProfile: UserProfile });

export const user = {
  profile: call({
    path: 'user/profile',
    summary: 'Who is signed in, and the workspaces they belong to with their permissions there.',
    auth: 'signed-in',
    byApp: true,
    input: z.object({}),
    output: Profile,
  }),
  edit: call({
    path: 'user/edit',
    summary: 'Changes name, picture, language or theme.',
    auth: 'signed-in',
    // A picture of 5 MB as base64, and the words.
    bodyLimit: 7 * 1024 * 1024,
    input: z.object({
      name: PersonName.optional(),
      /** Cut to a square from its middle; `null` takes the picture away. */
      image: ImageUpload.nullable().optional(),
      language: Language.optional(),
      theme: Theme.optional(),
    }),
    output: Profile,
  }),
  addFullName: call({
    path: 'user/add-full-name',
    summary: 'Names somebody whose provider told no name.',
    auth: 'signed-in',
    input: z.object({ name: PersonName }),
    output: Profile,
  }),
  signupForm: call({
    path: 'user/signup-form',
    summary: 'The form after the first sign-in. Sent once; a second time changes nothing and succeeds.',
    auth: 'signed-in',
    input: z.object({
      name: PersonName,
      phone: Phone,
      company: z.string().trim().max(200, 'Company is too long: at most 200 characters').optional(),
      purpose: z.enum(PURPOSES).optional(),
    }),
    output: Profile,
  }),
  addPassword: call({
    path: 'user/add-password',
    summary: 'Gives an account without a password its first one.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ password: NewPassword }),
    output: Done,
  }),
};
