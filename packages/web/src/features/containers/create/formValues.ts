import { type CapabilitySet, STOP_GRACE } from '@stagi/contract/containerFields.ts';
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
  shmMb: number | string;
  stopGraceSeconds: number | string;
  entrypoint: string;
  user: string;
  isHardened: boolean;
  /** Without a command: no check but the image's own. */
  healthCheck: {
    command: string;
    intervalSeconds: number | string;
    timeoutSeconds: number | string;
    retries: number | string;
    startPeriodSeconds: number | string;
  };
  count: number | string;
}

const NO_HEALTH_CHECK: Values['healthCheck'] = {
  command: '',
  intervalSeconds: 30,
  timeoutSeconds: 30,
  retries: 3,
  startPeriodSeconds: 0,
};

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
    restartPolicy: 'unless-stopped',
    shmMb: '',
    stopGraceSeconds: STOP_GRACE.usual,
    entrypoint: '',
    user: '',
    isHardened: false,
    healthCheck: NO_HEALTH_CHECK,
    count: 1,
  };
}

/** The fields that a template fills in, as they are without one. */
export function templateFreeValues(): Partial<Values> {
  const { instanceRef: _, projectRef: _p, title: _t, slug: _s, count: _c, ...others } = initialValues('', null, '');
  return others;
}

/** The values of a container that is to be changed. */
export function valuesOf(container: Container): Values {
  return {
    instanceRef: String(container.instance.id),
    projectRef: container.project ? String(container.project.id) : '',
    title: container.title,
    slug: container.slug,
    dockerImage: container.dockerImage,
    command: container.command ?? '',
    env: container.envNames.map((name) => {
      const secret = container.secretEnvNames.includes(name);
      return { ...newEnvRow(name), kept: true, secret, keptSecret: secret };
    }),
    cpus: container.cpus,
    memoryGb: container.memoryGb ?? '',
    gpuIds: container.gpuIds.length > 0 ? container.gpuIds : [NO_GPU],
    portMappings: container.portMappings.map(({ boundAs: _, ...port }) => ({ ...newRow.port(), ...port })),
    directoryMappings: container.directoryMappings.map((mapping) => ({ ...newRow.directory(), ...mapping })),
    restartPolicy: container.restartPolicy,
    shmMb: container.shmMb ?? '',
    stopGraceSeconds: container.stopGraceSeconds,
    entrypoint: container.entrypoint ?? '',
    user: container.user ?? '',
    isHardened: container.capabilities === 'hardened',
    healthCheck: container.healthCheck ?? NO_HEALTH_CHECK,
    count: 1,
  };
}

/**
 * The values of a container that is to be made after another one. What can belong to one container only is left to be
 * chosen.
 */
export function cloneValuesOf(container: Container, title: string): Values {
  const values = valuesOf(container);
  return {
    ...values,
    title,
    slug: `${container.slug.slice(0, SLUG_MAX - COPY.length).replace(/-$/, '')}${COPY}`,
    gpuIds: container.gpuIds.length > 0 ? [] : values.gpuIds,
    portMappings: values.portMappings.map((port) => ({ ...port, host: '' })),
  };
}

const SLUG_MAX = 40;
const COPY = '-copy';

/** The input of `create`. Empty fields are left out, so that the contract reports them as missing. */
export function toInput(values: Values, most: CapabilitySet): object {
  return {
    ...specificationOf(values, most),
    instanceRef: values.instanceRef === '' ? undefined : { id: Number(values.instanceRef) },
    projectRef: values.projectRef === '' ? undefined : { id: Number(values.projectRef) },
    slug: values.slug,
    command: values.command.trim() === '' ? undefined : values.command,
    entrypoint: values.entrypoint.trim() === '' ? undefined : values.entrypoint,
    user: values.user.trim() === '' ? undefined : values.user,
    memoryGb: numberOf(values.memoryGb),
    shmMb: numberOf(values.shmMb),
    healthCheck: healthCheckOf(values),
    count: numberOf(values.count) ?? 1,
  };
}

/** The input of `edit` but for the container: everything is named, so that what was emptied is cleared. */
export function toEdit(values: Values, most: CapabilitySet): object {
  return {
    ...specificationOf(values, most),
    projectRef: values.projectRef === '' ? null : { id: Number(values.projectRef) },
    command: values.command.trim() === '' ? null : values.command,
    entrypoint: values.entrypoint.trim() === '' ? null : values.entrypoint,
    user: values.user.trim() === '' ? null : values.user,
    memoryGb: numberOf(values.memoryGb) ?? null,
    shmMb: numberOf(values.shmMb) ?? null,
    healthCheck: healthCheckOf(values) ?? null,
  };
}

function healthCheckOf({ healthCheck }: Values): object | undefined {
  if (healthCheck.command.trim() === '') return undefined;
  const { command, intervalSeconds, timeoutSeconds, retries, startPeriodSeconds } = healthCheck;
  return {
    command,
    intervalSeconds: numberOf(intervalSeconds),
    timeoutSeconds: numberOf(timeoutSeconds),
    retries: numberOf(retries),
    startPeriodSeconds: numberOf(startPeriodSeconds),
  };
}

function specificationOf(values: Values, most: CapabilitySet): object {
  return {
    title: values.title,
    dockerImage: values.dockerImage,
    env: values.env.map(({ name, value, kept, secret }) => ({
      name,
      value: kept && value === '' ? undefined : value,
      ...(secret ? { secret } : {}),
    })),
    cpus: numberOf(values.cpus),
    gpuIds: values.gpuIds.length === 0 ? undefined : values.gpuIds.filter((gpu) => gpu !== NO_GPU),
    portMappings: values.portMappings.map(({ host, container, visibility }) => ({
      host: numberOf(host),
      container: numberOf(container),
      visibility,
    })),
    directoryMappings: values.directoryMappings.map(({ host, container }) => ({ host, container })),
    restartPolicy: values.restartPolicy,
    stopGraceSeconds: numberOf(values.stopGraceSeconds),
    capabilities: values.isHardened ? 'hardened' : most,
  };
}

function numberOf(value: number | string): number | undefined {
  return value === '' ? undefined : Number(value);
}
