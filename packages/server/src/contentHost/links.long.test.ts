import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { api } from '@stagi/contract/api.ts';
import type { ShareLink } from '@stagi/contract/sharing.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { openContent, putObjects, readAnswer, visitContent } from './testing/visitContent.ts';
import { sealTicket } from './ticket.ts';

const MB = 1024 * 1024;
const ENDED = 'This link has expired or was revoked.\n';
/** What the sockets between S3 service, content host and reader may hold. */
const IN_SOCKETS = 48 * MB;
const LARGE = 96 * MB;

describe('links to objects', () => {
  let app: TestApp;
  let owner: Person;
  let member: Person;
  let id: number;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());
  beforeEach(async () => {
    [owner, member] = [await app.signUp('Ada'), await app.signUp('Max')];
    await aMember(app, member, owner.workspaceId, 'Developer');
    id = await aStorage(app.ctx, owner);
    await putObjects(app, owner, id, [
      { key: 'a/words.txt', type: 'text/plain', body: '0123456789' },
      { key: 'a/words.txt.more', type: 'text/plain', body: 'not shared' },
    ]);
  });

  const inWorkspace = (person: Person) => ({
    authorization: `Bearer ${person.tokens().accessToken}`,
    'x-client-id': String(owner.workspaceId),
    'idempotency-key': randomBytes(8).toString('hex'),
  });
  const key = 'a/words.txt';
  async function share(person = owner, input: object = {}): Promise<ShareLink & { link: string }> {
    const reply = await app.post(api.sharing.createShareLink.path, { id, key, ...input }, inWorkspace(person));
    expect(reply.body).toMatchObject({ isSuccess: true });
    return (reply.body as { entity: ShareLink & { link: string } }).entity;
  }
  async function preview(person = owner, of = key): Promise<string> {
    const reply = await app.post(api.sharing.previewLink.path, { id, key: of }, inWorkspace(person));
    expect(reply.body).toMatchObject({ isSuccess: true });
    return (reply.body as { link: string }).link;
  }
  const statusOf = async (link: string) => (await visitContent(app, link)).status;
  const listed = async () => (await owner.client(api.sharing.shareLinks, { id })).entities;

  it('show one object to anybody, by range, by condition and as a head', async () => {
    for (const link of [await preview(), (await share()).link]) {
      const whole = await visitContent(app, link);
      expect([whole.status, whole.body.toString(), whole.headers['content-length']]).toEqual([200, '0123456789', '10']);
      const { etag, 'last-modified': modified } = whole.headers;
      const part = await visitContent(app, link, { headers: { range: 'bytes=2-4' } });
      expect([part.status, part.body.toString(), part.headers['content-range']]).toEqual([206, '234', 'bytes 2-4/10']);
      const tail = await visitContent(app, link, { headers: { range: 'bytes=-3', 'if-range': etag! } });
      expect([tail.status, tail.body.toString()]).toEqual([206, '789']);
      const beyond = await visitContent(app, link, { headers: { range: 'bytes=20-' } });
      expect([beyond.status, beyond.headers['content-type']]).toEqual([416, 'text/plain; charset=utf-8']);
      const head = await visitContent(app, link, { method: 'HEAD' });
      expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '10', 0]);
      expect(head.headers['content-type']).toBe(whole.headers['content-type']);
      const since: Record<string, string>[] = [{ 'if-none-match': etag! }, { 'if-modified-since': modified! }];
      for (const headers of since) {
        const unchanged = await visitContent(app, link, { headers });
        expect([unchanged.status, unchanged.body.length]).toEqual([304, 0]);
      }
      expect(await visitContent(app, link, { headers: { 'if-match': '"other"' } })).toMatchObject({ status: 412 });
    }
  });

  it('are listed by storage and by key, without their token, until they end', async () => {
    const first = await share(member, { expiresInHours: 720 });
    const second = await share(owner, { key: 'a/words.txt.more', expiresInHours: 1 });
    expect(first.link).toMatch(
      new RegExp(`^${app.ctx.config.contentOrigin}/share/[\\w-]{43}/words\\.txt$`.replaceAll('/', '\\/')),
    );
    const { link: _, ...row } = first;
    const all = await owner.client(api.sharing.shareLinks, { id });
    expect([all.totalCount, all.entities.map((one) => one.id)]).toEqual([2, [second.id, first.id]]);
    expect(all.entities[1]).toEqual({ ...row, createdBy: 'Max' });
    expect(Date.parse(first.expiresAt) - Date.parse(first.createdAt)).toBeCloseTo(720 * 3_600_000, -5);
    const ofKey = await owner.client(api.sharing.shareLinks, { id, key: 'a/words.txt.more' });
    expect(ofKey.entities.map((one) => one.id)).toEqual([second.id]);
    const found = await owner.client(api.sharing.shareLinks, { id, entityFilterRequest: { queryString: 'txt.MORE' } });
    expect(found.entities.map((one) => one.id)).toEqual([second.id]);
    const byKey = { orderByField: 'key', orderByDirection: 'asc' } as const;
    const sorted = await owner.client(api.sharing.shareLinks, { id, entityFilterRequest: byKey });
    expect(sorted.entities.map((one) => one.key)).toEqual(['a/words.txt', 'a/words.txt.more']);
    await owner.client(api.sharing.revokeShareLink, { id, shareLinkId: second.id });
    expect((await listed()).map((one) => one.id)).toEqual([first.id]);
    for (const expiresInHours of [0, 721, 1.5])
      expect(
        (await app.post(api.sharing.createShareLink.path, { id, key, expiresInHours }, inWorkspace(owner))).status,
      ).toBe(400);
  });

  it('are not made for what is not there, and are no longer opened when it is gone', async () => {
    for (const path of [api.sharing.previewLink.path, api.sharing.createShareLink.path]) {
      const reply = await app.post(path, { id, key: 'a/word' }, inWorkspace(owner));
      expect([reply.status, reply.body]).toMatchObject([
        200,
        { isSuccess: false, message: 'This object no longer exists' },
      ]);
    }
    const links = [await preview(), (await share()).link];
    await app.ctx.db.deleteFrom('s3_object').execute();
    for (const link of links) {
      const answer = await visitContent(app, link);
      expect([answer.status, answer.body.toString()]).toEqual([404, 'This file no longer exists.\n']);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
  });

  it('are recorded in the audit log when they are made and revoked', async () => {
    const { id: shareLinkId } = await share();
    await preview();
    await owner.client(api.sharing.revokeShareLink, { id, shareLinkId });
    const { entities } = await owner.client(api.audit.list, {});
    const acts = entities.filter(({ action }) => action.startsWith('storage/'));
    expect(acts.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['storage/share-link/revoke', 'done'],
      ['storage/share-link/create', 'done'],
    ]);
    expect(acts[1]?.detail).toMatchObject({ key, expiresInHours: 24 });
    expect(JSON.stringify(acts)).not.toContain('/share/');
  });

  it('are opened by no ticket or token that is changed, made up, expired or of another workspace', async () => {
    const link = await preview();
    const ticket = link.slice(link.lastIndexOf('/') + 1);
    const parts = ticket.split('.');
    const eve = await app.signUp('Eve');
    const hers = await aStorage(app.ctx, eve);
    await putObjects(app, eve, hers, [{ key, body: 'hers' }]);
    const herLink = (await eve.client(api.sharing.previewLink, { id: hers, key })).link;
    const herTicket = herLink.slice(herLink.lastIndexOf('/') + 1);
    const keys = await app.ctx.db.selectFrom('s3_key').selectAll().orderBy('id').execute();
    const buckets = await app.ctx.db.selectFrom('s3_bucket').select(['id', 'name', 'workspace_id']).execute();
    const bucketOf = (person: Person) => buckets.find((one) => one.workspace_id === person.workspaceId)!.name;
    const keyOf = (person: Person, purpose: string) =>
      keys.find((one) => one.workspace_id === person.workspaceId && one.purpose === purpose)!.access_key_id;
    const soon = new Date(Date.now() + 60_000);
    const seal = (bucket: string, accessKeyId: string, expiresAt = soon) =>
      sealTicket(app.ctx, { bucket, key, accessKeyId }, expiresAt);

    const dead: [string, string, number][] = [
      ['nothing', '', 404],
      ['a word', 'x', 404],
      ['no version', parts.slice(1).join('.'), 404],
      ['a ticket cut off', ticket.slice(0, -4), 404],
      [
        'a short seal',
        [...parts.slice(0, 4), Buffer.from(parts[4]!, 'base64url').subarray(0, 4).toString('base64url')].join('.'),
        404,
      ],
      ['the seal of another', [...parts.slice(0, 4), herTicket.split('.')[4]].join('.'), 404],
      ['the text of another', [...parts.slice(0, 3), herTicket.split('.')[3], parts[4]].join('.'), 404],
      ['something else that we sealed', app.ctx.secrets.seal('["b","a","k",1]', 'container|env|1'), 404],
      ['an expired one', seal(bucketOf(owner), keyOf(owner, 'browser'), new Date(Date.now() - 1)), 410],
      ['another workspace’s bucket', seal(bucketOf(eve), keyOf(owner, 'browser')), 410],
      ['another workspace’s key', seal(bucketOf(owner), keyOf(eve, 'browser')), 410],
      ['a key that is no browser’s', seal(bucketOf(owner), keyOf(owner, 'person')), 410],
      ['no key', seal(bucketOf(owner), 'STGAAAAAAAAAAAAAAAAA'), 410],
    ];
    for (let at = 0; at < ticket.length; at += 7) {
      const other = ticket[at] === 'A' ? 'B' : 'A';
      dead.push([`character ${at} changed`, ticket.slice(0, at) + other + ticket.slice(at + 1), 404]);
    }
    let opened = 0;
    for (const [what, changed, status] of dead) {
      const answer = await visitContent(app, `${app.ctx.config.contentOrigin}/preview/${changed}`);
      if (answer.status === 200) opened += 1;
      expect([what, answer.status, answer.headers['content-type']]).toEqual([
        what,
        status,
        'text/plain; charset=utf-8',
      ]);
    }
    const { link: shared } = await share();
    const token = new URL(shared).pathname.split('/')[2]!;
    for (const changed of [
      '',
      'x',
      token.slice(1),
      `${token}A`,
      randomBytes(32).toString('base64url'),
      token.toLowerCase(),
    ]) {
      const answer = await visitContent(app, shared.replace(token, changed));
      if (answer.status === 200) opened += 1;
      expect(answer.status).toBe(404);
    }
    expect(await statusOf(link)).toBe(200);
    expect(await statusOf(shared.replace(/[^/]*$/, 'anything'))).toBe(200);
    expect(await statusOf(shared.replace(/\/[^/]*$/, '/a/b'))).toBe(404);
    console.log(`changed tickets and tokens: n = ${dead.length + 6}, opened ${opened}`);
  });

  const ENDINGS: [string, (link: ShareLink) => Promise<unknown>, { previews: boolean }][] = [
    [
      'it is revoked',
      ({ id: shareLinkId }) => owner.client(api.sharing.revokeShareLink, { id, shareLinkId }),
      { previews: false },
    ],
    [
      'it expires',
      async (link) =>
        sql`update s3_key set expires_at = now() where id =
        (select key_id from storage_share where id = ${link.id})`.execute(app.ctx.db),
      { previews: false },
    ],
    [
      'its maker is removed',
      () => owner.client(api.clients.removeMember, { userId: member.userId }),
      { previews: true },
    ],
    [
      'its maker’s account is disabled',
      () =>
        app.ctx.db
          .updateTable('app_user')
          .set({ disabled_at: sql<Date>`now()` })
          .where('id', '=', member.userId)
          .execute(),
      { previews: true },
    ],
    [
      'the workspace is disabled',
      () =>
        app.ctx.db
          .updateTable('workspace')
          .set({ disabled_at: sql<Date>`now()` })
          .where('id', '=', owner.workspaceId)
          .execute(),
      { previews: true },
    ],
    [
      'the bucket is closed',
      () =>
        app.ctx.db
          .updateTable('s3_bucket')
          .set({ closed_at: sql<Date>`now()` })
          .where('workspace_id', '=', owner.workspaceId)
          .execute(),
      { previews: true },
    ],
  ];

  it.each(ENDINGS)('end within 2 s, open downloads too, when %s', async (_, end, { previews }) => {
    await putObjects(app, owner, id, [{ key: 'large', body: randomBytes(LARGE) }]);
    const shared = await share(member, { key: 'large' });
    const links = [shared.link, ...(previews ? [await preview(member, 'large')] : [])];
    const open = await Promise.all(links.map((link) => openContent(app, link)));
    for (const answer of open) {
      expect(answer.statusCode).toBe(200);
      // Its reader takes a little, then waits.
      await new Promise((resolve) => answer.once('data', resolve));
      answer.pause();
    }
    await end(shared);
    const at = performance.now();
    for (const link of links) {
      const answer = await visitContent(app, link, { headers: { range: 'bytes=0-9' } });
      expect([answer.status, answer.body.toString()]).toEqual([410, ENDED]);
    }
    const seconds = await Promise.all(
      open.map(async (answer) => {
        const cut = await readSlowlyUntilCut(answer);
        expect(cut.isComplete).toBe(false);
        expect(cut.bytes).toBeLessThan(LARGE);
        return (performance.now() - at) / 1000;
      }),
    );
    expect(Math.max(...seconds)).toBeLessThan(2.5);
    console.log(
      `open downloads cut after ${seconds.map((one) => one.toFixed(1)).join(', ')} s (n = ${seconds.length})`,
    );
  });

  it('wait for a slow reader in little memory, and end their work for one who goes', async () => {
    await putObjects(app, owner, id, [{ key: 'large', body: randomBytes(LARGE) }]);
    const { link } = await share(owner, { key: 'large' });
    const { s3Port } = app.ctx.config;
    const answer = await openContent(app, link);
    answer.pause();
    const during = connectionsTo(s3Port);
    answer.destroy();
    await expect.poll(() => connectionsTo(s3Port), { timeout: 10_000 }).toBeLessThan(during);

    const slow = await openContent(app, link);
    slow.pause();
    const memory = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let n = 0; n < 20; n += 1) {
      expect((await visitContent(app, link, { method: 'HEAD' })).status).toBe(200);
      most = Math.max(most, process.memoryUsage().arrayBuffers - memory);
    }
    expect(most).toBeLessThan(IN_SOCKETS);
    const whole = await readAnswer(slow);
    expect([whole.isComplete, whole.body.length]).toEqual([true, LARGE]);
    console.log(`a reader who waited before ${LARGE / MB} MB: ${Math.round(most / MB)} MB more in memory`);
  });

  it('are rate limited by address', async () => {
    const strict = await startTestApp({}, { role: 'api' });
    const statuses = new Map<number, number>();
    for (let n = 0; n < 620; n += 1) {
      const { status, headers } = await visitContent(strict, `${strict.ctx.config.contentOrigin}/share/x/y`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    expect([...statuses]).toEqual([
      [404, 600],
      [429, 20],
    ]);
    await strict.close();
  });
});

/** Reads at about 8 MB/s, so that what sockets hold does not run out before the cut. */
function readSlowlyUntilCut(answer: Awaited<ReturnType<typeof openContent>>) {
  let bytes = 0;
  return new Promise<{ bytes: number; isComplete: boolean }>((resolve) => {
    answer.on('data', (part: Buffer) => {
      bytes += part.length;
      answer.pause();
      setTimeout(() => answer.resume(), part.length / 8_000);
    });
    answer.on('error', () => {});
    answer.on('close', () => resolve({ bytes, isComplete: answer.complete }));
    answer.resume();
  });
}

/** Established connections of this machine to a port. */
function connectionsTo(port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .filter((line) => {
      const [, , remote = '', state] = line.trim().split(/\s+/);
      return remote.endsWith(wanted) && state === '01';
    }).length;
}
