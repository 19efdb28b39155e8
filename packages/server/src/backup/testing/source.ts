import { randomBytes } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { seedWorkspace } from '../../app/testing/seededWorkspace.ts';
import { importCommits } from '../../git/testing/fastImport.ts';
import { aHostedProject, type HostedProject } from '../../gitHosting/testing/gitClient.ts';
import { aBucket, aKey, s3Client, s3Url, type TestBucket } from '../../objects/testing/bucket.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';
import type { Settings } from './places.ts';

/** A platform to back up. It has no workers, so that its rows stay as they are while they are compared. */
export interface Source {
  app: TestApp;
  settings: Settings;
  owner: Person;
  /** With two branches and a tag. Another project is empty. */
  project: HostedProject;
  /** With the object `weights`. */
  bucket: TestBucket;
  content: Buffer;
}

/** `isSeeded`: nearly every table has rows. */
export async function startSource({ isSeeded = false } = {}): Promise<Source> {
  const app = await startTestApp({}, { role: 'api,s3' });
  // First, as it changes all texts.
  if (isSeeded) await seedWorkspace(app, 'victim');
  const owner = await app.signUp('Ada');
  const project = await aHostedProject(app, owner);
  const commits = [
    { message: 'First', files: { 'README.md': 'one' } },
    { message: 'Second', files: { 'README.md': 'two' }, branch: 'topic' },
  ];
  await importCommits(project.dir, commits, { tags: { v1: 0 } });
  await aHostedProject(app, owner);
  const bucket = await aBucket(app, owner);
  const key = await aKey(app, owner, bucket);
  const content = randomBytes(300_000);
  await s3Client(s3Url(app), key).send(new PutObjectCommand({ Bucket: bucket.name, Key: 'weights', Body: content }));
  // Otherwise the S3 service notes it some seconds later.
  await app.ctx.db.updateTable('s3_key').set({ last_used_at: new Date() }).execute();
  const settings = {
    DATABASE_URL: app.databaseUrl,
    STAGI_DATA: app.dataDir,
    PORT: String(app.ctx.config.port),
    S3_PORT: String(app.ctx.config.s3Port),
    STAGI_ENVIRONMENT: 'test',
    LOCAL_CLOUD: 'off',
  };
  return { app, settings, owner, project, bucket, content };
}
