import { api } from '@stagi/contract/api.ts';
import { type Client, createClient, type Send, type Tokens } from '@stagi/contract/apiClient.ts';
import type { SignInResponse } from '@stagi/contract/authResponse.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';

export const PASSWORD = 'Correct-horse-7';

export const PHONE = '+44 20 7946 0000';

export interface Person {
  client: Client;
  email: string;
  userId: number;
  /** The workspace that X-Client-ID names; change it to act in another. */
  workspaceId: number;
  tokens(): Tokens;
  useWorkspace(id: number | null): void;
}

/** Signs a person up through the calls, with the mailed code. */
export async function signUp(
  url: string,
  send: Send,
  { name, email, invite }: { name: string; email: string; invite?: string },
): Promise<Person> {
  const visitor = createClient({ send, session: { get: () => null, set: () => {} }, clientId: () => null });
  const { flow } = await visitor(api.auth.register, { name, email, password: PASSWORD, invite });
  const code = await mailedCode(url, email);
  return completeSignupForm(send, await visitor(api.auth.verifyCode, { email, code, flow }), { name, email });
}

/** Sends the form that comes after the first sign-in. */
export async function completeSignupForm(
  send: Send,
  given: Tokens,
  { name, email }: { name: string; email: string },
): Promise<Person> {
  let tokens: Tokens | null = given;
  let workspaceId: number | null = null;
  const client = createClient({
    send,
    session: { get: () => tokens, set: (next) => (tokens = next) },
    clientId: () => workspaceId,
  });
  const { userProfile } = await client(api.user.signupForm, { name, phone: PHONE });
  workspaceId = userProfile.clientRelations[0]?.clientId ?? null;
  return {
    client,
    email,
    userId: userProfile.userId,
    get workspaceId() {
      return workspaceId ?? 0;
    },
    tokens: () => tokens!,
    useWorkspace(id) {
      workspaceId = id;
    },
  };
}

/** The tokens of a sign-in without second factor. */
export function tokensOf(answer: SignInResponse): Tokens {
  if (!('accessToken' in answer)) throw new Error('a second factor is asked for');
  return answer;
}

/** The code in the newest mail to an address. */
export async function mailedCode(url: string, email: string): Promise<string> {
  const [newest] = await mailsTo(url, email);
  const code = newest?.subject.match(/\d{8}/)?.[0];
  if (!code) throw new Error(`no code was mailed to ${email}`);
  return code;
}

/** Mails to an address, newest first, as `/dev/mail` shows them. */
export async function mailsTo(
  url: string,
  email: string,
): Promise<{ to: string; subject: string; text: string; html: string }[]> {
  const response = await fetch(`${url}/dev/mail/list`, { method: 'POST' });
  const { mails } = (await response.json()) as { mails: Awaited<ReturnType<typeof mailsTo>> };
  return mails.filter((mail) => mail.to === email);
}

export function httpSender(url: string): Send {
  return async (path, body, { headers, signal }) => {
    const response = await fetch(`${url}${API_PREFIX}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    });
    const text = await response.text();
    const retryAfter = response.headers.get('retry-after');
    return {
      status: response.status,
      body: text ? JSON.parse(text) : null,
      retryAfter: retryAfter ? Number(retryAfter) : null,
    };
  };
}
