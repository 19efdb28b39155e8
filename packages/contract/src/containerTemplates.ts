import { z } from 'zod';
import { call } from './call.ts';
import { CapabilitySet, RestartPolicy } from './containerFields.ts';
import type { Container } from './containers.ts';
import { Title, writtenText } from './fields.ts';
import { Id, oneOf, refOr, SuccessResponse } from './page.ts';
import { text } from './text.ts';
import { no, type Verdict, yes } from './verdict.ts';

/** A workspace has at most so many of its own. */
export const TEMPLATES_MAX = 100;

/** What a template fills in of a new container. */
export const TemplateFields = z.object({
  dockerImage: z.string(),
  command: z.string().nullable(),
  /** Without a value: whoever uses the template enters one. A template of a workspace has no values. */
  env: z.array(z.object({ name: z.string(), value: z.string().nullable() })),
  cpus: z.number(),
  memoryGb: z.number().nullable(),
  /** How many GPUs it takes: which ones is chosen on the server. */
  gpuCount: z.number().int(),
  portMappings: z.array(
    z.object({ host: z.number().int(), container: z.number().int(), visibility: z.enum(['private', 'public']) }),
  ),
  directoryMappings: z.array(z.object({ host: z.string(), container: z.string() })),
  restartPolicy: RestartPolicy,
  /** These are left out of templates that were saved before they were known. */
  stopGraceSeconds: z.number().int().optional(),
  entrypoint: z.string().nullable().optional(),
  user: z.string().nullable().optional(),
  capabilities: CapabilitySet.optional(),
});
export type TemplateFields = z.infer<typeof TemplateFields>;

/** A template of a workspace, made from one of its containers. */
export const ContainerTemplate = z.object({
  id: Id,
  title: z.string(),
  description: z.string().nullable(),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  fields: TemplateFields,
});
export type ContainerTemplate = z.infer<typeof ContainerTemplate>;

/** A template of the platform: see `platformTemplates.ts`. */
export const PlatformTemplate = z.object({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  title: z.string(),
  description: z.string(),
  /** The documentation of its image. */
  source: z.url(),
  /** What a server must have in all for it to be of use. */
  needs: z.object({
    gpu: z.boolean(),
    cpus: z.number(),
    memoryGb: z.number(),
    /** As daemons report it; null: any. */
    arch: z.string().nullable(),
  }),
  fields: TemplateFields,
});
export type PlatformTemplate = z.infer<typeof PlatformTemplate>;

/** Everything that a template holds of a container. Names of its variables, without their values. */
export function templateFieldsOf(container: Container): TemplateFields {
  return {
    dockerImage: container.dockerImage,
    command: container.command,
    env: container.envNames.map((name) => ({ name, value: null })),
    cpus: container.cpus,
    memoryGb: container.memoryGb,
    gpuCount: container.gpuIds.length,
    portMappings: container.portMappings,
    directoryMappings: container.directoryMappings,
    restartPolicy: container.restartPolicy,
    stopGraceSeconds: container.stopGraceSeconds,
    entrypoint: container.entrypoint,
    user: container.user,
    capabilities: container.capabilities,
  };
}

/** Whether a container can be saved as a template. */
export function canBeTemplate(container: { task: object | null }): Verdict {
  return container.task ? no(text('This container belongs to a task')) : yes;
}

/** Whether a container with these needs can run on a server with these facts. */
export function suitsServer(
  needs: { gpuCount: number; arch: string | null; memoryGb: number },
  facts: { arch: string; ramBytes: number; gpus: readonly object[] },
): Verdict {
  if (needs.gpuCount > facts.gpus.length)
    return {
      allowed: false,
      reason: facts.gpus.length === 0 ? text('Needs a server with a GPU') : text('Needs a server with more GPUs'),
    };
  if (needs.arch !== null && needs.arch !== facts.arch)
    return { allowed: false, reason: text('Needs another kind of processor') };
  // Machines report a little less than what they are sold with.
  if (needs.memoryGb * 2 ** 30 * 0.9 > facts.ramBytes)
    return { allowed: false, reason: text('Needs a server with more memory') };
  return { allowed: true };
}

/** The needs of a template of either kind. */
export function needsOf(template: ContainerTemplate | PlatformTemplate): Parameters<typeof suitsServer>[0] {
  const { gpuCount, memoryGb } = template.fields;
  if (!('needs' in template)) return { gpuCount, arch: null, memoryGb: memoryGb ?? 0 };
  return {
    gpuCount: template.needs.gpu ? Math.max(1, gpuCount) : gpuCount,
    arch: template.needs.arch,
    memoryGb: template.needs.memoryGb,
  };
}

const MANAGE = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'] as const;

export const containerTemplates = {
  list: call({
    path: 'docker-container/template/list',
    summary: 'Templates of containers: those of the workspace, newest first, and those of the platform.',
    auth: MANAGE,
    byToken: true,
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      entities: z.array(ContainerTemplate),
      platform: z.array(PlatformTemplate),
    }),
  }),
  create: call({
    path: 'docker-container/template/create',
    summary: 'Saves what a container is made of as a template. Names of variables are kept, their values are not.',
    auth: MANAGE,
    byToken: true,
    input: z.strictObject({
      containerRef: refOr(text('Container is required')),
      title: Title,
      description: writtenText
        .pipe(z.string().trim().max(300, text('Description is too long: at most 300 characters')))
        .optional(),
    }),
    output: oneOf(ContainerTemplate),
  }),
  delete: call({
    path: 'docker-container/template/delete',
    summary: 'Deletes a template of the workspace. Containers that were made from it stay.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
};
