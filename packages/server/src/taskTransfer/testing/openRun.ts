import { type IncomingMessage, request } from 'node:http';
import {
  TASK_INPUT_PATH,
  TASK_OUTPUT_BEGIN_PATH,
  TASK_OUTPUT_LINKS_PATH,
  TASK_OUTPUT_PARTS_PATH,
  TASK_SOURCE_PATH,
  type TaskInputPage,
  type TaskOutputLinks,
  type TaskUpload,
  type TaskUploadParts,
} from '@stagi/contract/taskTransfer.ts';
import type { Insertable } from 'kysely';
import type { z } from 'zod';
import { taskToken } from '../../containers/taskToken.ts';
import { inTransaction } from '../../db/pool.ts';
import type { TaskTable } from '../../db/taskTables.ts';
import { createRepository, repositoryDir } from '../../git/repository.ts';
import { importCommits, type NewCommit } from '../../git/testing/fastImport.ts';
import type { TestApp } from '../../testing/app.ts';
import { aProject, aStorage } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';
import { aPlacedRun, type PlacedRun } from '../../testing/taskFactories.ts';
import { createRunKeys } from '../runKeys.ts';

export interface TestRun extends PlacedRun {
  token: string;
  storageId: number;
  bucket: string;
}

export interface TransferAnswer<T> {
  status: number;
  body: T & { message: string };
}

/** A placed run as the worker makes it: with its keys, and the token that its daemon has. */
export async function anOpenRun(
  { ctx }: Pick<TestApp, 'ctx'>,
  owner: Person,
  given: Partial<Insertable<TaskTable>> = {},
): Promise<TestRun> {
  const storageId = given.storage_id ?? (await aStorage(ctx, owner));
  const placed = await aPlacedRun(ctx, owner, { ...given, storage_id: storageId });
  const task = await ctx.db.selectFrom('task').selectAll().where('id', '=', placed.taskId).executeTakeFirstOrThrow();
  await inTransaction(ctx.db, (trx) => createRunKeys(ctx, trx, { task, run: { id: placed.runId } }));
  const { name: bucket } = await ctx.db
    .selectFrom('s3_bucket')
    .innerJoin('storage', 'storage.bucket_id', 's3_bucket.id')
    .select('s3_bucket.name')
    .where('storage.id', '=', storageId)
    .executeTakeFirstOrThrow();
  return { ...placed, token: taskToken(ctx, placed.runId), storageId, bucket };
}

/** A project whose repository has these commits. */
export async function aProjectWith(
  { ctx }: TestApp,
  owner: Person,
  commits: readonly NewCommit[],
): Promise<{ id: number; dir: string; shas: string[] }> {
  const id = await aProject(ctx, owner);
  const { repository } = await ctx.db
    .selectFrom('project')
    .select('repository')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await createRepository(ctx.config, repository);
  const dir = repositoryDir(ctx.config, repository);
  return { id, dir, shas: await importCommits(dir, commits) };
}

/** As a daemon calls it. */
export async function transferCall<T = Record<string, never>>(
  { url }: Pick<TestApp, 'url'>,
  token: string | null,
  path: string,
  body: unknown,
): Promise<TransferAnswer<T>> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== null && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as TransferAnswer<T>['body'] };
}

export const askSource = ({ url }: Pick<TestApp, 'url'>, token: string | null): Promise<Response> =>
  fetch(url + TASK_SOURCE_PATH, { headers: token === null ? {} : { authorization: `Bearer ${token}` } });

export const inputOf = (app: Pick<TestApp, 'url'>, token: string | null) =>
  transferCall<z.output<typeof TaskInputPage>>(app, token, TASK_INPUT_PATH, { after: null });

export async function outputLink(app: Pick<TestApp, 'url'>, { token }: TestRun, path: string): Promise<string> {
  const asked = { files: [{ path, sizeBytes: 1 }] };
  const { body } = await transferCall<z.output<typeof TaskOutputLinks>>(app, token, TASK_OUTPUT_LINKS_PATH, asked);
  return body.links[0]!.url;
}

/** Begins an upload in parts. */
export async function openUpload(app: Pick<TestApp, 'url'>, { token }: TestRun, path: string): Promise<string> {
  const asked = { path, sizeBytes: 20 * 1024 * 1024 };
  const { body } = await transferCall<z.output<typeof TaskUpload>>(app, token, TASK_OUTPUT_BEGIN_PATH, asked);
  return body.uploadId;
}

export async function partLink(
  app: Pick<TestApp, 'url'>,
  { token }: TestRun,
  path: string,
  uploadId: string,
): Promise<string> {
  const asked = { path, uploadId, partNumbers: [1] };
  const { body } = await transferCall<z.output<typeof TaskUploadParts>>(app, token, TASK_OUTPUT_PARTS_PATH, asked);
  return body.links[0]!.url;
}

/** The head of the answer to a daemon that fetches the source of a run; its body waits. */
export function openSource({ url }: Pick<TestApp, 'url'>, token: string, host = new URL(url).host) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    request(
      {
        host: '127.0.0.1',
        port: new URL(url).port,
        path: TASK_SOURCE_PATH,
        headers: { host, authorization: `Bearer ${token}` },
        agent: false,
      },
      resolve,
    )
      .on('error', reject)
      .end();
  });
}
