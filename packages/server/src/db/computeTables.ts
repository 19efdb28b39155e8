import type { CapabilitySet, ContainerHealth, HealthCheck, RestartPolicy } from '@stagi/contract/containerFields.ts';
import type { ContainerStatus } from '@stagi/contract/containers.ts';
import type { TemplateFields } from '@stagi/contract/containerTemplates.ts';
import type { Ed25519PublicJwk, Inventory } from '@stagi/contract/daemon.ts';
import type { CommandOutcome } from '@stagi/contract/desiredState.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { ProviderCheck } from '@stagi/contract/providers.ts';
import type { PulledLayer } from '@stagi/contract/pulledLayer.ts';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { z } from 'zod';
import type { StoredOffer } from '../providers/storedOffer.ts';
import type { Created, Json, JsonWithDefault } from './columns.ts';
import type { TaskColumns } from './taskTables.ts';

export interface SshKeyTable {
  id: GeneratedAlways<number>;
  user_id: number;
  title: string;
  type: string;
  public_key: string;
  fingerprint: string;
  created_at: Created;
  /** Made on the platform: its private half was downloaded from it. */
  generated: Generated<boolean>;
}

export interface StatusMoveTable {
  kind: string;
  from_status: string;
  to_status: string;
}

export interface InstanceTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  kind: 'rented' | 'self-hosted';
  slug: string;
  title: string;
  /** Null: an operator adopted the machine; nobody rented it. */
  created_by: number | null;
  created_at: Created;
  closed_at: Date | null;
  status: string;
  status_since: Generated<Date>;
  status_seen_at: Date | null;
  status_deadline: Date | null;
  status_reason: string | null;
  desired: Generated<'running' | 'stopped' | 'gone'>;
  gen: Generated<number>;
  reboot_wanted: Generated<number>;
  reboot_done: Generated<number>;
  provider: string | null;
  offer: Json<StoredOffer> | null;
  provider_ref: string | null;
  machine_state: string | null;
  ip: string | null;
  host_username: string | null;
  price_per_hour: bigint | null;
  stopped_price_per_hour: bigint | null;
  /** When each step of getting ready was reached. */
  progress: JsonWithDefault<Partial<Record<'capacity' | 'booting' | 'daemon' | 'ready', string>>>;
  /** What its cloud calls the machine, where that is not what we would. */
  machine_name: string | null;
  /** When its cloud showed it running last. */
  running_seen_at: Date | null;
  /** Since when a balance of zero holds it, or waits to. */
  zero_stopped_at: Date | null;
  lock_token: string | null;
  lock_owner: number | null;
  lock_expires_at: Date | null;
  next_at: Date | null;
  attempts: Generated<number>;
  last_error: string | null;
  misses: Generated<number>;
  missed_at: Date | null;
}

export interface ProviderOpTable {
  id: string;
  instance_id: number;
  kind: string;
  gen: number;
  params: JsonWithDefault<Record<string, unknown>>;
  state: Generated<'intent' | 'done' | 'failed'>;
  error: string | null;
  created_at: Created;
  finished_at: Date | null;
}

/** A machine of ours that no open server owns. */
export interface StrayTable {
  id: GeneratedAlways<number>;
  provider: string;
  ref: string;
  name: string;
  tags: Json<Record<string, string>>;
  state: string;
  ip: string | null;
  reason: 'closed' | 'unknown' | 'second';
  instance_id: number | null;
  first_seen_at: Generated<Date>;
  last_seen_at: Generated<Date>;
  missed: Generated<number>;
  decision: 'adopt' | 'delete' | null;
  decided_by: number | null;
  decided_at: Date | null;
  deletions: Generated<number>;
  last_error: string | null;
  gone_at: Date | null;
}

export interface InstanceSshKeyTable {
  instance_id: number;
  ssh_key_id: number;
  installed_at: Date | null;
  created_at: Created;
}

export interface InstanceActivityTable {
  id: GeneratedAlways<number>;
  instance_id: number;
  at: Generated<Date>;
  kind: string;
  actor_id: number | null;
  from_status: string | null;
  to_status: string | null;
  detail: string | null;
}

export interface DaemonNodeTable {
  instance_id: number;
  enrol_jti: string | null;
  enrol_expires_at: Date | null;
  enrol_used_at: Date | null;
  public_jwk: Json<Ed25519PublicJwk> | null;
  key_since: Date | null;
  previous_jwk: Json<Ed25519PublicJwk> | null;
  previous_until: Date | null;
  conn_epoch: Generated<number>;
  connected_at: Date | null;
  disconnected_at: Date | null;
  last_seen_at: Date | null;
  remote_address: string | null;
  version: string | null;
  boot_id: string | null;
  facts: Json<MachineFacts> | null;
  inventory: Json<Inventory> | null;
  inventory_at: Date | null;
  desired_gen: Generated<number>;
  /** What the daemon said that it can do beyond containers. */
  features: Generated<string[]>;
  revoked_at: Date | null;
  revoked_reason: string | null;
}

export interface TerminalSessionTable {
  id: string;
  workspace_id: number;
  instance_id: number;
  /** Null: of the server itself. */
  container_id: number | null;
  user_id: number;
  opened_at: Created;
  /** When somebody last looked at it. */
  seen_at: Generated<Date>;
  ended_at: Date | null;
}

/** Ports of a container as they were asked for. */
type Ports = { host: number; container: number; visibility: 'private' | 'public' }[];
type Directories = { host: string; container: string }[];

/** The specification that a container was created with, while another one waits for its server. */
export interface AppliedSpec {
  specNo: number;
  image: string;
  command: string | null;
  cpus: number;
  memoryGb: number | null;
  gpuIds: number[];
  ports: Ports;
  directories: Directories;
  restartPolicy: z.infer<typeof RestartPolicy>;
  shmMb: number | null;
  healthCheck: HealthCheck | null;
  /** These are left out where they were stored before they were known. */
  entrypoint?: string | null;
  user?: string | null;
  capabilities?: CapabilitySet;
  envNames: string[];
  envSecret: string[];
  envSealed: string;
}

interface StepProgress {
  phase: string;
  detail: string | null;
  fraction: number | null;
  layers?: PulledLayer[] | undefined;
}

/** The step that failed last. */
interface StoredFailedStep {
  phase: string;
  cause: string;
  attempts: number;
  nextTryAt: string | null;
  /** The greatest fraction of a download so far. */
  reached: number | null;
  /** The step that `reached` is of. */
  reachedPhase?: string | undefined;
  /** The daemon does not try it again. */
  permanent?: boolean | undefined;
  /** It is tried again when this has changed. */
  waitsFor?: 'credential' | undefined;
}

/** A Unique ID that stays with the workspace of its deleted container. */
export interface KeptSlugTable {
  slug: string;
  workspace_id: number;
  kept_at: Generated<Date>;
  public_at: Date | null;
}

export interface ContainerTable extends TaskColumns {
  id: GeneratedAlways<number>;
  workspace_id: number;
  instance_id: number;
  /** The project that it is deleted with. */
  project_id: number | null;
  slug: string;
  title: string;
  created_by: number;
  created_at: Created;
  deleted_at: Date | null;
  status: ContainerStatus;
  status_since: Generated<Date>;
  status_seen_at: Date | null;
  status_deadline: Date | null;
  status_reason: string | null;
  desired: Generated<'running' | 'paused' | 'stopped' | 'absent'>;
  gen: Generated<number>;
  image: string;
  command: string | null;
  /** numeric: a string. */
  cpus: ColumnType<string, number, number>;
  memory_gb: ColumnType<string | null, number | null, number | null>;
  gpu_ids: Generated<number[]>;
  ports: JsonWithDefault<Ports>;
  directories: JsonWithDefault<Directories>;
  restart_policy: Generated<z.infer<typeof RestartPolicy>>;
  /** Null: 1024. */
  shm_mb: number | null;
  health_check: Json<HealthCheck> | null;
  stop_grace_seconds: Generated<number>;
  entrypoint: string | null;
  run_as: string | null;
  capabilities: Generated<CapabilitySet>;
  health: ContainerHealth | null;
  env_names: Generated<string[]>;
  /** Names of those whose values are masked in logs and never become part of a template. */
  env_secret: Generated<string[]>;
  env_sealed: string;
  /** Names the wanted specification; a number is used for one specification only. */
  spec_no: Generated<number>;
  /** The highest number that was given out. */
  last_spec_no: Generated<number>;
  /** Null unless a change waits for the server. */
  applied_spec: Json<AppliedSpec> | null;
  edit_asked_at: Date | null;
  edit_deadline: Date | null;
  edit_progress: Json<StepProgress> | null;
  edit_failed_step: Json<StoredFailedStep> | null;
  /** The addresses that the server has bound its ports to. */
  bound_ports: Json<{ host: number; container: number; address: string }[]> | null;
  protections: string[] | null;
  /** It had ports at some time, and one of them was last public then. Set by triggers. */
  had_ports: GeneratedAlways<boolean>;
  ports_public_at: GeneratedAlways<Date | null>;
  docker_id: string | null;
  exit_code: number | null;
  started_at: Date | null;
  finished_at: Date | null;
  /** Starts by its restart policy, since somebody started it. */
  restarts: Generated<number>;
  /** That of the run before the current one. */
  last_exit_code: number | null;
  last_ended_at: Date | null;
  /** While it waits for its restart. */
  next_try_at: Date | null;
  /** Until then it counts as ending again and again; null: it is steady. */
  looping_until: Date | null;
  progress: Json<StepProgress> | null;
  failed_step: Json<StoredFailedStep> | null;
}

export interface ContainerTemplateTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  title: string;
  description: string | null;
  fields: Json<TemplateFields>;
  created_by: number | null;
  created_at: Created;
}

export interface RegistryCredentialTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  host: string;
  username: string;
  secret_sealed: string;
  /** Which servers get it: all rented ones, and these own ones. */
  for_rented: Generated<boolean>;
  own_servers: Generated<number[]>;
  created_by: number | null;
  /** When this credential was stored: another one for the same host replaces it. */
  created_at: ColumnType<Date, Date | undefined, Date>;
}

export interface ContainerRunTable {
  container_id: number;
  number: number;
  started_at: Date;
  from_ns: bigint;
  ended_at: Date | null;
  exit_code: number | null;
}

export interface DaemonCommandTable {
  id: string;
  instance_id: number;
  body: Json<unknown>;
  created_at: Created;
  expires_at: Date;
  answered_at: Date | null;
  ok: boolean | null;
  message: string | null;
  /** What it has brought. */
  result: Json<CommandOutcome> | null;
}

export interface LogStreamTable {
  container_id: number;
  epoch: string;
  owner_epoch: number;
  stored_bytes: Generated<bigint>;
  last_time_ns: bigint | null;
  records_at_time: Generated<number>;
  open_stdout: Buffer | null;
  open_stderr: Buffer | null;
  open_stdout_ns: bigint | null;
  open_stderr_ns: bigint | null;
  ended_at: Date | null;
  created_at: Created;
}

export interface LogLineTable {
  container_id: number;
  seq: bigint;
  time_ns: bigint;
  stderr: boolean;
  text: string;
}

export interface LogHeadTable {
  container_id: number;
  last_seq: Generated<bigint>;
  /** Bytes of its stored lines, with a line feed each. */
  kept_bytes: Generated<bigint>;
}

export interface LogGapTable {
  id: GeneratedAlways<number>;
  container_id: number;
  after_seq: bigint;
  from_ns: bigint | null;
  to_ns: bigint | null;
  reason: string;
}

/** What an operator asked a cloud, and what came of it. */
export interface ProviderCheckTable {
  id: GeneratedAlways<number>;
  provider: string;
  asked_by: number;
  asked_at: Created;
  deadline_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  steps: JsonWithDefault<ProviderCheck['steps']>;
}
