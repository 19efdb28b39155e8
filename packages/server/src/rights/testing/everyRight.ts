import { randomUUID } from 'node:crypto';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { authorizePass } from '../../containerAccess/pass.ts';
import { passOf, requestCookieOf, stateOf, visitHost } from '../../containerAccess/testing/portHost.ts';
import { putObjects, visitContent } from '../../contentHost/testing/visitContent.ts';
import { importCommits } from '../../git/testing/fastImport.ts';
import { aHostedProject, type Machine } from '../../gitHosting/testing/gitClient.ts';
import { authorizedKeys } from '../../instances/sshAccess.ts';
import { s3Client, s3Url } from '../../objects/testing/bucket.ts';
import { signAccessToken } from '../../sessions/accessToken.ts';
import type { TestApp } from '../../testing/app.ts';
import { aContainerWithPortOn } from '../../testing/containerWithPort.ts';
import { eventsOf } from '../../testing/eventStream.ts';
import { anApiToken, anAuthorizedApp, aRentedInstance, aStorage } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

export const APPS_DOMAIN = 'apps.localhost:4400';
const OBJECT = 'words.txt';

/** A workspace with the things that a member gets rights to. */
export interface Ground {
  app: TestApp;
  owner: Person;
  storageId: number;
  serverId: number;
  container: { id: number; slug: string };
  project: Awaited<ReturnType<typeof aHostedProject>>;
}

export async function aGround(app: TestApp, owner: Person): Promise<Ground> {
  const storageId = await aStorage(app.ctx, owner);
  await putObjects(app, owner, storageId, [{ key: OBJECT, type: 'text/plain', body: '0123456789' }]);
  const serverId = await aRentedInstance(app.ctx, owner);
  const container = await aContainerWithPortOn(app.ctx, owner, serverId);
  const project = await aHostedProject(app, owner);
  await importCommits(project.dir, [{ message: 'Begin', files: { [OBJECT]: 'hello\n' } }]);
  return { app, owner, storageId, serverId, container, project };
}

/** Answers whether a right is alive now. */
type Probe = () => Promise<boolean>;

export interface Rights {
  probes: Record<string, Probe>;
  tokenId: number;
  /** The session of the app that they let in. */
  appSession: string;
}

/**
 * Every kind of right that rests on a member: each is used once here. `machine` has an SSH key of the member's account.
 */
export async function everyRight(
  { app, owner, storageId: id, serverId, container, project }: Ground,
  member: Person,
  machine: Machine,
): Promise<Rights> {
  const { id: tokenId, token } = await anApiToken(app.ctx, member);
  const appSession = await anAuthorizedApp(app.ctx, member);
  const headersOf: Record<string, Record<string, string>> = {
    session: { authorization: `Bearer ${member.tokens()!.accessToken}`, 'x-client-id': String(owner.workspaceId) },
    token: { authorization: `Bearer ${token}` },
    app: {
      authorization: `Bearer ${await signAccessToken(app.ctx.keys.access, member.userId, appSession)}`,
      'x-client-id': String(owner.workspaceId),
    },
  };
  const call = async <T>(by: string, path: string, body: unknown): Promise<T> => {
    const headers = { ...headersOf[by], 'idempotency-key': randomUUID() };
    const answer = await app.post(path, body, headers);
    if (answer.status !== 200) throw new Error(`${path} by ${by}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as T;
  };
  const { name: Bucket } = await app.ctx.db
    .selectFrom('s3_bucket')
    .innerJoin('storage', 'storage.bucket_id', 's3_bucket.id')
    .select('s3_bucket.name')
    .where('storage.id', '=', id)
    .executeTakeFirstOrThrow();
  const opens =
    (link: string): Probe =>
    async () =>
      (await visitContent(app, link)).status === 200;

  const probes: Record<string, Probe> = {};
  for (const by of Object.keys(headersOf)) {
    const key = await call<{ entity: { id: number; accessKeyId: string; secretAccessKey: string } }>(
      by,
      api.storages.createKey.path,
      { id, title: by, mode: 'read-only' },
    );
    const client = s3Client(s3Url(app), key.entity);
    probes[`access key by ${by}`] = () =>
      client.send(new ListObjectsV2Command({ Bucket })).then(
        () => true,
        (error: Error) => {
          if (error.name !== 'InvalidAccessKeyId') throw error;
          return false;
        },
      );
    const share = await call<{ entity: { link: string } }>(by, api.sharing.createShareLink.path, { id, key: OBJECT });
    probes[`share link by ${by}`] = opens(share.entity.link);
    const preview = await call<{ link: string }>(by, api.sharing.previewLink.path, { id, key: OBJECT });
    probes[`preview by ${by}`] = opens(preview.link);
    const signed = await call<{ link: string }>(by, api.storages.downloadLink.path, { id, key: OBJECT });
    probes[`presigned link by ${by}`] = async () => (await fetch(signed.link)).status === 200;
    const tree = await call<{ raw: { link: string } }>(by, api.projectCode.tree.path, { id: project.id });
    probes[`code link by ${by}`] = opens(`${tree.raw.link}${OBJECT}`);
    probes[`call by ${by}`] = async () => (await app.post(api.storages.list.path, {}, headersOf[by])).status === 200;
  }

  const sshKeyId = (await member.client(api.sshKeys.list, {})).entities[0]!.id;
  await member.client(api.instances.addSshKey, { id: serverId, sshKeyId });
  probes['SSH key on a server'] = async () =>
    ((await authorizedKeys(app.ctx.db, serverId)) ?? []).some((line) => line.endsWith(`-${sshKeyId}`));
  probes['git over SSH'] = async () => (await machine.git(['ls-remote', project.ssh])).code === 0;
  probes['git over HTTPS'] = async () => (await machine.git(['ls-remote', project.https(token)])).code === 0;

  const host = `${container.slug}-8080.${APPS_DOMAIN}`;
  const trip = requestCookieOf(await visitHost(app, host, '/'));
  const entered = await member.client(api.containerAccess.enter, {
    slug: container.slug,
    returnUrl: `http://${host}/`,
    trip: stateOf(trip),
  });
  const { pathname, search } = new URL(entered.link);
  const pass = passOf(await visitHost(app, host, pathname + search, { cookie: trip }));
  probes['port cookie'] = async () =>
    (await authorizePass(app.ctx, { slug: container.slug, port: 8080 }, pass)) !== null;

  const events = await eventsOf(app.url, member);
  probes['event stream'] = async () => events.code() === null;
  return { probes, tokenId, appSession };
}

/** Those that are alive, in their order. */
export async function aliveOf({ probes }: Rights): Promise<string[]> {
  const names = Object.keys(probes);
  const alive = await Promise.all(names.map((name) => probes[name]!()));
  return names.filter((_, index) => alive[index]);
}
