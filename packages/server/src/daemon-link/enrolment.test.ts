import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { api } from '@stagi/contract/api.ts';
import { ENROL_AUDIENCE } from '@stagi/contract/daemon.ts';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { ARCHIVE } from '../nodes/downloads.ts';
import { bootScript, installCommand, issueEnrolment, revokeNode } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeKey, postEnrolment } from '../testing/daemon.ts';
import { aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

describe('enrolling a node', () => {
  let app: TestApp;
  let alice: Person;
  let daemonDir: string;

  beforeAll(async () => {
    daemonDir = mkdtempSync(join(tmpdir(), 'stagi-daemon-'));
    app = await startTestApp({ STAGI_DAEMON_DIR: daemonDir });
    alice = await app.signUp();
  });
  afterAll(async () => {
    await app?.close();
    rmSync(daemonDir, { recursive: true, force: true });
  });

  const issue = (id: number) => inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'self-hosted'));

  it('is idempotent for the same key; another key is refused and recorded', async () => {
    const id = await aSelfHostedServer(app.ctx, alice);
    const { token } = await issue(id);
    const key = makeKey();
    expect(await postEnrolment(app.url, token, key)).toMatchObject({ status: 200, body: { node: String(id) } });
    expect(await postEnrolment(app.url, token, key)).toMatchObject({ status: 200, body: { node: String(id) } });
    const again = await postEnrolment(app.url, token);
    expect(again.status).toBe(403);
    expect(again.body.message).toMatch(/already used/);
    const { entities } = await alice.client(api.selfHosted.activities, { id });
    expect(entities.filter(({ kind }) => kind === 'enrolment refused')).toHaveLength(1);
  });

  it('succeeds for one of 20 keys that race with the same file', async () => {
    const { token } = await issue(await aSelfHostedServer(app.ctx, alice));
    const answers = await Promise.all(Array.from({ length: 20 }, () => postEnrolment(app.url, token)));
    const accepted = answers.filter(({ status }) => status === 200).length;
    console.log(`enrolment race: n = ${answers.length}, accepted ${accepted}`);
    expect(accepted).toBe(1);
  });

  it('refuses a file that was replaced by a newer one, or whose server was deleted', async () => {
    const id = await aSelfHostedServer(app.ctx, alice);
    const old = await issue(id);
    const { token } = await issue(id);
    expect((await postEnrolment(app.url, old.token)).status).toBe(403);
    await inTransaction(app.ctx.db, (trx) => revokeNode(app.ctx, trx, id, 'deleted'));
    expect((await postEnrolment(app.url, token)).status).toBe(403);
  });

  it('refuses forged and expired files, other tokens, and the proof of another key', async () => {
    const id = await aSelfHostedServer(app.ctx, alice);
    const { token } = await issue(id);
    const forged = makeKey();
    const good = {
      type: 'enrol+jwt',
      audience: ENROL_AUDIENCE,
      exp: '24h' as string | number,
      signer: app.ctx.keys.command.privateKey,
    };
    const file = ({ type, audience, exp, signer }: typeof good): Promise<string> =>
      new SignJWT({ origin: app.ctx.daemonOrigin, commandKey: app.ctx.keys.command.publicJwk, kind: 'rented' })
        .setProtectedHeader({ alg: 'EdDSA', typ: type })
        .setAudience(audience)
        .setSubject(String(id))
        .setJti(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).jti)
        .setIssuedAt()
        .setExpirationTime(exp)
        .sign(signer);
    const bad = [
      await file({ ...good, signer: forged.privateKey }),
      await file({ ...good, signer: app.ctx.keys.access.privateKey }),
      await file({ ...good, type: 'at+jwt' }),
      await file({ ...good, audience: 'stagi-api' }),
      await file({ ...good, exp: Math.floor(Date.now() / 1000) - 1 }),
      alice.tokens().accessToken,
      `${token.slice(0, -4)}AAAA`,
    ];
    for (const wrong of bad) expect((await postEnrolment(app.url, wrong, makeKey(), 'any')).status).toBe(403);

    const proofOfOther = await fetch(`${app.url}/daemon-api/enrol`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        token,
        publicKey: makeKey().publicKey,
        proof: await new SignJWT({ jti: 'x' })
          .setProtectedHeader({ alg: 'EdDSA' })
          .setAudience(ENROL_AUDIENCE)
          .sign(forged.privateKey),
      }),
    });
    expect(proofOfOther.status).toBe(403);
    expect((await postEnrolment(app.url, token, makeKey(), 'another jti')).status).toBe(403);
    expect((await postEnrolment(app.url, token)).status).toBe(200);
  });

  it('gives no access to the calls of people', async () => {
    const { token } = await issue(await aSelfHostedServer(app.ctx, alice));
    const reply = await app.post('user/profile', {}, { authorization: `Bearer ${token}` });
    expect(reply.status).toBe(401);
  });

  it('answers 503 while the daemon is being built, then serves files that match the checksums of the install command', async () => {
    const early = await fetch(`${app.url}/daemon-api/install.sh`);
    expect(early.status).toBe(503);
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
    await expect(installCommand(app.ctx)).rejects.toMatchObject({ status: 503 });

    const archive = Buffer.from('not really an archive');
    const sha256 = createHash('sha256').update(archive).digest('hex');
    writeFileSync(join(daemonDir, ARCHIVE), archive);
    writeFileSync(join(daemonDir, `${ARCHIVE}.sha256`), `${sha256}  ${ARCHIVE}\n`);

    const served = Buffer.from(await (await fetch(`${app.url}/daemon-api/${ARCHIVE}`)).arrayBuffer());
    expect(served.equals(archive)).toBe(true);
    expect(await (await fetch(`${app.url}/daemon-api/${ARCHIVE}.sha256`)).text()).toContain(sha256);

    const script = await (await fetch(`${app.url}/daemon-api/install.sh`)).text();
    expect(script).toContain(app.ctx.daemonOrigin);
    expect(script).toContain(sha256);
    expect(script).not.toMatch(/@ORIGIN@|@SHA256@/);
    const line = await installCommand(app.ctx);
    expect(line).toContain(createHash('sha256').update(script).digest('hex'));
    expect(line).toMatch(/^curl .* && echo ".*" \| sha256sum -c - && sh .* --token-file daemon-token\.jwt$/);
    expect(line).not.toContain('\n');
    expect(await installCommand(app.ctx, { allowCpu: true, allowAnyLinux: true })).toBe(
      `${line} --allow-cpu --allow-any-linux`,
    );
    expect(await installCommand(app.ctx, { allowHostTerminal: true })).toBe(`${line} --allow-host-terminal`);
    expect(await installCommand(app.ctx, { allowAnyFolder: true })).toBe(`${line} --allow-any-folder`);
    expect(script).toContain('| --allow-host-terminal | --allow-any-folder)');
  });

  it('writes a boot script that downloads, checks and runs the installer with its token', async () => {
    const { token } = await issue(await aSelfHostedServer(app.ctx, alice));
    const script = (await bootScript(app.ctx, token)).replaceAll(app.ctx.daemonOrigin, app.url);
    const dir = mkdtempSync(join(tmpdir(), 'stagi-boot-'));
    const instead = `cp daemon-token.jwt ${dir}/token && stat -c %a daemon-token.jwt > ${dir}/mode && echo '$1' > ${dir}/flags`;
    writeFileSync(join(dir, 'boot.sh'), script.replace(/^.*sh install\.sh (.*)$/m, instead));
    await promisify(execFile)('sh', [join(dir, 'boot.sh')]);
    const read = (name: string): string => readFileSync(join(dir, name), 'utf8').trim();
    expect(read('token')).toBe(token);
    expect(read('mode')).toBe('600');
    expect(read('flags')).toBe('--token-file daemon-token.jwt --allow-cpu --allow-any-linux');
    rmSync(dir, { recursive: true });
    await expect(bootScript(app.ctx, `x'; reboot; '`)).rejects.toThrow();
  });
});
