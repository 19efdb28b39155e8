import { z } from 'zod';
import { call } from './call.ts';
import { CapabilitySet } from './containerFields.ts';
import { Slug, Title } from './fields.ts';
import { Cpu, Disk, Gpu } from './hardware.ts';
import { EditVersion, Id, ListInput, listOf, oneOf, Ref, SuccessResponse } from './page.ts';
import { Price } from './price.ts';
import { text } from './text.ts';
import { no, type Verdict, yes } from './verdict.ts';

/** The free S3 bucket for logs that comes with a rented instance. */
export const LOG_BUCKET_GB = 100;
export const PROVISIONING_MINUTES = 2;
/** Seconds without a heartbeat after which a server counts as unresponsive, and a self-hosted one as offline. */
export const UNRESPONSIVE_AFTER_S = 40;
export const OFFLINE_AFTER_S = 300;
export const HEARTBEAT_S = 10;

export const RentedStatus = z.enum([
  'in queue',
  'creating',
  'creation failed',
  'online',
  'rebooting',
  'powering off',
  'stopped',
  'powering on',
  'unresponsive',
  'error',
  'terminating',
  'terminated',
]);
export type RentedStatus = z.infer<typeof RentedStatus>;

/** The allowed transitions of each status; the database refuses all others. */
export const RENTED_MOVES: Record<RentedStatus, readonly RentedStatus[]> = {
  'in queue': ['creating', 'creation failed', 'terminating'],
  creating: ['online', 'creation failed', 'error', 'terminating'],
  'creation failed': ['terminating'],
  online: ['rebooting', 'powering off', 'unresponsive', 'error', 'terminating'],
  rebooting: ['online', 'unresponsive', 'error', 'terminating'],
  'powering off': ['stopped', 'error', 'terminating'],
  stopped: ['powering on', 'error', 'terminating'],
  'powering on': ['online', 'stopped', 'unresponsive', 'error', 'terminating'],
  unresponsive: ['online', 'rebooting', 'powering off', 'error', 'terminating'],
  error: ['online', 'stopped', 'terminating'],
  terminating: ['terminated'],
  terminated: [],
};

export const SelfHostedStatus = z.enum(['awaiting setup', 'online', 'unresponsive', 'offline', 'deleted']);
export type SelfHostedStatus = z.infer<typeof SelfHostedStatus>;

export const SELF_HOSTED_MOVES: Record<SelfHostedStatus, readonly SelfHostedStatus[]> = {
  'awaiting setup': ['online', 'deleted'],
  online: ['unresponsive', 'deleted'],
  unresponsive: ['online', 'offline', 'deleted'],
  offline: ['online', 'deleted'],
  deleted: [],
};

/** The facts of a machine, as its daemon reported them. */
export const MachineFacts = z.object({
  hostname: z.string(),
  os: z.string(),
  kernel: z.string(),
  arch: z.string(),
  cpuName: z.string(),
  cpus: z.number(),
  ramBytes: z.number(),
  diskBytes: z.number(),
  diskFreeBytes: z.number(),
  gpus: z.array(z.object({ index: z.number().int(), name: z.string(), memoryMb: z.number() })),
  dockerVersion: z.string(),
  /** The runc that starts containers, when holes of its version are known; absent from daemons that do not say. */
  vulnerableRunc: z.object({ version: z.string(), cves: z.array(z.string()) }).optional(),
  /** Below which directories volumes may lie, by its own policy; absent from daemons that do not say. */
  volumeRoots: z.array(z.string()).optional(),
  /** Its way to start and stop containers; absent from daemons that stop all of them within 10 s. */
  launch: z
    .object({
      /** Docker has an init: the first process of a container, which passes signals on and reaps. */
      init: z.boolean(),
      /** The most that its own policy lets root in a container do. */
      capabilities: CapabilitySet,
    })
    .optional(),
  warnings: z.array(z.string()),
});
export type MachineFacts = z.infer<typeof MachineFacts>;

/** A step of provisioning a server; `at` is null until it is done. */
const ProgressStep = z.object({ step: z.enum(['capacity', 'booting', 'daemon', 'ready']), at: z.string().nullable() });

const common = {
  /** Changes with each edit: see `EditVersion`. */
  version: z.string().optional(),
  id: Id,
  slug: z.string(),
  title: z.string(),
  /** When this status began, when it was last confirmed, and the deadline of a transition. */
  statusSince: z.string(),
  statusSeenAt: z.string().nullable(),
  statusDeadline: z.string().nullable(),
  statusReason: z.string().nullable(),
  createdAt: z.string(),
  /** When the daemon last sent anything, and its version; null before its first hello. */
  daemonSeenAt: z.string().nullable(),
  daemonVersion: z.string().nullable(),
  facts: MachineFacts.nullable(),
  containerCount: z.number().int(),
  /** CPUs that are not allocated to containers; null until the server's size is known. */
  freeCpus: z.number().nullable(),
  /** Why no terminal can be opened on it now; null: one can. */
  terminalRefusal: z.string().nullable(),
};

export const Instance = z.object({
  ...common,
  status: RentedStatus,
  /** Who rented it; null for a machine that an operator adopted. */
  createdBy: z.string().nullable(),
  provider: z.string(),
  providerTitle: z.string(),
  region: z.string(),
  ip: z.string().nullable(),
  hostUsername: z.string(),
  pricePerHour: Price,
  stoppedPricePerHour: Price,
  canStop: z.boolean(),
  cpu: Cpu,
  ramGb: z.number(),
  gpu: Gpu.nullable(),
  disk: Disk,
  /** Null once it is deleted: 30 days after the server was terminated. */
  logBucket: z.object({ storageId: Id, usedBytes: z.number(), sizeGb: z.number().int() }).nullable(),
  progress: z.array(ProgressStep),
});
export type Instance = z.infer<typeof Instance>;

export const SelfHostedInstance = z.object({
  ...common,
  status: SelfHostedStatus,
  createdBy: z.string(),
  ip: z.string().nullable(),
});
export type SelfHostedInstance = z.infer<typeof SelfHostedInstance>;

/** What may happen to a server, as it is stored. */
export const ACTIVITY_KINDS = [
  'status',
  'rented',
  'created',
  'adopted',
  'enrolment reissued',
  'enrolment refused',
  'key replaced',
  'ssh key added',
  'ssh key removed',
] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

export const Activity = z.object({
  id: Id,
  at: z.string(),
  /** One of `ACTIVITY_KINDS`. */
  kind: z.string(),
  /** The member who did it; null for the platform. */
  actor: z.string().nullable(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  detail: z.string().nullable(),
});
export type Activity = z.infer<typeof Activity>;

/** `from` and `to` are inclusive. */
const ActivitiesInput = ListInput.and(Ref).and(
  z.object({ from: z.iso.datetime().optional(), to: z.iso.datetime().optional() }),
);
export type TimeRange = Pick<z.infer<typeof ActivitiesInput>, 'from' | 'to'>;

export const InstanceSshKey = z.object({
  id: Id,
  title: z.string(),
  fingerprint: z.string(),
  owner: z.string(),
  /** Whether it is a key of the caller. */
  isMine: z.boolean(),
  /** The file that the private half of a key generated here was downloaded as; null for a key that was added. */
  fileName: z.string().nullable(),
  /** When the server confirmed that this key is installed; null until then. */
  installedAt: z.string().nullable(),
});
export type InstanceSshKey = z.infer<typeof InstanceSshKey>;

type Actionable = { status: RentedStatus; canStop: boolean };

/** Which actions a rented instance allows now, and why the others are disabled. Used by the server and the web app. */
export const instanceCan = {
  start(instance: Actionable): Verdict {
    return instance.status === 'stopped' ? yes : no(text('Only a stopped instance can be started'));
  },
  stop(instance: Actionable): Verdict {
    if (!instance.canStop) return no(text('This provider cannot stop a server, only terminate it'));
    return instance.status === 'online' || instance.status === 'unresponsive'
      ? yes
      : no(text('Only a running instance can be stopped'));
  },
  reboot(instance: Actionable): Verdict {
    return instance.status === 'online' || instance.status === 'unresponsive'
      ? yes
      : no(text('Only a running instance can be rebooted'));
  },
  terminate(instance: Actionable): Verdict {
    return instance.status === 'terminating' || instance.status === 'terminated'
      ? no(text('This instance is already being terminated'))
      : yes;
  },
};

const READ = ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT'] as const;
const MANAGE = ['INSTANCE_RENTED_MANAGEMENT'] as const;
const SELF_READ = ['SELFHOSTED_INSTANCE', 'SELFHOSTED_INSTANCE_MANAGEMENT'] as const;
const SELF_MANAGE = ['SELFHOSTED_INSTANCE_MANAGEMENT'] as const;

export const instances = {
  list: call({
    path: 'instance-rented/list',
    summary: 'Rented instances of the workspace. Terminated ones only when asked for by status.',
    auth: READ,
    byToken: true,
    input: ListInput,
    output: listOf(Instance),
  }),
  view: call({
    path: 'instance-rented/view',
    summary: 'One rented instance.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Instance),
  }),
  rent: call({
    path: 'instance-rented/rent',
    summary: 'Rents a server. Answers at once; it is online about two minutes later.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      offerId: z.string(text('Offer is required')).min(1, text('Offer is required')).max(200),
      title: Title,
      slug: Slug,
      sshKeyId: z.number(text('SSH key is required')).int().positive(),
      /** The price the person saw; renting at a higher one is refused. */
      maxPricePerHour: z.string().optional(),
    }),
    output: oneOf(Instance),
  }),
  edit: call({
    path: 'instance-rented/edit',
    summary: 'Changes the title.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, title: Title, version: EditVersion.optional() }),
    output: oneOf(Instance),
  }),
  start: call({
    path: 'instance-rented/start',
    summary: 'Starts a stopped instance.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Instance),
  }),
  stop: call({
    path: 'instance-rented/stop',
    summary: 'Stops a running instance; its disk is kept.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Instance),
  }),
  reboot: call({
    path: 'instance-rented/reboot',
    summary: 'Reboots a running instance.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Instance),
  }),
  terminate: call({
    path: 'instance-rented/terminate',
    summary: 'Terminates an instance and deletes its disk and containers.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Instance),
  }),
  activities: call({
    path: 'instance-rented/activity/list',
    summary: 'What happened to an instance, newest first.',
    auth: MANAGE,
    byToken: true,
    input: ActivitiesInput,
    output: listOf(Activity),
  }),
  sshKeys: call({
    path: 'instance-rented/ssh-key/list',
    summary: 'The SSH keys that are authorized on an instance.',
    auth: MANAGE,
    byToken: true,
    input: ListInput.and(Ref),
    output: listOf(InstanceSshKey),
  }),
  addSshKey: call({
    path: 'instance-rented/ssh-key/add',
    summary: 'Authorizes one of my SSH keys on an instance.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, sshKeyId: z.number(text('SSH key is required')).int().positive() }),
    output: oneOf(InstanceSshKey),
  }),
  removeSshKey: call({
    path: 'instance-rented/ssh-key/remove',
    summary: 'Removes an SSH key from an instance.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, sshKeyId: Id }),
    output: SuccessResponse,
  }),
};

/** What the install command allows besides Ubuntu with an NVIDIA GPU. */
const InstallOptions = z.object({
  allowCpu: z.boolean().optional(),
  allowAnyLinux: z.boolean().optional(),
  /** A shell of root in the browser, for members who manage the server. */
  allowHostTerminal: z.boolean().optional(),
  /** Volumes at nearly any directory of the server, not only below `/srv/stagi`: who creates containers controls it. */
  allowAnyFolder: z.boolean().optional(),
});

/** Shown once by the wizard: the enrolment file and the install command. */
const Enrolment = z.object({
  isSuccess: z.literal(true),
  entity: SelfHostedInstance,
  /** The content of `daemon-token.jwt`; one use, 24 hours. */
  daemonToken: z.string(),
  /** One line to run as root on the server. It ends in the installer's arguments: `--allow-cpu` and such may be appended. */
  installCommand: z.string(),
  expiresAt: z.string(),
  /** Set when servers other than this machine cannot reach the platform. */
  onlyThisMachine: z.boolean(),
});

export const selfHosted = {
  list: call({
    path: 'self-hosted-instance/list',
    summary: 'Self-hosted servers of the workspace.',
    auth: SELF_READ,
    byToken: true,
    input: ListInput,
    output: listOf(SelfHostedInstance),
  }),
  view: call({
    path: 'self-hosted-instance/view',
    summary: 'One self-hosted server.',
    auth: SELF_MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(SelfHostedInstance),
  }),
  create: call({
    path: 'self-hosted-instance/create',
    summary: 'Adds a self-hosted server and returns its single-use enrolment file and install command.',
    auth: SELF_MANAGE,
    byToken: true,
    input: z.object({ title: Title, slug: Slug }).extend(InstallOptions.shape),
    output: Enrolment,
  }),
  reissueToken: call({
    path: 'self-hosted-instance/reissue-token',
    summary: 'A new enrolment file; the old file and the key of the joined daemon are revoked.',
    auth: SELF_MANAGE,
    byToken: true,
    input: InstallOptions.and(Ref),
    output: Enrolment,
  }),
  edit: call({
    path: 'self-hosted-instance/edit',
    summary: 'Changes the title.',
    auth: SELF_MANAGE,
    byToken: true,
    input: z.object({ id: Id, title: Title, version: EditVersion.optional() }),
    output: oneOf(SelfHostedInstance),
  }),
  delete: call({
    path: 'self-hosted-instance/delete',
    summary: 'Removes a server from the workspace: revokes its key and removes our containers when it is reachable.',
    auth: SELF_MANAGE,
    byToken: true,
    input: Ref,
    output: SuccessResponse,
  }),
  activities: call({
    path: 'self-hosted-instance/activity/list',
    summary: 'What happened to a self-hosted server, newest first.',
    auth: SELF_MANAGE,
    byToken: true,
    input: ActivitiesInput,
    output: listOf(Activity),
  }),
};
