import type { Container } from '@stagi/contract/containers.ts';
import { randomId } from '@stagi/contract/randomId.ts';

interface Row {
  /** Tells rows apart while they are edited. */
  key: string;
}

/** The values of the form. An empty number field holds a text. */
export interface Values {
  instanceRef: string;
  title: string;
  slug: string;
  dockerImage: string;
  command: string;
  env: (Row & { name: string; value: string })[];
  cpus: number | string;
  memoryGb: number | string;
  gpuIds: number[];
  portMappings: (Row & { host: number | string; container: number | string })[];
  directoryMappings: (Row & { host: string; container: string })[];
  restartPolicy: Container['restartPolicy'];
  count: number | string;
}

export const newRow = {
  env: (name = '', value = '') => ({ key: randomId(), name, value }),
  port: () => ({ key: randomId(), host: '', container: '' }),
  directory: () => ({ key: randomId(), host: '', container: '' }),
};

/** One CPU, or what is left of the last one. */
export function initialValues(serverId: string, freeCpus: number | null): Values {
  return {
    instanceRef: serverId,
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

/** The input of the call. Empty fields are left out, so that the contract reports them as missing. */
export function toInput(values: Values): unknown {
  return {
    instanceRef: values.instanceRef === '' ? undefined : { id: Number(values.instanceRef) },
    title: values.title,
    slug: values.slug,
    dockerImage: values.dockerImage,
    command: values.command.trim() === '' ? undefined : values.command,
    env: values.env.map(({ name, value }) => ({ name, value })),
    cpus: numberOf(values.cpus),
    memoryGb: numberOf(values.memoryGb),
    gpuIds: values.gpuIds,
    portMappings: values.portMappings.map(({ host, container }) => ({
      host: numberOf(host),
      container: numberOf(container),
    })),
    directoryMappings: values.directoryMappings.map(({ host, container }) => ({ host, container })),
    restartPolicy: values.restartPolicy,
    count: numberOf(values.count) ?? 1,
  };
}

function numberOf(value: number | string): number | undefined {
  return value === '' ? undefined : Number(value);
}
