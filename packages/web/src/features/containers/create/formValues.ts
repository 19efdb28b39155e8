import type { Container } from '@stagi/contract/containers.ts';
import { randomId } from '@stagi/contract/randomId.ts';
import { type EnvRow, newEnvRow } from '../../../launchForm/envRow.ts';

/** The choice of no GPU on a server that has some. */
export const NO_GPU = 'none';

interface Row {
  /** Tells rows apart while they are edited. */
  key: string;
}

/** The values of the form. An empty number field holds a text. */
export interface Values {
  instanceRef: string;
  /** Empty: it belongs to no project. */
  projectRef: string;
  title: string;
  slug: string;
  dockerImage: string;
  command: string;
  env: EnvRow[];
  cpus: number | string;
  memoryGb: number | string;
  /** Empty: nothing was chosen, not even that it gets none. */
  gpuIds: (number | typeof NO_GPU)[];
  portMappings: (Row & { host: number | string; container: number | string; visibility: 'private' | 'public' })[];
  directoryMappings: (Row & { host: string; container: string })[];
  restartPolicy: Container['restartPolicy'];
  count: number | string;
}

export const newRow = {
  port: () => ({ key: randomId(), host: '', container: '', visibility: 'private' as const }),
  directory: () => ({ key: randomId(), host: '', container: '' }),
};

/** One CPU, or what is left of the last one. */
export function initialValues(serverId: string, freeCpus: number | null, projectId: string): Values {
  return {
    instanceRef: serverId,
    projectRef: projectId,
    title: '',
    slug: '',
    dockerImage: '',
    command: '',
    env: [],
    cpus: freeCpus !== null && freeCpus >= 0.1 && freeCpus < 1 ? freeCpus : 1,
    memoryGb: '',
    gpuIds: [],
    portMappings: [],
    directoryMappings: [],
    restartPolicy: 'no',
    count: 1,
  };
}

/** The fields that a template fills in, as they are without one. */
export function templateFreeValues(): Partial<Values> {
  const { instanceRef: _, projectRef: _p, title: _t, slug: _s, count: _c, ...others } = initialValues('', null, '');
  return others;
}

/** The values of a container that is to be replaced by a changed one. */
export function valuesOf(container: Container): Values {
  return {
    instanceRef: String(container.instance.id),
    projectRef: container.project ? String(container.project.id) : '',
    title: container.title,
    slug: container.slug,
    dockerImage: container.dockerImage,
    command: container.command ?? '',
    env: container.envNames.map((name) => ({ ...newEnvRow(name), kept: true })),
    cpus: container.cpus,
    memoryGb: container.memoryGb ?? '',
    gpuIds: container.gpuIds.length > 0 ? container.gpuIds : [NO_GPU],
    portMappings: container.portMappings.map(({ boundAs: _, ...port }) => ({ ...newRow.port(), ...port })),
    directoryMappings: container.directoryMappings.map((mapping) => ({ ...newRow.directory(), ...mapping })),
    restartPolicy: container.restartPolicy,
    count: 1,
  };
}

/** The input of the call. Empty fields are left out, so that the contract reports them as missing. */
export function toInput(values: Values): object {
  return {
    instanceRef: values.instanceRef === '' ? undefined : { id: Number(values.instanceRef) },
    projectRef: values.projectRef === '' ? undefined : { id: Number(values.projectRef) },
    title: values.title,
    slug: values.slug,
    dockerImage: values.dockerImage,
    command: values.command.trim() === '' ? undefined : values.command,
    env: values.env.map(({ name, value, kept }) => ({ name, value: kept && value === '' ? undefined : value })),
    cpus: numberOf(values.cpus),
    memoryGb: numberOf(values.memoryGb),
    gpuIds: values.gpuIds.length === 0 ? undefined : values.gpuIds.filter((gpu) => gpu !== NO_GPU),
    portMappings: values.portMappings.map(({ host, container, visibility }) => ({
      host: numberOf(host),
      container: numberOf(container),
      visibility,
    })),
    directoryMappings: values.directoryMappings.map(({ host, container }) => ({ host, container })),
    restartPolicy: values.restartPolicy,
    count: numberOf(values.count) ?? 1,
  };
}

function numberOf(value: number | string): number | undefined {
  return value === '' ? undefined : Number(value);
}
