import { z } from 'zod';
import { call } from './call.ts';
import { Id, Ref, refOr } from './page.ts';
import { text } from './text.ts';
import { no, type Verdict, yes } from './verdict.ts';

/** How many of the last removals a list of images tells of. */
export const IMAGE_OPERATIONS_SHOWN = 20;

export const ServerImage = z.object({
  /** `name:tag`, or `name@digest` where it has no tag any more. */
  reference: z.string(),
  sizeBytes: z.number(),
  createdAt: z.string().nullable(),
  /** Containers of the workspace that are made of it, or are to be. */
  usedBy: z.array(z.object({ id: Id, title: z.string() })),
  /** On an own server: whether containers of ours were made of it, so that it can be removed. */
  ours: z.boolean(),
});
export type ServerImage = z.infer<typeof ServerImage>;

/** A removal that a server was asked for, or a question what a removal would free. */
export const ImageOperation = z.object({
  id: z.string(),
  kind: z.enum(['remove', 'prune', 'preview']),
  /** What was to be removed; null: all that nothing needs. */
  reference: z.string().nullable(),
  /** `refused`: by the server, `message` says why. `expired`: it did not answer in time. */
  state: z.enum(['waiting', 'done', 'refused', 'expired']),
  message: z.string().nullable(),
  /** What was removed, or would be. */
  references: z.array(z.string()),
  freedBytes: z.number().nullable(),
  askedAt: z.string(),
  answeredAt: z.string().nullable(),
});
export type ImageOperation = z.infer<typeof ImageOperation>;

/** What can be done to images, and why not. Used by the server and the web app. */
export const imageCan = {
  change(server: { status: string }): Verdict {
    return server.status === 'online' ? yes : no(text('Its server must be online'));
  },
  remove(image: Pick<ServerImage, 'usedBy' | 'ours'>): Verdict {
    const [first] = image.usedBy;
    if (first) return no(text('In use by “{{title}}”', { title: first.title }));
    return image.ours ? yes : no(text('Only images that containers of Stagi were made of can be removed here'));
  },
};

const MANAGE = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'] as const;
const Asked = z.object({ isSuccess: z.literal(true), operation: ImageOperation });

export const serverImages = {
  list: call({
    path: 'docker-container/image/list',
    summary: 'Images that a server has, and the last removals that it was asked for, newest first.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ instanceRef: Ref }),
    output: z.object({
      isSuccess: z.literal(true),
      entities: z.array(ServerImage),
      seenAt: z.string().nullable(),
      operations: z.array(ImageOperation),
    }),
  }),
  remove: call({
    path: 'docker-container/image/remove',
    summary: 'Asks a server to remove an image that no container needs. What becomes of it is told by the list.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      instanceRef: refOr(text('Server is required')),
      reference: z.string(text('Image is required')).trim().min(1, text('Image is required')).max(500),
    }),
    output: Asked,
  }),
  prune: call({
    path: 'docker-container/image/prune',
    summary:
      'Asks a server to remove all images that no container needs; with `dryRun`, which these are and what is freed.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ instanceRef: refOr(text('Server is required')), dryRun: z.boolean().default(false) }),
    output: Asked,
  }),
};
