/**
 * The baseline for a fair comparison: Fastify, one EdDSA check by the same library, one indexed read by the same
 * driver.
 */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import Fastify from 'fastify';
import { jwtVerify, SignJWT } from 'jose';
import pg from 'pg';

const [{ databaseUrl, userId }] = (await once(process, 'message')) as [{ databaseUrl: string; userId: number }];
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const app = Fastify();
app.post('/profile', async (request, reply) => {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const { payload } = await jwtVerify(token, publicKey, { algorithms: ['EdDSA'] });
  const { rows } = await pool.query({
    name: 'user',
    text: 'select * from app_user where id = $1',
    values: [Number(payload.sub)],
  });
  return reply.send({ isSuccess: true, userProfile: rows[0] });
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const token = await new SignJWT({})
  .setProtectedHeader({ alg: 'EdDSA' })
  .setSubject(String(userId))
  .setExpirationTime('1h')
  .sign(privateKey);
process.send?.({ url: `${url}/profile`, token });
process.on('disconnect', () => process.exit(0));
