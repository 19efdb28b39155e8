import { z } from 'zod';
import { call } from './call.ts';
import { Company, Name, NewPassword, Phone } from './fields.ts';
import { ImageUpload } from './imageUpload.ts';
import { LANGUAGES } from './languages.ts';
import { Id, SuccessResponse } from './page.ts';
import { PERMISSIONS, ROLES } from './permissions.ts';
import { PURPOSES } from './purposes.ts';

const Language = z.enum(LANGUAGES);

export const Theme = z.enum(['system', 'light', 'dark']);
export type Theme = z.infer<typeof Theme>;

export const Plan = z.enum(['Free', 'Individual', 'Team', 'Enterprise']);
export type Plan = z.infer<typeof Plan>;

/** A membership. "Client" on the wire is "workspace" on the screen. */
export const ClientRelation = z.object({
  clientId: Id,
  clientName: z.string(),
  roleName: z.enum(ROLES),
  permissions: z.array(z.enum(PERMISSIONS)),
  hourlyPaidServicesDaysLeft: z.number().nullable(),
  subscriptionPlan: Plan,
  /** Changes with each edit: see `EditVersion`. */
  version: z.string().optional(),
});
export type ClientRelation = z.infer<typeof ClientRelation>;

export const UserProfile = z.object({
  userId: Id,
  email: z.string(),
  name: z.string(),
  /** The path of the profile picture on the API's host. Public to whoever knows it. */
  image: z.string().nullable(),
  language: Language.nullable(),
  theme: Theme,
  isPasswordExist: z.boolean(),
  isSignupFormSubmitted: z.boolean(),
  /** Whether the checklist of first steps is shown: until the user closes it. */
  isGettingStarted: z.boolean(),
  hasTestModePrivileges: z.boolean(),
  clientRelations: z.array(ClientRelation),
  /** The moment of the backup that the platform was restored from, while it is held. */
  platformHeldSince: z.string().optional(),
});
export type UserProfile = z.infer<typeof UserProfile>;

export const Profile = z.object({ isSuccess: z.literal(true), userProfile: UserProfile });

export const user = {
  profile: call({
    path: 'user/profile',
    summary: 'The signed-in user, with their workspaces and permissions.',
    auth: 'signed-in',
    byApp: true,
    input: z.object({}),
    output: Profile,
  }),
  edit: call({
    path: 'user/edit',
    summary: 'Changes name, picture, language or theme.',
    auth: 'signed-in',
    // An image of 5 MB as base64, and the texts.
    bodyLimit: 7 * 1024 * 1024,
    input: z.object({
      name: Name.optional(),
      /** Cropped to a square around its centre; `null` removes the picture. */
      image: ImageUpload.nullable().optional(),
      language: Language.optional(),
      theme: Theme.optional(),
    }),
    output: Profile,
  }),
  addFullName: call({
    path: 'user/add-full-name',
    summary: 'Sets the name of a user whose identity provider gave none.',
    auth: 'signed-in',
    input: z.object({ name: Name }),
    output: Profile,
  }),
  signupForm: call({
    path: 'user/signup-form',
    summary: 'The form after the first sign-in. Idempotent: a repeat changes nothing.',
    auth: 'signed-in',
    input: z.object({
      name: Name,
      /** Required unless the operator of the platform makes it optional. */
      phone: Phone.optional(),
      company: Company.optional(),
      purpose: z.enum(PURPOSES).optional(),
    }),
    output: Profile,
  }),
  addPassword: call({
    path: 'user/add-password',
    summary: 'Sets the first password of an account without one.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ password: NewPassword }),
    output: SuccessResponse,
  }),
};
