import { z } from 'zod';

/** Rules of single fields that forms and the server share (specification section 5). */

export const Title = z
  .string('Title is required')
  .trim()
  .min(1, 'Title is required')
  .max(100, 'Title is too long: at most 100 characters');

/** What the screen calls "Unique ID". */
export const Slug = z
  .string('Unique ID is required')
  .trim()
  .toLowerCase()
  .min(1, 'Unique ID is required')
  .min(3, 'Unique ID must be at least 3 characters')
  .max(40, 'Unique ID must be at most 40 characters')
  .regex(/^[a-z0-9](-?[a-z0-9])*$/, 'Unique ID may hold only letters, digits and single hyphens between them');

export const Email = z
  .string('Email is required')
  .trim()
  .toLowerCase()
  .min(1, 'Email is required')
  .max(254, 'Incorrect email')
  .regex(/^[^\s@<>(),;:"[\]\\]+@[a-z0-9](-?[a-z0-9])*(\.[a-z0-9](-?[a-z0-9])*)+$/, 'Incorrect email');

export const PersonName = z
  .string('Name is required')
  .trim()
  .min(1, 'Name is required')
  .max(100, 'Name is too long: at most 100 characters');

/** With its country's code; kept as `+` and digits. */
export const Phone = z
  .string('Phone is required')
  .trim()
  .min(1, 'Phone is required')
  .max(40, 'Enter a valid phone number')
  .regex(/^(\+|00)[\d\s().\-/]+$/, 'Enter a valid phone number')
  .transform((phone) => `+${phone.replace(/^00/, '').replace(/\D/g, '')}`)
  // The shortest and longest numbers that are dialled from abroad; no country's code begins with a zero.
  .refine((phone) => /^\+[1-9]\d{6,14}$/.test(phone), 'Enter a valid phone number');

/** Never trimmed, never cut. */
export const NewPassword = z
  .string('Password is required')
  .min(1, 'Password is required')
  .max(128, 'Password must be at most 128 characters')
  .refine(
    (password) => password.length >= 8 && /\d/.test(password) && /\p{Ll}/u.test(password) && /\p{Lu}/u.test(password),
    'Password must be at least 8 characters with digits and upper and lower case letters',
  );

export const Password = z
  .string('Password is required')
  .min(1, 'Password is required')
  .max(1024, 'Incorrect email or password');

/** What somebody types to prove a password: any length that could be one, judged by the hash alone. */
export const CurrentPassword = z
  .string('Password is required')
  .min(1, 'Password is required')
  .max(1024, 'Incorrect password');

export const VerificationCode = z
  .string('Verification code is required')
  .trim()
  .min(1, 'Verification code is required')
  .regex(/^\d{8}$/, 'The verification code has 8 digits');

export const HOST_PORT_MIN = 1000;
export const HOST_PORT_MAX = 9999;

export const HostPort = z
  .number('Port is required')
  .int('Port must be between 1000 and 9999')
  .min(HOST_PORT_MIN, 'Port must be between 1000 and 9999')
  .max(HOST_PORT_MAX, 'Port must be between 1000 and 9999');

export const ContainerPort = z
  .number('Port is required')
  .int('Port must be between 1 and 65535')
  .min(1, 'Port must be between 1 and 65535')
  .max(65_535, 'Port must be between 1 and 65535');

export const VolumePath = z
  .string('Directory is required')
  .trim()
  .min(1, 'Directory is required')
  .max(400, 'Directory is too long: at most 400 characters')
  .regex(/^\//, 'Volume path must start with /')
  .refine((path) => !path.includes('\0') && !path.includes(':'), 'Volume path may not hold ":"')
  .refine((path) => !path.split('/').includes('..'), 'Volume path may not hold ".."');
