import type { KeyObject } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { type Ed25519PublicJwk, LINK_AUDIENCE } from '@stagi/contract/daemon.ts';
import { importJWK, jwtVerify, SignJWT } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment, revokeNode } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, dial, enrolNode, makeKey, type NodeKey, type TestDaemon } from '../testing/daemon.ts';
import { aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

/** A third of it is the timeout of an answer, which must be enough on a busy machine. */
const LEASE_S = 6;

describe('the keys of daemons', () => {
  let app: TestApp;
  let alice: Person;
  let server: number;
  let key: NodeKey;

  beforeAll(async () => {
    app = await startTestApp({ LINK_LEASE_SECONDS: String(LEASE_S) });
    alice = await app.signUp();
    server = await aSelfHostedServer(app.ctx, alice);
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, server, 'self-hosted'));
    key = await enrolNode(app.url, token);
  });
  afterAll(async () => {
    await app?.close();
  });

  const nodeRow = () =>
    app.ctx.db.selectFrom('daemon_node').selectAll().where('instance_id', '=', server).executeTakeFirstOrThrow();
  const age = (change: Record<string, unknown>) =>
    app.ctx.db.updateTable('daemon_node').set(change).where('instance_id', '=', server).execute();
  const challenges = (daemon: TestDaemon) =>
    daemon.received.flatMap((message) => (message.type === 'challenge' ? [message.nonce] : []));
  const proofOf = (signer: KeyObject, nonce: string, more: object = {}, typ?: string) =>
    new SignJWT({ nonce, ...more })
      .setProtectedHeader({ alg: 'EdDSA', ...(typ ? { typ } : {}) })
      .setAudience(LINK_AUDIENCE)
      .setSubject(key.node)
      .setExpirationTime('1m')
      .sign(signer);

  /** Offers a key on a new link and returns the confirmed key, or the close code of the link. */
  async function offer(
    by: NodeKey,
    next: { privateKey: KeyObject; publicKey: Ed25519PublicJwk },
    change: { signer?: KeyObject; holder?: KeyObject; nonce?: string; held?: object } = {},
  ): Promise<string | number> {
    const daemon = await connectDaemon(app.url, by);
    const nonce = change.nonce ?? challenges(daemon).at(-1)!;
    const jwk = next.publicKey;
    daemon.send({
      type: 'rotate',
      proof: await proofOf(change.signer ?? by.privateKey, nonce, { jwk }, 'rotate+jwt'),
      holder: await proofOf(change.holder ?? next.privateKey, nonce, { jwk: change.held ?? jwk }, 'rotate+jwt'),
    });
    const outcome = await Promise.race([
      daemon.next('rotated').then(({ x }) => x),
      daemon.closed.then(({ code }) => code),
    ]);
    if (typeof outcome === 'string') await daemon.close();
    return outcome;
  }

  it('renew the lease of a link by another proof; a link without an answer is closed', async () => {
    const daemon = await connectDaemon(app.url, key);
    for (let renewals = 1; renewals <= 2; renewals += 1) {
      await expect.poll(() => challenges(daemon).length, { timeout: 20_000 }).toBe(renewals + 1);
      const nonce = challenges(daemon).at(-1)!;
      daemon.send({ type: 'auth', node: key.node, proof: await proofOf(key.privateKey, nonce) });
    }
    expect(new Set(challenges(daemon)).size).toBe(3);
    expect(daemon.received.filter(({ type }) => type === 'welcome')).toHaveLength(1);
    // The last challenge stays unanswered.
    expect((await daemon.closed).code).toBe(4401);

    const stranger = await connectDaemon(app.url, key);
    await expect.poll(() => challenges(stranger).length, { timeout: 20_000 }).toBe(2);
    const proof = await proofOf(makeKey().privateKey, challenges(stranger).at(-1)!);
    stranger.send({ type: 'auth', node: key.node, proof });
    expect((await stranger.closed).code).toBe(4401);
  });

  it('are rotated once after 30 days, however often it is repeated; the old key is accepted for another day', async () => {
    expect((await (await dial(app.url, key)).next('welcome')).rotateKey).toBe(false);
    await age({ key_since: sql`now() - interval '31 days'` });
    expect((await (await dial(app.url, key)).next('welcome')).rotateKey).toBe(true);

    const next = makeKey();
    expect(await offer(key, next)).toBe(next.publicKey.x);
    // The answer was lost: the old key is accepted, asked to rotate, and makes the same offer.
    expect((await (await dial(app.url, key)).next('welcome')).rotateKey).toBe(true);
    expect(await offer(key, next)).toBe(next.publicKey.x);
    const renewed = { ...key, ...next };
    expect((await (await dial(app.url, renewed)).next('welcome')).rotateKey).toBe(false);
    // The previous key may authenticate, but not rotate.
    expect(await offer(key, makeKey())).toBe(1008);
    expect((await nodeRow()).public_jwk?.x).toBe(next.publicKey.x);

    const { entities } = await alice.client(api.selfHosted.activities, { id: server });
    expect(entities.filter(({ kind }) => kind === 'key replaced')).toHaveLength(1);

    await age({ previous_until: sql`now() - interval '1 second'` });
    expect((await (await dial(app.url, key)).closed).code).toBe(4401);
    key = renewed;
  });

  it('are not rotated without proof of both keys', async () => {
    const next = makeKey();
    const other = makeKey();
    const attempts: Parameters<typeof offer>[2][] = [
      { signer: other.privateKey },
      { holder: other.privateKey },
      { nonce: 'of another link' },
      { held: other.publicKey },
    ];
    for (const change of attempts) expect(await offer(key, next, change)).toBe(1008);
    expect((await nodeRow()).public_jwk?.x).toBe(key.publicKey.x);
    console.log(`false offers of a key: n = ${attempts.length}, accepted 0`);
  });

  it('are disconnected within moments of a revocation, with a signed document', async () => {
    const daemon = await connectDaemon(app.url, key);
    const begun = performance.now();
    await inTransaction(app.ctx.db, (trx) => revokeNode(app.ctx, trx, server, 'A new enrolment file was issued'));
    const { document } = await daemon.next('revoked');
    expect((await daemon.closed).code).toBe(4403);
    const ms = performance.now() - begun;
    console.log(`revoked to cut off: ${ms.toFixed(0)} ms, n = 1`);
    expect(ms).toBeLessThan(5_000);
    const platform = await importJWK(key.commandKey, 'EdDSA');
    expect((await jwtVerify(document, platform, { typ: 'revoked+jwt' })).payload).toMatchObject({ node: key.node });
    expect((await (await dial(app.url, key)).closed).code).toBe(4403);
  });
});
