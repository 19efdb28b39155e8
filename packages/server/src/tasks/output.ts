import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { outputPrefix, TASKS_PREFIX } from '@stagi/contract/taskRules.ts';
import { text } from '@stagi/contract/text.ts';
import { createPreviewLink } from '../contentHost/previewLink.ts';
import { createZipLink } from '../contentHost/zipLink.ts';
import { refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { type StorageView, viewStorage } from '../storages/find.ts';
import { presignDownload } from '../storages/links.ts';
import { pageOfObjects } from '../storages/objects.ts';
import { viewTask } from './find.ts';

type Input<Name extends keyof typeof api.tasks> = ParsedInputOf<(typeof api.tasks)[Name]>;

/** What the web app signs for people who may run tasks, whatever else they may: reading what tasks have put out. */
const SCOPE = { prefix: TASKS_PREFIX, mode: 'read-only' } as const;

/** One level of the files of a task. Keys and folders are relative to its output directory. */
export async function listOutput(
  ctx: Member,
  { id, prefix, after, limit }: Input<'output'>,
): Promise<OutputOf<typeof api.tasks.output>> {
  const { storage, root } = await outputOf(ctx, id);
  const page = await pageOfObjects(ctx.db, storage, {
    prefix: root + prefix,
    folders: true,
    after: after === undefined ? undefined : root + after,
    limit,
  });
  const relative = (key: string): string => key.slice(root.length);
  return {
    isSuccess: true,
    folders: page.folders.map(relative),
    objects: page.objects.map((object) => ({ ...object, key: relative(object.key) })),
    next: page.next === null ? null : relative(page.next),
  };
}

export async function outputLink(
  ctx: Member,
  { id, key, inline }: Input<'outputLink'>,
): Promise<{ link: string; expiresAt: string }> {
  const { storage, root } = await outputOf(ctx, id);
  return presignDownload(ctx, storage.id, { key: root + key, inline }, SCOPE);
}

export async function outputPreview(
  ctx: Member,
  { id, key }: Input<'outputPreview'>,
): Promise<{ link: string; expiresAt: string }> {
  const { storage, root } = await outputOf(ctx, id);
  return createPreviewLink(ctx, { id: storage.id, key: root + key }, SCOPE);
}

export async function outputZip(
  ctx: Member,
  { id, prefix }: Input<'outputZip'>,
): Promise<{ link: string; expiresAt: string }> {
  const { storage, root, slug } = await outputOf(ctx, id);
  const name = prefix === '' ? `${slug}-output` : undefined;
  return createZipLink(ctx, { id: storage.id, prefix: root + prefix, name }, SCOPE);
}

async function outputOf(ctx: Member, taskId: number): Promise<{ storage: StorageView; root: string; slug: string }> {
  const task = await viewTask(ctx, { id: taskId });
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id: task.storage_id });
  if (storage.status === 'terminating' || storage.status === 'deleted')
    throw refused(text('The storage of this task was deleted'));
  return { storage, root: outputPrefix(task.id), slug: task.slug };
}
