import { z } from 'zod';

/** The parts of WebAuthn Level 3 JSON (sections 5.1.8 and 5.1.9) that are used here. */

const Base64Url = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[A-Za-z0-9_-]+$/);
const UserVerification = z.enum(['required', 'preferred', 'discouraged']);
const Descriptor = z.object({
  id: z.string(),
  type: z.literal('public-key'),
  transports: z.array(z.string()).optional(),
});

/** The options of `navigator.credentials.get`. */
export const PasskeyRequest = z.object({
  challenge: z.string(),
  timeout: z.number().optional(),
  rpId: z.string().optional(),
  allowCredentials: z.array(Descriptor).optional(),
  userVerification: UserVerification.optional(),
});
export type PasskeyRequest = z.infer<typeof PasskeyRequest>;

/** The options of `navigator.credentials.create`. */
export const PasskeyCreation = z.object({
  rp: z.object({ id: z.string().optional(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ alg: z.number(), type: z.literal('public-key') })),
  timeout: z.number().optional(),
  excludeCredentials: z.array(Descriptor).optional(),
  authenticatorSelection: z
    .object({
      residentKey: z.enum(['required', 'preferred', 'discouraged']).optional(),
      requireResidentKey: z.boolean().optional(),
      userVerification: UserVerification.optional(),
    })
    .optional(),
  attestation: z.enum(['none', 'indirect', 'direct', 'enterprise']).optional(),
});
export type PasskeyCreation = z.infer<typeof PasskeyCreation>;

const Credential = z.object({
  id: Base64Url(1400),
  rawId: Base64Url(1400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(40).nullish(),
  // Results of extensions are ignored.
  clientExtensionResults: z.unknown().optional(),
});

/** A passkey's answer to a challenge. */
export const PasskeyAssertion = Credential.extend({
  response: z.object({
    clientDataJSON: Base64Url(8_000),
    authenticatorData: Base64Url(8_000),
    signature: Base64Url(4_000),
    userHandle: Base64Url(200).nullish(),
  }),
});
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;

/** A new passkey. */
export const PasskeyAttestation = Credential.extend({
  response: z.object({
    clientDataJSON: Base64Url(8_000),
    attestationObject: Base64Url(32_000),
    transports: z.array(z.string().max(40)).max(10).optional(),
  }),
});
export type PasskeyAttestation = z.infer<typeof PasskeyAttestation>;
