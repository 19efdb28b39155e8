import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type {
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreation,
  PasskeyRequest,
} from '@stagi/contract/passkeys.ts';

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_KEY = 0x40;

/** How a hostile or broken authenticator deviates from the standard. */
interface Deviation {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  counter?: number;
  verified?: boolean;
  userHandle?: string;
  /** The signature does not match the data. */
  forged?: boolean;
}

/** A virtual WebAuthn authenticator: ES256, attestation `none`, a counter (WebAuthn Level 3, sections 6.1 and 6.5). */
export interface VirtualAuthenticator {
  id: string;
  create(options: PasskeyCreation, twist?: Deviation): PasskeyAttestation;
  answer(options: PasskeyRequest, twist?: Deviation): PasskeyAssertion;
}

export function virtualAuthenticator(appOrigin: string): VirtualAuthenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let userHandle = '';
  let counter = 0;

  return {
    id: id.toString('base64url'),
    create(options, twist = {}) {
      userHandle = options.user.id;
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const length = Buffer.from([0, id.length]);
      const authData = Buffer.concat([head(twist, HAS_KEY), Buffer.alloc(16), length, id, key]);
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
        Buffer.from([0x58, authData.length]),
        authData,
      ]);
      return {
        ...credential(),
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, twist).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    answer(options, twist = {}) {
      counter = twist.counter ?? counter + 1;
      const authData = head(twist, 0);
      const data = clientData('webauthn.get', options.challenge, twist);
      const signed = Buffer.concat([authData, createHash('sha256').update(data).digest()]);
      if (twist.forged) signed[0] = (signed[0] ?? 0) ^ 1;
      return {
        ...credential(),
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
          userHandle: twist.userHandle ?? userHandle,
        },
      };
    },
  };

  function credential() {
    return { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' as const };
  }

  function head({ rpId = new URL(appOrigin).hostname, verified = true }: Deviation, flags: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const site = createHash('sha256').update(rpId).digest();
    return Buffer.concat([site, Buffer.from([PRESENT | (verified ? VERIFIED : 0) | flags]), count]);
  }

  function clientData(type: string, challenge: string, twist: Deviation): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: twist.type ?? type,
        challenge: twist.challenge ?? challenge,
        origin: twist.origin ?? appOrigin,
        crossOrigin: false,
      }),
    );
  }
}
