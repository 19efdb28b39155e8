import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { aHostedProject, aToken, type Machine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { aBucket, aKey, s3Client, type TestBucket } from '@stagi/server/src/objects/testing/bucket.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import type { Platform } from '@stagi/server/src/testing/platform.ts';
import type { Random } from './random.ts';

/** Acknowledged ones. */
export interface Writes {
  objects: number;
  deletions: number;
  commits: number;
  storages: number;
}

/** Writes go to `platform`, which is killed now and then; `app` is another process on the same data. */
export interface Written {
  app: TestApp;
  platform: Platform;
  machine: Machine;
  random: Random;
  writes: Writes;
}

interface Writer {
  person: Person;
  bucket: TestBucket;
  client: S3Client;
  folder: string;
}

const KEYS_OF_WRITER = 6;

/** Objects of one archive, written before anybody else writes. */
export async function fillArchive({ app, platform }: Written, megabytes: number, objectBytes: number): Promise<void> {
  const owner = await app.signUp('Archive');
  const bucket = await aBucket(app, owner, { gb: 100 });
  const client = s3Client(platform.s3Url, await aKey(app, owner, bucket));
  for (let n = 0; n * objectBytes < megabytes * 1e6; n++)
    await client.send(
      new PutObjectCommand({ Bucket: bucket.name, Key: `archive-${n}`, Body: randomBytes(objectBytes) }),
    );
}

export async function aWriter({ app, platform, machine }: Written, n: number): Promise<Writer> {
  const person = await app.signUp(`Writer ${n}`);
  const project = await aHostedProject(app, person);
  const bucket = await aBucket(app, person);
  const origin = project
    .https(await aToken(app, person))
    .replace(`@${new URL(app.url).host}`, `@${new URL(platform.url).host}`);
  return {
    person,
    bucket,
    client: s3Client(platform.s3Url, await aKey(app, person, bucket)),
    folder: await machine.repository(`writer-${n}`, origin),
  };
}

/** Until `ended`. What the platform does not acknowledge, as it is down, does not count. */
export async function keepWriting(stage: Written, writer: Writer, ended: AbortSignal): Promise<void> {
  for (let n = 0; !ended.aborted; n++) if (!(await writeSomething(stage, writer, n))) await pause(50);
}

async function writeSomething({ machine, random, writes }: Written, writer: Writer, n: number): Promise<boolean> {
  const at = { Bucket: writer.bucket.name, Key: `key-${Math.floor(random() * KEYS_OF_WRITER)}` };
  const choice = random();
  if (choice < 0.7) {
    const Body = randomBytes(1_000 + Math.floor(random() * 200_000));
    return isAcknowledged(writes, 'objects', writer.client.send(new PutObjectCommand({ ...at, Body })));
  }
  if (choice < 0.85) return isAcknowledged(writes, 'deletions', writer.client.send(new DeleteObjectCommand(at)));
  if (choice < 0.98) {
    await machine.commit(writer.folder, `file-${n}`, randomBytes(2_000));
    return isAcknowledged(writes, 'commits', machine.ok(['push', '-q', 'origin', 'main'], { cwd: writer.folder }));
  }
  const slug = `s-${writer.person.userId}-${n}`;
  const storage = { title: slug, slug, sizeGb: 1, location: 'local' };
  return isAcknowledged(writes, 'storages', writer.person.client(api.storages.create, storage));
}

async function isAcknowledged(writes: Writes, kind: keyof Writes, write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
  } catch {
    return false;
  }
  writes[kind] += 1;
  return true;
}
