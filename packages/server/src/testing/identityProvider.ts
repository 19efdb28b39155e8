import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider, { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';

/** An account at the provider. */
export interface Account {
  id: number;
  email: string;
  /** `null`: the provider says nothing of it. */
  emailVerified?: boolean | null;
  name?: string;
}

export interface IdentityProviderServer {
  issuer: string;
  /** The environment that configures a platform to use it, through OpenID and OAuth 2. */
  env: Record<string, string>;
  accounts: Map<string, Account>;
  /** Its entry in `OPENID_PROVIDERS`, under an id and a name. */
  openId(id: string, name: string): Record<string, unknown>;
  /** Registers the platform as a client; before this the provider answers nothing. */
  open(appOrigin: string): void;
  /** Follows a login link as a browser with this account, and returns the address that it is redirected back to. */
  logIn(link: string, account: string): Promise<URL>;
  /** A token signed with its key, with any claims. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

export const CLIENT_ID = 'stagi-web';
export const OTHER_CLIENT_ID = 'somebody-else';
const GITHUB_ID = 'stagi-github';
const GITHUB_SECRET = 'of-github-0123456789';
const LAB_ID = 'stagi-lab';
const LAB_SECRET = 'of-a-lab-0123456789';
const CHOICE = /^\/choose\/([\w-]+)$/;

/**
 * A standards-conforming provider on this machine: OpenID with an id token as the answer, as Google is used, and OAuth 2
 * with a code and GitHub's paths. OpenID with a code as others are used: then the profile is in the token, or has to be
 * asked for. A page lets the visitor choose an account.
 */
export async function startIdentityProvider({
  profileIn = 'userinfo',
}: {
  profileIn?: 'userinfo' | 'token';
} = {}): Promise<IdentityProviderServer> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const accounts = new Map<string, Account>();
  let provider: Provider | null = null;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const issuer = `http://127.0.0.1:${port}`;
  const jwk = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!provider) throw new Error('The provider is not open yet');
    const url = new URL(request.url ?? '/', issuer);
    if (CHOICE.test(url.pathname)) return choose(provider, request, response, url);
    if (url.pathname.startsWith('/api/v3/')) return api(provider, request, response, url.pathname);
    await provider.callback()(request, response);
  }

  async function choose(at: Provider, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (request.method === 'POST') {
      const accountId = url.searchParams.get('as');
      const result = accountId ? { login: { accountId } } : { error: 'access_denied' };
      return at.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    }
    const forms = ['', ...accounts.keys()].map(
      (login) =>
        `<form method="post" action="?as=${login}"><button>${login ? `Log in as ${login}` : 'Cancel'}</button></form>`,
    );
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Who are you?</title>${forms.join('')}`);
  }

  /** GitHub's API: the account of an access token. */
  async function api(at: Provider, request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const token = await at.AccessToken.find(request.headers.authorization?.replace(/^Bearer /i, '') ?? '');
    const account = token && accounts.get(token.accountId);
    response.setHeader('content-type', 'application/json');
    if (!account) {
      response.statusCode = 401;
      response.end(JSON.stringify({ message: 'Bad credentials' }));
      return;
    }
    const { id, email, emailVerified = true, name = null } = account;
    response.end(
      JSON.stringify(
        path.endsWith('/emails')
          ? [
              { email: `old-${email}`, primary: false, verified: true, visibility: null },
              { email, primary: true, verified: emailVerified, visibility: 'private' },
            ]
          : { id, login: token.accountId, name },
      ),
    );
  }

  return {
    issuer,
    env: {
      GOOGLE_CLIENT_ID: CLIENT_ID,
      GOOGLE_ISSUER: issuer,
      GITHUB_CLIENT_ID: GITHUB_ID,
      GITHUB_CLIENT_SECRET: GITHUB_SECRET,
      GITHUB_URL: issuer,
    },
    accounts,
    openId: (id, name) => ({ id, name, issuer, clientId: LAB_ID, clientSecret: LAB_SECRET }),
    open(appOrigin) {
      provider = makeProvider(issuer, appOrigin, accounts, jwk, profileIn);
    },
    logIn: (link, account) => followRedirects(link, account),
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first', ...header }).sign(privateKey),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function makeProvider(
  issuer: string,
  appOrigin: string,
  accounts: Map<string, Account>,
  jwk: object,
  profileIn: 'userinfo' | 'token',
): Provider {
  const policy = interactionPolicy.base();
  // Always prompts for the login, as one browser plays several people.
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check('asked', 'Who is it?', (ctx) =>
        ctx.oidc.result?.login ? interactionPolicy.Check.NO_NEED_TO_PROMPT : interactionPolicy.Check.REQUEST_PROMPT,
      ),
    );
  policy.get('consent')?.checks.remove('native_client_prompt');
  // Native clients may be redirected to this machine without TLS.
  const ofOpenId = {
    application_type: 'native' as const,
    redirect_uris: [`${appOrigin}/sign-in`],
    response_types: ['id_token' as const],
    grant_types: ['implicit'],
    token_endpoint_auth_method: 'none' as const,
  };
  const provider = new Provider(issuer, {
    clients: [
      { ...ofOpenId, client_id: CLIENT_ID },
      { ...ofOpenId, client_id: OTHER_CLIENT_ID },
      {
        client_id: GITHUB_ID,
        client_secret: GITHUB_SECRET,
        application_type: 'native',
        redirect_uris: [`${appOrigin}/auth/github`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        client_id: LAB_ID,
        client_secret: LAB_SECRET,
        application_type: 'native',
        redirect_uris: [`${appOrigin}/auth/openid`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['of-a-test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    scopes: ['openid', 'read:user', 'user:email'],
    conformIdTokenClaims: profileIn === 'userinfo',
    routes: { authorization: '/login/oauth/authorize', token: '/login/oauth/access_token' },
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (_ctx, { uid }) => `/choose/${uid}` },
    async findAccount(_ctx, login) {
      const account = accounts.get(login);
      if (!account) return undefined;
      const { email, emailVerified = true, name } = account;
      const verified = emailVerified === null ? {} : { email_verified: emailVerified };
      return { accountId: login, claims: () => ({ sub: login, email, ...verified, name }) };
    },
    loadExistingGrant: grantAll,
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  });
  return provider;
}

/** Grants everything without a consent page. */
async function grantAll(ctx: KoaContextWithOIDC) {
  const { client, session, params, provider } = ctx.oidc;
  if (!client || !session?.accountId) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(String(params?.scope));
  await grant.save();
  return grant;
}

/** A minimal browser: keeps cookies, follows redirects on this host, chooses the account. */
async function followRedirects(link: string, account: string): Promise<URL> {
  const { host } = new URL(link);
  const cookies = new Map<string, string>();
  let next = new URL(link);
  let method = 'GET';
  for (let steps = 0; steps < 12; steps += 1) {
    const response = await fetch(next, {
      method,
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get('location');
    if (location) {
      next = new URL(location, next);
      method = 'GET';
      if (next.host !== host) return next;
    } else if (CHOICE.test(next.pathname)) {
      next.searchParams.set('as', account);
      method = 'POST';
    } else {
      throw new Error(`The provider answers ${response.status} at ${next.pathname}: ${text.slice(0, 500)}`);
    }
  }
  throw new Error('The provider sends in circles');
}
