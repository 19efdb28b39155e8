import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';

export const FORGER_CLIENT = 'stagi-forged';

/** An OpenID provider that answers each code with whatever token a test wants. */
export interface ForgingProvider {
  issuer: string;
  /** The claims and header of the next tokens, or the token itself. */
  answer: { claims: Record<string, unknown>; key?: 'own' | 'other' | 'none' };
  close(): Promise<void>;
}

export async function startForgingProvider(): Promise<ForgingProvider> {
  const own = await generateKeyPair('RS256', { extractable: true });
  const other = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' };
  const server = createServer((request, response) => {
    request.resume();
    const path = new URL(request.url ?? '/', issuer).pathname;
    response.setHeader('content-type', 'application/json');
    if (path === '/.well-known/openid-configuration') return response.end(JSON.stringify(metadata));
    if (path === '/jwks') return response.end(JSON.stringify({ keys: [jwk] }));
    return void token().then((id_token) =>
      response.end(JSON.stringify({ access_token: 'a', token_type: 'bearer', id_token })),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const issuer = `http://127.0.0.1:${port}`;
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
  };

  async function token(): Promise<string> {
    const { claims, key = 'own' } = forging.answer;
    if (key === 'none') return new UnsecuredJWT(claims).encode();
    const { privateKey } = key === 'own' ? own : other;
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(privateKey);
  }

  const forging: ForgingProvider = {
    issuer,
    answer: { claims: {} },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return forging;
}
