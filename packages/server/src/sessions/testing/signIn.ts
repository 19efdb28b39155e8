import type { Tokens } from '@stagi/contract/apiClient.ts';
import type { TestApp } from '../../testing/app.ts';
import { PASSWORD, type Person } from '../../testing/person.ts';

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** The tokens of another session of somebody, from the device of that user agent. */
export async function signInAs(app: TestApp, { email }: Person, userAgent: string): Promise<Tokens> {
  const reply = await app.post('auth/email/authentication', { email, password: PASSWORD }, { 'user-agent': userAgent });
  if (reply.status !== 200) throw new Error(`Not signed in: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body as Tokens;
}

/** The session that an access token names. */
export function sidOf(accessToken: string): string {
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()) as { sid: string };
  return claims.sid;
}
