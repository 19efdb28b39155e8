import { z } from 'zod';
import { call } from './call.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { Link, ObjectKey, ObjectOfStorage, Prefix } from './storages.ts';

export const ShareLink = z.object({
  id: Id,
  key: z.string(),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  expiresAt: z.string(),
});
export type ShareLink = z.infer<typeof ShareLink>;

const MANAGE = ['INSTANCE_RENTED_MANAGEMENT'] as const;

/** Showing objects outside of the storage's own keys: on the content host, and by links without an account. */
export const sharing = {
  previewLink: call({
    path: 'storage/object/preview-link',
    summary: 'A URL on the content host that shows one object in the browser.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage,
    output: Link,
  }),
  zipLink: call({
    path: 'storage/object/zip-link',
    summary: 'A URL that answers all objects below a prefix as one ZIP file: at most 100,000.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, prefix: Prefix.default('') }),
    output: Link,
  }),
  shareLinks: call({
    path: 'storage/share-link/list',
    summary: 'Links to objects that still work.',
    auth: MANAGE,
    byToken: true,
    input: ListInput.extend({ id: Id, key: ObjectKey.optional() }),
    output: listOf(ShareLink),
  }),
  createShareLink: call({
    path: 'storage/share-link/create',
    summary: 'A link to one object that works without an account until it expires; shown once.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage.extend({ expiresInHours: z.number().int().min(1).max(720).default(24) }),
    output: oneOf(ShareLink.extend({ link: z.string() })),
  }),
  revokeShareLink: call({
    path: 'storage/share-link/revoke',
    summary: 'Ends a link at once.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, shareLinkId: Id }),
    output: SuccessResponse,
  }),
};
