import { z } from 'zod';
import { isPlainLine, isVisible, plainText } from './plainText.ts';
import { text } from './text.ts';

/** Validation of single fields, shared by forms and the server (specification section 5). */

const HIDDEN = text('Remove line breaks and invisible characters');
const NOTHING_VISIBLE = text('Enter at least one visible character');

/** Every name that a person types and others see: one line that hides nothing and shows something. */
export const nameOf = ({ required, tooLong, max }: { required?: string; tooLong?: string; max: number }) =>
  z
    .string(required)
    .trim()
    .min(1, required)
    .max(max, tooLong)
    .refine(isPlainLine, HIDDEN)
    .refine(isVisible, NOTHING_VISIBLE);

/** The same where it may be empty. */
export const optionalNameOf = ({ tooLong, max }: { tooLong?: string; max: number }) =>
  z
    .string()
    .trim()
    .max(max, tooLong)
    .refine(isPlainLine, HIDDEN)
    .refine((line) => line === '' || isVisible(line), NOTHING_VISIBLE);

/** A text of several lines: what hides in it is taken out. */
export const writtenText = z.string().transform(plainText);

const TITLE_TOO_LONG = text('Title is too long: at most 100 characters');
export const Title = nameOf({ required: text('Title is required'), tooLong: TITLE_TOO_LONG, max: 100 });
export const OptionalTitle = optionalNameOf({ tooLong: TITLE_TOO_LONG, max: 100 });

/** "Unique ID" on the screen. */
export const Slug = z
  .string(text('Unique ID is required'))
  .trim()
  .toLowerCase()
  .min(1, text('Unique ID is required'))
  .min(3, text('Unique ID must be at least 3 characters'))
  .max(40, text('Unique ID must be at most 40 characters'))
  .regex(/^[a-z0-9](-?[a-z0-9])*$/, text('Unique ID may contain only letters, digits and single hyphens between them'));

export const Email = z
  .string(text('Email is required'))
  .trim()
  .toLowerCase()
  .min(1, text('Email is required'))
  .max(254, text('Incorrect email'))
  .refine(isPlainLine, text('Incorrect email'))
  .regex(/^[^\s@<>(),;:"[\]\\]+@[a-z0-9](-?[a-z0-9])*(\.[a-z0-9](-?[a-z0-9])*)+$/, text('Incorrect email'));

export const Company = optionalNameOf({ tooLong: text('Company is too long: at most 200 characters'), max: 200 });

/** The name of a person, a workspace, a passkey, a container. */
export const Name = nameOf({
  required: text('Name is required'),
  tooLong: text('Name is too long: at most 100 characters'),
  max: 100,
});

/** With the country code; stored as `+` and digits. */
export const Phone = z
  .string(text('Phone is required'))
  .trim()
  .min(1, text('Phone is required'))
  .max(40, text('Enter a valid phone number'))
  .regex(/^(\+|00)[\d\s().\-/]+$/, text('Enter a valid phone number'))
  .transform((phone) => `+${phone.replace(/^00/, '').replace(/\D/g, '')}`)
  // The shortest and longest international numbers; no country code begins with a zero.
  .refine((phone) => /^\+[1-9]\d{6,14}$/.test(phone), text('Enter a valid phone number'));

/** Never trimmed or truncated. */
export const NewPassword = z
  .string(text('Password is required'))
  .min(1, text('Password is required'))
  .max(128, text('Password must be at most 128 characters'))
  .refine(
    (password) => password.length >= 8 && /\d/.test(password) && /\p{Ll}/u.test(password) && /\p{Lu}/u.test(password),
    text('Password must be at least 8 characters with digits and upper and lower case letters'),
  );

export const Password = z
  .string(text('Password is required'))
  .min(1, text('Password is required'))
  .max(1024, text('Incorrect email or password'));

/** An existing password that a person types: only its hash decides whether it is right. */
export const CurrentPassword = z
  .string(text('Password is required'))
  .min(1, text('Password is required'))
  .max(1024, text('Incorrect password'));

export const VerificationCode = z
  .string(text('Verification code is required'))
  .trim()
  .min(1, text('Verification code is required'))
  .regex(/^\d{8}$/, text('The verification code has 8 digits'));

export const HOST_PORT_MIN = 1000;
export const HOST_PORT_MAX = 9999;

export const HostPort = z
  .number(text('Port is required'))
  .int(text('Port must be between 1000 and 9999'))
  .min(HOST_PORT_MIN, text('Port must be between 1000 and 9999'))
  .max(HOST_PORT_MAX, text('Port must be between 1000 and 9999'));

export const ContainerPort = z
  .number(text('Port is required'))
  .int(text('Port must be between 1 and 65535'))
  .min(1, text('Port must be between 1 and 65535'))
  .max(65_535, text('Port must be between 1 and 65535'));

/** A directory in a container. */
export const ContainerPath = z
  .string(text('Directory is required'))
  .trim()
  .min(1, text('Directory is required'))
  .max(400, text('Directory is too long: at most 400 characters'))
  .regex(/^\//, text('Volume path must start with /'))
  .refine((path) => !path.includes('\0'), text('Volume path must not contain a NUL'))
  .refine((path) => !path.split('/').includes('..'), text('Volume path must not contain ".."'));

/** A directory of a server. */
export const VolumePath = ContainerPath.refine((path) => !path.includes(':'), text('Volume path must not contain ":"'));
