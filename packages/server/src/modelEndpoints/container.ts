import { randomBytes } from 'node:crypto';
import { CreateContainer } from '@stagi/contract/containerFields.ts';
import { type EngineTemplate, fillIn, type Served } from '@stagi/contract/engineTemplates.ts';
import { directoryBelow } from '@stagi/contract/policy.ts';
import { z } from 'zod';

/** The container of a served model, as it is asked for: the ordinary form, except that its GPUs are still to be chosen. */
export const WantedContainer = z.object({
  form: z.record(z.string(), z.unknown()),
  gpuCount: z.number().int(),
});
export type WantedContainer = z.infer<typeof WantedContainer>;

/** Weights stay on the server when a container is deleted: the next one need not fetch them. */
const CACHE = '/data/models';

interface Asked {
  slug: string;
  title: string;
  dockerImage: string | undefined;
  command: string | undefined;
  cpus: number;
  memoryGb: number | undefined;
  port: number;
  visibility: 'private' | 'public';
  token: string | undefined;
}

/** Fills the form of a container in from a template. */
export function wantedContainer(
  template: EngineTemplate,
  asked: Asked,
  served: Served,
  { onCpu, key }: { onCpu: boolean; key: string | null },
): WantedContainer {
  const image = onCpu ? template.image.cpu : template.image.gpu;
  const command = asked.command ?? (template.command === null ? undefined : fillIn(template.command, served));
  const env = [
    ...Object.entries(template.env).flatMap(([name, value]) => {
      const filled = fillIn(value, served);
      return filled === '' ? [] : [{ name, value: filled }];
    }),
    ...(template.tokenVariable && asked.token
      ? [{ name: template.tokenVariable, value: asked.token, secret: true }]
      : []),
    ...(template.keyVariable && key ? [{ name: template.keyVariable, value: key, secret: true }] : []),
  ];
  return {
    gpuCount: served.gpus,
    form: {
      slug: asked.slug,
      title: asked.title,
      dockerImage: asked.dockerImage ?? image ?? template.image.gpu,
      ...(command !== undefined && { command }),
      env,
      cpus: asked.cpus,
      ...(asked.memoryGb !== undefined && { memoryGb: asked.memoryGb }),
      portMappings: [{ host: asked.port, container: template.port, visibility: asked.visibility }],
      directoryMappings: [{ host: CACHE, container: template.cachePath }],
      restartPolicy: 'unless-stopped',
    },
  };
}

/** On the server that it is for. Throws what the form throws. */
export function containerForm(
  { form }: WantedContainer,
  { instanceId, gpuIds, volumeRoots }: { instanceId: number; gpuIds: number[]; volumeRoots: readonly string[] },
) {
  const parsed = CreateContainer.parse({ ...form, instanceRef: { id: instanceId }, gpuIds });
  const directoryMappings = parsed.directoryMappings.map(({ host, container }) => ({
    host: directoryBelow(volumeRoots, host),
    container,
  }));
  return { ...parsed, directoryMappings };
}

export const newKey = (): string => `sk-${randomBytes(24).toString('base64url')}`;
