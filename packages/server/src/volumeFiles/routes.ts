import { randomUUID } from 'node:crypto';
import type { api } from '@stagi/contract/api.ts';
import type { Call, ParsedInputOf } from '@stagi/contract/call.ts';
import { Done, FileFacts, PartialUpload, Removed } from '@stagi/contract/daemonFiles.ts';
import { UPLOAD_PATH } from '@stagi/contract/volumeFiles.ts';
import { PublicError } from '../http/errors.ts';
import { type Handler, type HandlersOf, type Member, prepareOutsideTransaction } from '../http/handlers.ts';
import { askDaemon, listFolder, type Volume } from './daemonFiles.ts';
import { findVolume } from './find.ts';
import { nameOf, presentEntry } from './present.ts';
import { readText } from './readText.ts';
import { sealTicket } from './ticket.ts';
import { writeText } from './writeText.ts';

type OfVolume = Call & { input: { _output: { id: number; volume: string } } };

/** A call that changes files: done before the transaction of its audit entry, in which its refusal is recorded too. */
function changing<C extends OfVolume, Answer>(
  change: (ctx: Member, volume: Volume, input: ParsedInputOf<C>) => Promise<Answer>,
): Handler<C> {
  return prepareOutsideTransaction<C, Answer | PublicError>(
    async (ctx, input) => {
      try {
        return await change(ctx as Member, await findVolume(ctx as Member, input as never, 'change'), input);
      } catch (error) {
        if (error instanceof PublicError) return error;
        throw error;
      }
    },
    async (_ctx, _input, done) => {
      if (done instanceof PublicError) throw done;
      return { isSuccess: true, ...done } as never;
    },
  );
}

type Calls = typeof api.volumeFiles;

export const volumeFileHandlers: HandlersOf<Calls> = {
  async list(ctx, { path, prefix, after, limit, ...of }) {
    const volume = await findVolume(ctx, of, 'read');
    const operation = { do: 'list', path, prefix, after: after ?? null, limit } as const;
    const { entries, next } = await listFolder(ctx, volume, operation);
    return { isSuccess: true, entries: entries.map(presentEntry), next };
  },
  async view(ctx, { path, ...of }) {
    const facts = await askDaemon(ctx, await findVolume(ctx, of, 'read'), { do: 'stat', path }, FileFacts);
    return { isSuccess: true, entry: presentEntry({ ...facts, name: nameOf(path) }) };
  },
  async read(ctx, { path, maxBytes, ...of }) {
    return { isSuccess: true, ...(await readText(ctx, await findVolume(ctx, of, 'read'), path, maxBytes)) };
  },
  write: changing<Calls['write'], object>(async (ctx, volume, input) => ({
    entry: await writeText(ctx, volume, input),
  })),
  mkdir: changing<Calls['mkdir'], object>((ctx, volume, { path }) =>
    askDaemon(ctx, volume, { do: 'mkdir', path }, Done),
  ),
  rename: changing<Calls['rename'], object>((ctx, volume, { path, newPath }) =>
    askDaemon(ctx, volume, { do: 'rename', path, to: newPath }, Done),
  ),
  delete: changing<Calls['delete'], object>(async (ctx, volume, { path }) => {
    const { removed, isMore } = await askDaemon(ctx, volume, { do: 'remove', path }, Removed);
    return { deleted: removed, isMore };
  }),
  upload: changing<Calls['upload'], object>(async (ctx, volume, input) => {
    const { path, sizeBytes: total, replace } = input;
    const upload = input.uploadId ?? randomUUID();
    const partial = { do: 'partial', path, upload } as const;
    const offset = input.uploadId ? (await askDaemon(ctx, volume, partial, PartialUpload)).sizeBytes : 0;
    const replaces = replace ? ({ any: true } as const) : ({ nothing: true } as const);
    const { sealed, expiresAt } = sealTicket(ctx, input, { for: 'upload', upload, total, replaces });
    return { link: ctx.config.appOrigin + UPLOAD_PATH + sealed, uploadId: upload, offset, expiresAt };
  }),
  discardUpload: changing<Calls['discardUpload'], object>((ctx, volume, { path, uploadId }) =>
    askDaemon(ctx, volume, { do: 'discard', path, upload: uploadId }, Done),
  ),
  async download(ctx, { path, ...of }) {
    const volume = await findVolume(ctx, of, 'change');
    const { kind } = await askDaemon(ctx, volume, { do: 'stat', path }, FileFacts);
    const isFolder = kind === 'folder';
    return { isSuccess: true, ...linkTo(ctx, { ...of, path }, { for: 'download', isFolder }) };
  },
  async previewLink(ctx, { path, ...of }) {
    await findVolume(ctx, of, 'read');
    return { isSuccess: true, ...linkTo(ctx, { ...of, path }, { for: 'preview' }) };
  },
};

/** On the content host: what users made is shown from an origin that knows no session. */
function linkTo(
  ctx: Member,
  of: { id: number; volume: string; path: string },
  use: { for: 'preview' } | { for: 'download'; isFolder: boolean },
): { link: string; expiresAt: string } {
  const { sealed, expiresAt } = sealTicket(ctx, of, use);
  return { link: `${ctx.config.contentOrigin}/volume/${sealed}`, expiresAt };
}
