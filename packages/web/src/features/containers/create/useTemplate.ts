import type { UseFormReturnType } from '@mantine/form';
import { api } from '@stagi/contract/api.ts';
import { STOP_GRACE } from '@stagi/contract/containerFields.ts';
import type { ContainerTemplate, PlatformTemplate, TemplateFields } from '@stagi/contract/containerTemplates.ts';
import { directoryBelow, volumeRootsOf } from '@stagi/contract/policy.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import type { Server } from '../../../api/useServers.ts';
import { newEnvRow } from '../../../launchForm/envRow.ts';
import { useAddressParams } from '../../../navigation/useAddressParams.ts';
import { NO_GPU, newRow, templateFreeValues, type Values } from './formValues.ts';

export type Template = ContainerTemplate | PlatformTemplate;

/** How the address names a template: by its number, or by its name where it is the platform's. */
export const templateKey = (template: Template): string => ('id' in template ? String(template.id) : template.name);

export interface TemplateChoice {
  /** Undefined while they are read. */
  templates: readonly Template[] | undefined;
  error: string | null;
  retry(): void;
  /** What the address names; null: none. */
  wanted: string | null;
  chosen: Template | null;
  choose(key: string | null): void;
}

/** The template in the address (`?template=`). Its values are put into the form once; where and what it is called stays. */
export function useTemplate(
  form: UseFormReturnType<Values>,
  { enabled, server }: { enabled: boolean; server: Server | undefined },
): TemplateChoice {
  const [params, changeParams] = useAddressParams();
  const { data, error, refetch } = useQuery({
    ...q(api.containerTemplates.list, {}, { quiet: true }),
    enabled,
  });
  const templates = data && [...data.entities, ...data.platform];
  const wanted = enabled ? params.get('template') : null;
  const chosen = templates?.find((template) => templateKey(template) === wanted) ?? null;
  const filledIn = useRef<string | null>(null);

  useEffect(() => {
    const key = chosen && templateKey(chosen);
    if (key === filledIn.current || (key === null && wanted !== null)) return;
    filledIn.current = key;
    const values = chosen ? valuesOfTemplate(chosen.fields) : templateFreeValues();
    form.setValues({ ...values, directoryMappings: directoriesOn(server, values) });
    form.clearErrors();
  });

  return {
    templates,
    error: error && errorText(error),
    retry: () => void refetch(),
    wanted,
    chosen,
    choose(key) {
      changeParams((next) => (key === null ? next.delete('template') : next.set('template', key)), { replace: true });
    },
  };
}

/** Templates, and other servers, have volumes below a root that this server may not have. */
export function directoriesOn(
  server: Server | undefined,
  { directoryMappings = [] }: Partial<Values>,
): Values['directoryMappings'] {
  if (!server) return directoryMappings;
  const roots = volumeRootsOf(server);
  return directoryMappings.map((row) => ({ ...row, host: directoryBelow(roots, row.host) }));
}

function valuesOfTemplate(fields: TemplateFields): Partial<Values> {
  return {
    dockerImage: fields.dockerImage,
    command: fields.command ?? '',
    env: fields.env.map(({ name, value }) => ({ ...newEnvRow(name, value ?? ''), needed: value === null })),
    cpus: fields.cpus,
    memoryGb: fields.memoryGb ?? '',
    gpuIds: fields.gpuCount === 0 ? [NO_GPU] : [],
    portMappings: fields.portMappings.map((port) => ({ ...newRow.port(), ...port })),
    directoryMappings: fields.directoryMappings.map((mapping) => ({ ...newRow.directory(), ...mapping })),
    restartPolicy: fields.restartPolicy,
    entrypoint: fields.entrypoint ?? '',
    user: fields.user ?? '',
    isHardened: fields.capabilities === 'hardened',
    stopGraceSeconds: fields.stopGraceSeconds ?? STOP_GRACE.usual,
  };
}
