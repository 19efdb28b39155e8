import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { HOSTILE, type Hostile, PRIVILEGES } from '@stagi/contract/testing/hostileSpecs.ts';
import type { Selectable } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { ContainerTable } from '../db/computeTables.ts';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, enrolNode, type TestDaemon } from '../testing/daemon.ts';
import { aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const SOURCES = join(import.meta.dirname, '../..');

/** What people ask for: all but what the daemon reports meanwhile. */
function askedOf(row: Selectable<ContainerTable>): object {
  const {
    status: _status,
    status_since: _since,
    status_seen_at: _seenAt,
    status_deadline: _deadline,
    status_reason: _reason,
    progress: _progress,
    failed_step: _failedStep,
    health: _health,
    bound_ports: _boundPorts,
    protections: _protections,
    docker_id: _dockerId,
    exit_code: _exitCode,
    started_at: _startedAt,
    finished_at: _finishedAt,
    ...asked
  } = row;
  return asked;
}

describe('hostile containers', () => {
  let app: TestApp;
  let alice: Person;
  const servers: { kind: string; id: number; daemon: TestDaemon }[] = [];
  /** As daemons do: a server that is silent for 40 s refuses everything, whatever is asked for. */
  const beats = setInterval(() => {
    for (const { daemon } of servers) daemon.send({ type: 'heartbeat', at: new Date().toISOString() });
  }, 5_000);

  beforeAll(async () => {
    app = await startTestApp();
    alice = await app.signUp();
    for (const kind of ['rented', 'self-hosted'] as const) {
      const id = await (kind === 'rented' ? aRentedInstance(app.ctx, alice) : aSelfHostedServer(app.ctx, alice));
      const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, kind));
      servers.push({
        kind,
        id,
        daemon: await connectDaemon(app.url, await enrolNode(app.url, token), { features: [EDIT_FEATURE] }),
      });
    }
  });
  afterAll(async () => {
    clearInterval(beats);
    for (const { daemon } of servers) await daemon.close();
    await app?.close();
  });

  const plain = (id: number) => ({
    instanceRef: { id },
    title: 'Web',
    slug: 'web',
    dockerImage: 'busybox',
    cpus: 0.5,
  });
  const asked = (id: number, { slug, spec, asked: words }: Hostile) => ({
    ...plain(id),
    ...(slug === undefined ? {} : { slug }),
    ...(spec.image === undefined ? {} : { dockerImage: spec.image }),
    env: spec.env ?? [],
    gpuIds: spec.gpuIds ?? [],
    portMappings: spec.ports ?? [],
    directoryMappings: spec.directories ?? [],
    ...words,
  });
  /** The status of the reply, and 200 when it was accepted. */
  const outcome = (body: object) =>
    alice.client(api.containers.create, body as InputOf<typeof api.containers.create>).then(
      () => 200,
      (error: unknown) => (error instanceof CallError ? error.status : Promise.reject(error)),
    );
  const rows = async () =>
    Number(
      (
        await app.ctx.db
          .selectFrom('container')
          .select((of) => of.fn.countAll().as('n'))
          .executeTakeFirstOrThrow()
      ).n,
    );

  it('are refused on both kinds of server, one or several at once, and leave no rows', async () => {
    const accepted: string[] = [];
    let sent = 0;
    for (const { kind, id } of servers) {
      for (const hostile of HOSTILE) {
        for (const more of [{}, { count: 2 }]) {
          sent += 1;
          if ((await outcome({ ...asked(id, hostile), ...more })) !== 400) accepted.push(`${kind}: ${hostile.name}`);
        }
      }
    }
    console.log(`hostile creations: n = ${sent} of ${HOSTILE.length} specs, accepted ${accepted.length}`);
    expect(accepted).toEqual([]);
    expect(await rows()).toBe(0);
    for (const { daemon } of servers) expect((await daemon.desired()).containers.map(({ slug }) => slug)).toEqual([]);
  });

  it('get no privilege from unknown fields, at the top or within a port, a volume or a variable', async () => {
    const { id } = servers[1]!;
    const accepted: unknown[] = [];
    for (const privilege of PRIVILEGES) {
      const bodies = [
        { ...plain(id), ...privilege },
        { ...plain(id), portMappings: [{ host: 8080, container: 80, ...privilege }] },
        { ...plain(id), directoryMappings: [{ host: '/srv/x', container: '/x', ...privilege }] },
        { ...plain(id), env: [{ name: 'A', value: '', ...privilege }] },
      ];
      for (const body of bodies) if ((await outcome(body)) !== 400) accepted.push(body);
    }
    console.log(`rights that were asked for by name: n = ${PRIVILEGES.length * 4}, accepted ${accepted.length}`);
    expect(accepted).toEqual([]);
    expect(await rows()).toBe(0);
  });

  // Each of these was a hole of Portainer: a rule on one path, and another path beside it.
  it('have no other way in: one place in the server inserts rows, one in the daemon creates containers (CVE-2026-44849)', () => {
    const code = (pattern: string) =>
      globSync(pattern, { cwd: SOURCES })
        .filter((file) => !/\.test\.ts$|\/testing\/|providers\//.test(file))
        .map((file) => ({ file, text: readFileSync(join(SOURCES, file), 'utf8') }));
    const server = code('src/**/*.ts');
    expect(
      server
        .filter(({ text }) => /insertInto\('container'\)|insert into container\b/.test(text))
        .map(({ file }) => file),
    ).toEqual(['src/containers/insert.ts']);
    // What may be changed of a row afterwards: never what the policy looked at, but to nothing.
    const emptied = /\b\w+: (null|''|\[\])/g;
    const looked = /\b(image|command|ports|directories|gpu_ids|cpus|memory_gb|env_sealed|restart_policy):/;
    const changes = server.flatMap(({ text }) => text.match(/updateTable\('container'\)[\s\S]*?\.where/g) ?? []);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.filter((change) => looked.test(change.replaceAll(emptied, '')))).toEqual([]);
    // But for a change of the whole specification, which goes through the policy first or back to what went through it.
    const whole = server.filter(({ text }) => /updateTable\('container'\)[^;]*?\.\.\.columns\b/.test(text));
    expect(whole.map(({ file }) => file)).toEqual(['src/containers/edit.ts']);
    const daemon = code('../daemon/src/**/*.ts');
    expect(daemon.filter(({ text }) => /createContainer\(|createService\(/.test(text)).map(({ file }) => file)).toEqual(
      ['../daemon/src/docker.ts'],
    );
  });

  it('are not created by members who may not manage servers (CVE-2020-24263)', async () => {
    const guest = await app.signUp();
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: alice.workspaceId, user_id: guest.userId, role: 'Guest' })
      .execute();
    guest.useWorkspace(alice.workspaceId);
    const statuses = await Promise.all(
      servers.map(({ id }) =>
        guest.client(api.containers.create, plain(id) as InputOf<typeof api.containers.create>).then(
          () => 200,
          (error: CallError) => error.status,
        ),
      ),
    );
    expect(statuses).toEqual([403, 403]);
    expect(await rows()).toBe(0);
  });

  it('are not got by editing or cloning a container, in whatever status, and change nothing', async () => {
    const accepted: string[] = [];
    let sent = 0;
    for (const { kind, id, daemon } of servers) {
      const { entity } = await alice.client(api.containers.create, {
        ...plain(id),
        slug: `target-${kind}`,
        gpuIds: [],
      });
      const there = await daemon.desired(({ containers }) => containers.some(({ slug }) => slug === entity.slug));
      const row = () =>
        app.ctx.db.selectFrom('container').selectAll().where('id', '=', entity.id).executeTakeFirstOrThrow();
      for (const status of ['creating', 'running']) {
        if (status === 'running') daemon.applyDesired(there);
        await expect.poll(async () => (await row()).status).toBe(status);
        const before = await row();
        for (const hostile of HOSTILE.filter(({ slug }) => slug === undefined)) {
          const { instanceRef: _, slug: _s, ...change } = asked(id, hostile);
          const edit = { ref: { id: entity.id }, ...change };
          const clone = { ...asked(id, hostile), slug: 'cloned', cloneOf: { id: entity.id } };
          for (const ask of [
            () => alice.client(api.containers.edit, edit as InputOf<typeof api.containers.edit>),
            () => alice.client(api.containers.create, clone as InputOf<typeof api.containers.create>),
          ]) {
            sent += 1;
            const reply = await ask().then(
              () => 200,
              (error: unknown) => (error instanceof CallError ? error.status : Promise.reject(error)),
            );
            if (reply !== 400) accepted.push(`${kind}, ${status}: ${hostile.name} ${reply}`);
          }
        }
        for (const privilege of PRIVILEGES) {
          sent += 1;
          const body = { ref: { id: entity.id }, cpus: 0.5, ...privilege } as InputOf<typeof api.containers.edit>;
          const reply = await alice.client(api.containers.edit, body).then(
            () => 200,
            (error: CallError) => error.status,
          );
          if (reply !== 400) accepted.push(`${kind}, ${status}: ${JSON.stringify(privilege)} ${reply}`);
        }
        const after = await row();
        expect(askedOf(after)).toEqual(askedOf(before));
      }
    }
    console.log(`hostile edits and clones: n = ${sent}, accepted ${accepted.length}`);
    expect(accepted).toEqual([]);
    expect(await rows()).toBe(servers.length);
  });

  it('cannot be reached over a socket without a proof (CVE-2018-12678)', async () => {
    for (const path of ['/daemon-api/link', '/frontend-api/logging/tail?type=docker-container&id=1']) {
      const socket = new WebSocket(`${app.url.replace('http', 'ws')}${path}`);
      const heard: string[] = [];
      const ended = new Promise<void>((resolve) => {
        socket.on('close', () => resolve());
        socket.on('error', () => resolve());
      });
      socket.on('message', (data) => heard.push(JSON.parse(String(data)).type));
      socket.on('open', () => socket.send(JSON.stringify({ type: 'inventory', inventory: {} })));
      await ended;
      expect(heard.filter((type) => type !== 'challenge')).toEqual([]);
    }
  });
});
