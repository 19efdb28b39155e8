import { z } from 'zod';
import { ContainerPath, ContainerPort, HostPort, Name, Slug, VolumePath } from './fields.ts';
import { EditVersion, Ref, refOr } from './page.ts';
import { text } from './text.ts';

export const RestartPolicy = z.enum(['no', 'on-failure', 'unless-stopped', 'always'], text('Please choose an option'));

export const PortMapping = z.strictObject({
  host: HostPort,
  container: ContainerPort,
  visibility: z.enum(['private', 'public']).default('private'),
});
export const DirectoryMapping = z.strictObject({ host: VolumePath, container: ContainerPath });

const ENV_NAME = text('Name must not contain "=" or a NUL');

/** One `NAME=value`. Docker takes every name without "=". The value is never trimmed. */
export const EnvVariable = z.strictObject({
  name: z
    .string(text('Name is required'))
    .trim()
    .min(1, text('Name is required'))
    .max(200, text('Name is too long: at most 200 characters'))
    .refine((name) => !/[=\0]/.test(name) && name.isWellFormed(), ENV_NAME),
  value: z
    .string()
    .max(32_768, text('Value is too long: at most 32,768 characters'))
    .refine((v) => !v.includes('\0'), text('Value must not contain a NUL')),
});

/** Names that agents take which know nothing of how containers are launched (`MachineFacts.launch`). */
export const isPlainEnvName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

export const DockerImage = z
  .string(text('Image is required'))
  .trim()
  .min(1, text('Image is required'))
  .max(400, text('Image is too long: at most 400 characters'))
  .regex(
    /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/,
    text('Enter an image like name:tag or registry/name:tag'),
  );

/**
 * The rights of root in a container. `docker`: Docker's default. `hardened`: a third of it, enough to install packages and
 * to change users.
 */
export const CapabilitySet = z.enum(['docker', 'hardened'], text('Please choose an option'));
export type CapabilitySet = z.infer<typeof CapabilitySet>;

const USER = text('Enter a user like 1000, 1000:1000 or name');
/** As Docker takes it: a number or a name of the image, and a group. */
export const RunAs = z
  .string()
  .trim()
  .max(100, USER)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*\$?(?::[A-Za-z0-9_][A-Za-z0-9_.-]*\$?)?$/, USER)
  .refine((user) => user.split(':').every((part) => !/^\d+$/.test(part) || Number(part) < 2 ** 31), USER);

/** Docker's own check of a container: whether this command, run by a shell in it, ends with 0. */
export const HealthCheck = z.strictObject({
  command: z
    .string(text('Command is required'))
    .trim()
    .min(1, text('Command is required'))
    .max(2_000, text('Command is too long: at most 2,000 characters'))
    .refine((line) => !line.includes('\0'), text('The command must not contain a NUL')),
  intervalSeconds: seconds(1, 3_600, 30),
  timeoutSeconds: seconds(1, 600, 30),
  /** Failures in a row until it is unhealthy. */
  retries: z
    .number(text('Retries must be a whole number from 1 to 20'))
    .int(text('Retries must be a whole number from 1 to 20'))
    .min(1, text('Retries must be a whole number from 1 to 20'))
    .max(20, text('Retries must be a whole number from 1 to 20'))
    .default(3),
  /** From its start on failures do not count for so long. */
  startPeriodSeconds: seconds(0, 3_600, 0),
});
export type HealthCheck = z.infer<typeof HealthCheck>;

/** Seconds that programs may take to end when they are stopped; `former`: from an agent that knows no other. */
export const STOP_GRACE = { least: 10, most: 300, usual: 30, former: 10 } as const;
const GRACE = text('Time to stop must be a whole number of seconds from 10 to 300');
export const StopGrace = z.number(GRACE).int(GRACE).min(STOP_GRACE.least, GRACE).max(STOP_GRACE.most, GRACE);

/** Docker's own 64 MB are too few for training with several data loaders. */
export const DEFAULT_SHM_MB = 1024;

export const ContainerHealth = z.enum(['starting', 'healthy', 'unhealthy']);
export type ContainerHealth = z.infer<typeof ContainerHealth>;

/**
 * Containers are created with these since a daemon learned them. `network`: other containers cannot reach its ports.
 * `volumes`: what is mounted is what was checked, whatever another container does meanwhile.
 */
export const Protection = z.enum(['network', 'volumes']);
export type Protection = z.infer<typeof Protection>;

function seconds(least: number, most: number, usual: number) {
  const message = text('Enter whole seconds');
  return z.number(message).int(message).min(least, message).max(most, message).default(usual);
}

/** A variable. Without a value: that of the container which is edited, or cloned. */
const VariableInput = EnvVariable.partial({ value: true }).extend({
  /** Its value is masked in logs and never becomes part of a template. A kept secret value stays secret. */
  secret: z.boolean().optional(),
});

/** What can be edited, in the words of the create form. */
const SPECIFICATION = {
  title: Name,
  dockerImage: DockerImage,
  /** One shell-like line, split on the server without any shell; empty: the image's own command. */
  command: z.string().max(8_192, text('Command is too long: at most 8,192 characters')),
  env: z.array(VariableInput).max(200, text('At most 200 variables')),
  cpus: z
    .number(text('CPU is required'))
    .min(0.1, text('CPU must be at least 0.1'))
    .max(1024, text('CPU must be at most 1024'))
    .multipleOf(0.1, text('CPU must be a multiple of 0.1')),
  memoryGb: z
    .number(text('Memory must be a number'))
    .min(0.05, text('Memory must be at least 0.05 GB'))
    .max(24_576, text('Memory is too large')),
  gpuIds: z.array(z.number().int().min(0).max(63), text('GPU is required')).max(64),
  portMappings: z.array(PortMapping).max(100, text('At most 100 ports')),
  directoryMappings: z.array(DirectoryMapping).max(50, text('At most 50 volumes')),
  restartPolicy: RestartPolicy,
  /** Size of `/dev/shm`; 1024 where it is left out. Counts as memory. */
  shmMb: z
    .number(text('Shared memory must be a number'))
    .int(text('Shared memory must be a whole number of MB'))
    .min(1, text('Shared memory must be at least 1 MB'))
    .max(4_194_304, text('Shared memory is too large')),
  healthCheck: HealthCheck,
  /** In place of the image's own. One line, split as `command`; that follows as its arguments. Empty: the image's own. */
  entrypoint: z.string().max(8_192, text('Command is too long: at most 8,192 characters')),
  /** Who its program runs as: `1000`, `1000:1000`, a name of the image. New folders of volumes become theirs. */
  user: z.union([z.literal(''), RunAs]),
  /** The rights of root in it. */
  capabilities: CapabilitySet,
  /** Seconds from the stop signal until what still runs is killed. A change of it alone recreates nothing. */
  stopGraceSeconds: StopGrace,
};

/** Strict: a request for an unknown right is refused, instead of creating a container without it. */
export const CreateContainer = z
  .strictObject({
    ...SPECIFICATION,
    /** The server it runs on, rented or own. */
    instanceRef: refOr(text('Server is required')),
    /** A project that it belongs to: deleted together. */
    projectRef: Ref.optional(),
    slug: Slug,
    command: SPECIFICATION.command.optional(),
    env: SPECIFICATION.env.default([]),
    memoryGb: SPECIFICATION.memoryGb.optional(),
    /** Must be chosen on a server that has GPUs; `[]` is none. */
    gpuIds: SPECIFICATION.gpuIds.optional(),
    portMappings: SPECIFICATION.portMappings.default([]),
    directoryMappings: SPECIFICATION.directoryMappings.default([]),
    restartPolicy: RestartPolicy.default('no'),
    shmMb: SPECIFICATION.shmMb.optional(),
    healthCheck: HealthCheck.optional(),
    entrypoint: SPECIFICATION.entrypoint.optional(),
    user: SPECIFICATION.user.optional(),
    /** Left out: `docker`, or `hardened` where the server allows or knows no other. */
    capabilities: CapabilitySet.optional(),
    stopGraceSeconds: StopGrace.default(STOP_GRACE.usual),
    /** Makes `slug-1 … slug-N` when above 1. */
    count: z
      .number()
      .int()
      .min(1, text('Count must be at least 1'))
      .max(20, text('At most 20 containers at once'))
      .default(1),
    /** The container that this one is made after: variables without a value have the value there. */
    cloneOf: Ref.optional(),
  })
  .superRefine((value, context) => {
    refuseDuplicates(value, context);
    if (value.count > 1 && value.portMappings.length > 0)
      context.addIssue({
        code: 'custom',
        path: ['count'],
        message: text('Several containers cannot share host ports: create them one by one'),
      });
    if (value.cloneOf === undefined) return;
    for (const [index, { host }] of value.directoryMappings.entries())
      if (/^[/.]*$/.test(host))
        context.addIssue({
          code: 'custom',
          path: ['directoryMappings', index, 'host'],
          message: text('The root directory cannot be used for cloning'),
        });
  });

/** What is left out stays as it is; null clears what may be empty. */
export const EditContainer = z
  .strictObject({
    ref: refOr(text('Container is required')),
    ...z.object(SPECIFICATION).partial().shape,
    projectRef: Ref.nullable().optional(),
    command: SPECIFICATION.command.nullable().optional(),
    memoryGb: SPECIFICATION.memoryGb.nullable().optional(),
    shmMb: SPECIFICATION.shmMb.nullable().optional(),
    healthCheck: HealthCheck.nullable().optional(),
    entrypoint: SPECIFICATION.entrypoint.nullable().optional(),
    user: SPECIFICATION.user.nullable().optional(),
    version: EditVersion.optional(),
  })
  .superRefine(refuseDuplicates);

type Rows = {
  env?: { name: string }[] | undefined;
  portMappings?: { host: number }[] | undefined;
  directoryMappings?: { container: string }[] | undefined;
};

function refuseDuplicates({ env, portMappings, directoryMappings }: Rows, context: z.RefinementCtx): void {
  const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
  const port = firstDuplicate(portMappings ?? [], ({ host }) => host);
  if (port !== null) refuse(['portMappings', port, 'host'], text('This host port is listed twice'));
  const name = firstDuplicate(env ?? [], (variable) => variable.name);
  if (name !== null) refuse(['env', name, 'name'], text('This variable is listed twice'));
  const directory = firstDuplicate(directoryMappings ?? [], ({ container }) => container);
  if (directory !== null)
    refuse(['directoryMappings', directory, 'container'], text('This container directory is listed twice'));
}

function firstDuplicate<T>(rows: readonly T[], key: (row: T) => unknown): number | null {
  const seen = new Set<unknown>();
  for (const [index, row] of rows.entries()) {
    const value = key(row);
    if (seen.has(value)) return index;
    seen.add(value);
  }
  return null;
}
