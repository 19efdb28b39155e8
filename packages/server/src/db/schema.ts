import type { AUDIT_OUTCOMES } from '@stagi/contract/audit.ts';
import type { ContainerStatus, RestartPolicy } from '@stagi/contract/containers.ts';
import type { Ed25519PublicJwk, Inventory } from '@stagi/contract/daemon.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { Permission, Role } from '@stagi/contract/permissions.ts';
import type { Plan, Theme } from '@stagi/contract/user.ts';
import type { ColumnType, Generated, GeneratedAlways, Kysely, Selectable } from 'kysely';
import type { z } from 'zod';
import type { StoredOffer } from '../providers/offer.ts';

/** Row types. Entity ids are int4 (number); int8 columns (money, journals, log positions) are bigint. */
type Json<T> = ColumnType<T, string, string>;
type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;
type Created = ColumnType<Date, Date | string | undefined, never>;

/** What somebody told of themselves after the first sign-in. */
export interface SignupForm {
  phone: string;
  company: string | null;
  purpose: string | null;
}

export interface UserTable {
  id: GeneratedAlways<number>;
  email: string;
  name: string;
  password_hash: string | null;
  /** Names their row of `user_picture`. */
  image: string | null;
  language: Language | null;
  theme: Generated<Theme>;
  is_employee: Generated<boolean>;
  has_test_mode: Generated<boolean>;
  signup_form: Json<SignupForm> | null;
  email_verified_at: Date | null;
  passkey_handle: Buffer | null;
  disabled_at: Date | null;
  deleted_at: Date | null;
  created_at: Created;
}

export interface PendingRegistrationTable {
  id: string;
  flow: string;
  email: string;
  name: string;
  password_hash: string;
  code_hash: string;
  tries: Generated<number>;
  stranger_tries: Generated<number>;
  sent_at: Generated<Date>;
  expires_at: Date;
  created_at: Created;
}

export interface PasswordResetTable {
  id: string;
  flow: string;
  email: string;
  /** Null where nobody has the address. */
  user_id: number | null;
  code_hash: string;
  tries: Generated<number>;
  stranger_tries: Generated<number>;
  expires_at: Date;
  created_at: Created;
}

/** An account elsewhere that logs into one here. */
export interface ExternalIdentityTable {
  issuer: string;
  subject: string;
  provider: IdentityProvider;
  user_id: number;
  email: string | null;
  created_at: Created;
  last_used_at: Generated<Date>;
}

/** Somebody who went to a provider and has not come back yet. */
export interface ProviderTripTable {
  state_hash: Buffer;
  provider: IdentityProvider;
  nonce_hash: Buffer;
  /** The secret half of PKCE. */
  verifier_sealed: string;
  /** Null for who wants to log in; else the session that wants to connect. */
  session_id: string | null;
  expires_at: Date;
  created_at: Created;
}

export interface KnownDeviceTable {
  user_id: number;
  hash: Buffer;
  created_at: Created;
  last_used_at: Generated<Date>;
}

export interface UserPictureTable {
  user_id: number;
  name: string;
  mime_type: 'image/png' | 'image/jpeg';
  content: Buffer;
  created_at: Created;
}

export interface EmailChangeTable {
  user_id: number;
  session_id: string;
  new_email: string;
  code_hash: string;
  tries: Generated<number>;
  expires_at: Date;
  created_at: Created;
}

export interface FormerAddressTable {
  hash: Buffer;
  left_at: Generated<Date>;
}

export interface AttemptTable {
  key: Buffer;
  tries: number;
  next_at: Date;
  last_at: Date;
}

export interface WorkspaceTable {
  id: GeneratedAlways<number>;
  name: string;
  plan: Generated<Plan>;
  personal_of: number | null;
  /** Null for a workspace of before this was noted that is nobody's personal one. */
  created_by: number | null;
  exhausted_at: Date | null;
  disabled_at: Date | null;
  deleted_at: Date | null;
  created_at: Created;
}

export interface MembershipTable {
  workspace_id: number;
  user_id: number;
  role: Role;
  created_at: Created;
}

export interface SessionTable {
  id: string;
  user_id: number;
  auth_type: 'email' | 'google' | 'github';
  ip: string | null;
  user_agent: string | null;
  created_at: Created;
  last_used_at: Generated<Date>;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_reason: string | null;
  stepped_up_at: Date | null;
  /** The app that it was given to; null: a browser. */
  app_id: string | null;
  /** What the app may do at most; null: whatever its user may. */
  app_permissions: Permission[] | null;
  /** The one workspace that the app reaches; null: all of its user's. */
  app_workspace_id: number | null;
}

export interface OauthCodeTable {
  hash: Buffer;
  app_id: string;
  allowed_by: string;
  redirect_uri: string;
  code_challenge: string;
  permissions: Permission[] | null;
  workspace_id: number | null;
  gave: string | null;
  used_at: Date | null;
  expires_at: Date;
}

export interface RefreshTokenTable {
  id: string;
  session_id: string;
  hash: Buffer;
  parent_id: string | null;
  used_at: Date | null;
  child_sealed: Buffer | null;
  expires_at: Date;
  created_at: Created;
}

export interface TotpTable {
  user_id: number;
  secret_sealed: string | null;
  confirmed_at: Date | null;
  last_step: Generated<bigint>;
  pending_sealed: string | null;
  pending_until: Date | null;
}

export interface RecoveryCodeTable {
  user_id: number;
  hash: Buffer;
  salt: Buffer;
  used_at: Date | null;
  created_at: Created;
}

export interface PasskeyTable {
  id: GeneratedAlways<number>;
  user_id: number;
  credential_id: string;
  public_key: Buffer;
  counter: bigint;
  transports: Generated<string[]>;
  name: string;
  synced: boolean;
  created_at: Created;
  last_used_at: Date | null;
}

export interface PasskeyChallengeTable {
  hash: Buffer;
  purpose: 'sign-in' | 'second-factor' | 'step-up' | 'add';
  session_id: string | null;
  ticket_hash: Buffer | null;
  expires_at: Date;
}

export interface SecondFactorTicketTable {
  hash: Buffer;
  user_id: number;
  auth_type: 'email' | 'google' | 'github';
  tries: Generated<number>;
  expires_at: Date;
  created_at: Created;
}

export interface StepUpCodeTable {
  session_id: string;
  code_hash: string;
  tries: Generated<number>;
  sent_at: Generated<Date>;
  expires_at: Date;
}

export interface SigningKeyTable {
  purpose: string;
  public_jwk: Json<Ed25519PublicJwk>;
  private_sealed: string;
  created_at: Created;
}

export interface ApiTokenTable {
  id: GeneratedAlways<number>;
  user_id: number;
  workspace_id: number;
  description: string;
  hash: Buffer;
  permissions: Permission[] | null;
  expires_at: Date | null;
  last_used_at: Date | null;
  last_used_ip: string | null;
  archived_at: Date | null;
  archived_by: 'archived' | 'left' | null;
  created_at: Created;
}

/** Of a session or of an API token. */
export interface StreamTicketTable {
  hash: Buffer;
  session_id: string | null;
  api_token_id: number | null;
  workspace_id: number;
  expires_at: Date;
}

export interface IdempotencyTable {
  workspace_id: number;
  user_id: number;
  route: string;
  key: string;
  request_hash: Buffer;
  status: number;
  body_sealed: string;
  created_at: Created;
}

export interface MailTable {
  id: GeneratedAlways<number>;
  recipient: string;
  /** Subject, text and HTML, sealed: codes are in them. `null` once sent, and for a mail from before it was sealed. */
  content_sealed: string | null;
  subject: Generated<string | null>;
  text_body: Generated<string | null>;
  html_body: Generated<string | null>;
  sent_at: Date | null;
  failed_at: Date | null;
  last_error: string | null;
  created_at: Created;
}

export interface AccountTable {
  id: GeneratedAlways<bigint>;
  code: string;
  client_id: number | null;
  currency: string;
  balance: Generated<bigint>;
  min_balance: bigint | null;
}

export interface JournalTable {
  id: GeneratedAlways<bigint>;
  kind: string;
  idem_key: string;
  lines_hash: Buffer;
  client_id: number | null;
  reverses_id: bigint | null;
  meta: JsonWithDefault<Record<string, unknown>>;
  created_at: Created;
}

export interface PostingTable {
  journal_id: bigint;
  line: number;
  account_id: bigint;
  amount: bigint;
}

export interface SshKeyTable {
  id: GeneratedAlways<number>;
  user_id: number;
  title: string;
  type: string;
  public_key: string;
  fingerprint: string;
  created_at: Created;
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
  created_by: number;
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
  revoked_at: Date | null;
  revoked_reason: string | null;
}

export interface ContainerTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  instance_id: number;
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
  desired: Generated<'running' | 'stopped' | 'absent'>;
  gen: Generated<number>;
  image: string;
  command: string | null;
  /** numeric: a string. */
  cpus: ColumnType<string, number, number>;
  memory_gb: ColumnType<string | null, number | null, number | null>;
  gpu_ids: Generated<number[]>;
  ports: JsonWithDefault<{ host: number; container: number; visibility: 'private' | 'public' }[]>;
  directories: JsonWithDefault<{ host: string; container: string }[]>;
  restart_policy: Generated<z.infer<typeof RestartPolicy>>;
  env_names: Generated<string[]>;
  env_sealed: string;
  docker_id: string | null;
  exit_code: number | null;
  started_at: Date | null;
  finished_at: Date | null;
  progress: Json<{ phase: string; detail: string | null; fraction: number | null }> | null;
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
}

export interface LogGapTable {
  id: GeneratedAlways<number>;
  container_id: number;
  after_seq: bigint;
  from_ns: bigint | null;
  to_ns: bigint | null;
  reason: string;
}

export interface FeedbackTable {
  id: GeneratedAlways<number>;
  user_id: number;
  topic: string;
  subject: string;
  description: string;
  contact_email: string | null;
  user_agent: string | null;
  created_at: Created;
}

export interface FeedbackImageTable {
  feedback_id: number;
  position: number;
  file_name: string;
  mime_type: 'image/png' | 'image/jpeg';
  width: number;
  height: number;
  content: Buffer;
  created_at: Created;
}

export interface AnalyticsEventTable {
  id: GeneratedAlways<number>;
  host: string;
  visitor: string;
  identifier: string | null;
  name: string | null;
  properties: Json<Record<string, unknown>>;
  tries: Generated<number>;
  created_at: Created;
}

/** Made by insert alone; the database numbers and chains the rows. */
export interface AuditTable {
  chain: GeneratedAlways<number>;
  seq: GeneratedAlways<bigint>;
  at: GeneratedAlways<Date>;
  workspace_id: number | null;
  actor_id: number | null;
  credential: 'session' | 'token' | 'platform';
  credential_id: string | null;
  ip: string | null;
  user_agent: string | null;
  action: string;
  area: GeneratedAlways<string>;
  object_type: string | null;
  object_id: string | null;
  object_label: string | null;
  outcome: (typeof AUDIT_OUTCOMES)[number];
  detail: JsonWithDefault<Record<string, unknown>>;
  before_hash: Buffer | null;
  after_hash: Buffer | null;
  prev_hash: GeneratedAlways<Buffer>;
  hash: GeneratedAlways<Buffer>;
}

export interface AuditHeadTable {
  chain: number;
  seq: bigint;
  hash: Buffer;
  first_seq: bigint;
  first_prev_hash: Buffer;
}

export interface AuditActorTable {
  chain: number;
  user_id: number;
}

export interface Database {
  app_user: UserTable;
  pending_registration: PendingRegistrationTable;
  password_reset: PasswordResetTable;
  external_identity: ExternalIdentityTable;
  provider_trip: ProviderTripTable;
  known_device: KnownDeviceTable;
  user_picture: UserPictureTable;
  email_change: EmailChangeTable;
  former_address: FormerAddressTable;
  attempt: AttemptTable;
  workspace: WorkspaceTable;
  membership: MembershipTable;
  session: SessionTable;
  oauth_code: OauthCodeTable;
  refresh_token: RefreshTokenTable;
  totp: TotpTable;
  recovery_code: RecoveryCodeTable;
  passkey: PasskeyTable;
  passkey_challenge: PasskeyChallengeTable;
  second_factor_ticket: SecondFactorTicketTable;
  step_up_code: StepUpCodeTable;
  signing_key: SigningKeyTable;
  api_token: ApiTokenTable;
  stream_ticket: StreamTicketTable;
  idempotency: IdempotencyTable;
  mail: MailTable;
  account: AccountTable;
  journal: JournalTable;
  posting: PostingTable;
  ssh_key: SshKeyTable;
  status_move: StatusMoveTable;
  instance: InstanceTable;
  provider_op: ProviderOpTable;
  stray: StrayTable;
  instance_ssh_key: InstanceSshKeyTable;
  instance_activity: InstanceActivityTable;
  daemon_node: DaemonNodeTable;
  container: ContainerTable;
  daemon_command: DaemonCommandTable;
  log_stream: LogStreamTable;
  log_line: LogLineTable;
  log_head: LogHeadTable;
  log_gap: LogGapTable;
  feedback: FeedbackTable;
  feedback_image: FeedbackImageTable;
  analytics_event: AnalyticsEventTable;
  audit: AuditTable;
  audit_head: AuditHeadTable;
  audit_actor: AuditActorTable;
}

/** A pool or a transaction: whoever takes it does not care which. */
export type Db = Kysely<Database>;

export type UserRow = Selectable<UserTable>;
export type InstanceRow = Selectable<InstanceTable>;
export type StrayRow = Selectable<StrayTable>;
export type ContainerRow = Selectable<ContainerTable>;
export type DaemonNodeRow = Selectable<DaemonNodeTable>;
