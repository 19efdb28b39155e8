import type { MailFailureReason } from '@stagi/contract/adminSystem.ts';
import type { AUDIT_OUTCOMES } from '@stagi/contract/audit.ts';
import type { StarterRefusal } from '@stagi/contract/billing.ts';
import type { INVITE_ENDS, InviteStatus } from '@stagi/contract/invites.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import type { PlanQuotas } from '@stagi/contract/planLimits.ts';
import type { Plan } from '@stagi/contract/user.ts';
import type { Generated, GeneratedAlways, Kysely, Selectable } from 'kysely';
import type { CatalogueChangeTable, ModelEndpointTable } from './catalogueTables.ts';
import type { Created, Json, JsonWithDefault } from './columns.ts';
import type {
  ContainerRunTable,
  ContainerTable,
  ContainerTemplateTable,
  DaemonCommandTable,
  DaemonNodeTable,
  InstanceActivityTable,
  InstanceSshKeyTable,
  InstanceTable,
  KeptSlugTable,
  LogGapTable,
  LogHeadTable,
  LogLineTable,
  LogStreamTable,
  ProviderCheckTable,
  ProviderOpTable,
  RegistryCredentialTable,
  SshKeyTable,
  StatusMoveTable,
  StrayTable,
  TerminalSessionTable,
} from './computeTables.ts';
import type {
  ApiTokenTable,
  AttemptTable,
  EmailChangeTable,
  ExternalIdentityTable,
  FormerAddressTable,
  KnownDeviceTable,
  OauthCodeTable,
  PasskeyChallengeTable,
  PasskeyTable,
  PasswordResetTable,
  PendingRegistrationTable,
  ProviderTripTable,
  RecoveryCodeTable,
  RefreshTokenTable,
  SecondFactorTicketTable,
  SessionTable,
  SigningKeyTable,
  SignUpLinkTable,
  StarterMailboxTable,
  StarterNetworkTable,
  StepUpCodeTable,
  StreamTicketTable,
  TotpTable,
  UserPictureTable,
  UserTable,
} from './identityTables.ts';
import type {
  SegmentChargeTable,
  SegmentRefundTable,
  SegmentTable,
  UsageDayTable,
  WorkspaceMeterTable,
} from './meteringTables.ts';

import type {
  AccountTable,
  BillingTransactionCountTable,
  BillingTransactionTable,
  HoldTable,
  JournalTable,
  LedgerRunTable,
  LedgerSealTable,
  PostingTable,
  PromoActivationTable,
  PromoCodeTable,
} from './moneyTables.ts';
import type { ProjectActivityTable, ProjectImportTable, ProjectInstanceTable, ProjectTable } from './projectTables.ts';
import type {
  LogChunkTable,
  LogCopyTable,
  QuarantinePlaceTable,
  S3BlobTable,
  S3BucketTable,
  S3KeyTable,
  S3ObjectTable,
  S3PartTable,
  S3UploadTable,
  StorageSampleTable,
  StorageShareTable,
  StorageTable,
  UnknownBytesTable,
} from './storageTables.ts';
import type { TaskEventTable, TaskFavoriteTable, TaskRunTable, TaskScheduleTable, TaskTable } from './taskTables.ts';
import type { UsageSampleTable, UsageThinningTable } from './usageTables.ts';

/** Row types. Entity ids are int4 (number); int8 columns (money, journals, log positions) are bigint. */
export interface WorkspaceTable {
  id: GeneratedAlways<number>;
  name: string;
  plan: Generated<Plan>;
  /** Set by an operator, in place of the plan's. */
  quotas: JsonWithDefault<PlanQuotas>;
  personal_of: number | null;
  /** Null for a workspace of before this was noted that is nobody's personal one. */
  created_by: number | null;
  exhausted_at: Date | null;
  /** Why its owner got no starter credit. */
  starter_refused: StarterRefusal | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  disabled_by: number | null;
  deleted_at: Date | null;
  created_at: Created;
  search: GeneratedAlways<string>;
}

export interface MembershipTable {
  workspace_id: number;
  user_id: number;
  role: Role;
  created_at: Created;
}

/** A join link. */
export interface InviteTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  created_by: number;
  role: Role;
  hash: Buffer;
  uses: number;
  used: Generated<number>;
  status: Generated<InviteStatus>;
  ended_by: (typeof INVITE_ENDS)[number] | null;
  ended_at: Date | null;
  expires_at: Date;
  created_at: Created;
}

/** Leads from a container's access page to its host, once. */
export interface ContainerCodeTable {
  hash: Buffer;
  container_id: number;
  port: number;
  session_id: string;
  path: string;
  /** Of what the browser keeps that may bring it. */
  trip_hash: Buffer | null;
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

/** One row, once a worker has looked. */
export interface MailServerTable {
  id: Generated<true>;
  state: 'reached' | 'failing';
  reason: MailFailureReason | null;
  detail: string | null;
  since: Created;
  checked_at: Created;
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
  /** Until it is moved to `file_id`. */
  content: Buffer | null;
  file_id: string | null;
  created_at: Created;
}

export interface ContactRequestTable {
  id: GeneratedAlways<number>;
  /** Random, from the form. */
  send_key: string | null;
  topic: string;
  name: string;
  email: string;
  company: string | null;
  message: string;
  model_id: string | null;
  model_name: string | null;
  gpu: string | null;
  quality: string | null;
  /** Who was signed in. */
  user_id: number | null;
  looks_automated: boolean;
  mailed: boolean;
  handled_at: Date | null;
  handled_by: number | null;
  note: Generated<string>;
  created_at: Created;
}

/** Bytes of the platform's own in `ctx.files`. `writing`: an intent; `doomed`: to be removed. */
export interface StoredFileTable {
  id: string;
  state: Generated<'writing' | 'stored' | 'doomed'>;
  size: Generated<number>;
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

export interface AuditCheckTable {
  id: GeneratedAlways<number>;
  cause: 'cron' | 'operator';
  asked_by: number | null;
  created_at: Created;
  deadline_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  behind_chain: Generated<number>;
  chains: Generated<number>;
  chains_to_do: Generated<number>;
  entries: Generated<bigint>;
  entries_to_do: Generated<bigint>;
  broken_chains: Generated<number>;
  findings: JsonWithDefault<{ chain: number; entry: number }[]>;
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
  starter_mailbox: StarterMailboxTable;
  starter_network: StarterNetworkTable;
  attempt: AttemptTable;
  workspace: WorkspaceTable;
  membership: MembershipTable;
  invite: InviteTable;
  container_code: ContainerCodeTable;
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
  mail_server: MailServerTable;
  account: AccountTable;
  journal: JournalTable;
  posting: PostingTable;
  hold: HoldTable;
  ledger_seal: LedgerSealTable;
  ledger_run: LedgerRunTable;
  billing_transaction: BillingTransactionTable;
  billing_transaction_count: BillingTransactionCountTable;
  sign_up_link: SignUpLinkTable;
  promo_code: PromoCodeTable;
  promo_activation: PromoActivationTable;
  segment: SegmentTable;
  segment_charge: SegmentChargeTable;
  segment_refund: SegmentRefundTable;
  usage_day: UsageDayTable;
  workspace_meter: WorkspaceMeterTable;
  ssh_key: SshKeyTable;
  status_move: StatusMoveTable;
  instance: InstanceTable;
  provider_check: ProviderCheckTable;
  catalogue_change: CatalogueChangeTable;
  model_endpoint: ModelEndpointTable;
  provider_op: ProviderOpTable;
  stray: StrayTable;
  kept_slug: KeptSlugTable;
  instance_ssh_key: InstanceSshKeyTable;
  instance_activity: InstanceActivityTable;
  daemon_node: DaemonNodeTable;
  container: ContainerTable;
  container_run: ContainerRunTable;
  container_template: ContainerTemplateTable;
  registry_credential: RegistryCredentialTable;
  daemon_command: DaemonCommandTable;
  log_stream: LogStreamTable;
  log_line: LogLineTable;
  log_head: LogHeadTable;
  log_gap: LogGapTable;
  log_copy: LogCopyTable;
  log_chunk: LogChunkTable;
  s3_bucket: S3BucketTable;
  s3_key: S3KeyTable;
  s3_blob: S3BlobTable;
  s3_object: S3ObjectTable;
  s3_upload: S3UploadTable;
  s3_part: S3PartTable;
  storage: StorageTable;
  storage_sample: StorageSampleTable;
  storage_share: StorageShareTable;
  project: ProjectTable;
  project_import: ProjectImportTable;
  project_instance: ProjectInstanceTable;
  project_activity: ProjectActivityTable;
  task: TaskTable;
  task_run: TaskRunTable;
  task_event: TaskEventTable;
  task_favorite: TaskFavoriteTable;
  task_schedule: TaskScheduleTable;
  terminal_session: TerminalSessionTable;
  usage_sample_15s: UsageSampleTable;
  usage_sample_1m: UsageSampleTable;
  usage_sample_15m: UsageSampleTable;
  usage_thinning: UsageThinningTable;
  feedback: FeedbackTable;
  contact_request: ContactRequestTable;
  feedback_image: FeedbackImageTable;
  stored_file: StoredFileTable;
  unknown_bytes: UnknownBytesTable;
  quarantine_place: QuarantinePlaceTable;
  analytics_event: AnalyticsEventTable;
  audit: AuditTable;
  audit_head: AuditHeadTable;
  audit_actor: AuditActorTable;
  audit_check: AuditCheckTable;
}

/** A pool or a transaction: whoever takes it does not care which. */
export type Db = Kysely<Database>;

export type UserRow = Selectable<UserTable>;

export type InstanceRow = Selectable<InstanceTable>;

export type StrayRow = Selectable<StrayTable>;
export type FeedbackRow = Selectable<FeedbackTable>;
export type ProviderCheckRow = Selectable<ProviderCheckTable>;

export type ContainerRow = Selectable<ContainerTable>;

export type StorageRow = Selectable<StorageTable>;
export type ProjectRow = Selectable<ProjectTable>;
export type TaskRow = Selectable<TaskTable>;
export type TaskRunRow = Selectable<TaskRunTable>;
export type TaskScheduleRow = Selectable<TaskScheduleTable>;
export type ProjectImportRow = Selectable<ProjectImportTable>;
export type S3BucketRow = Selectable<S3BucketTable>;
export type S3KeyRow = Selectable<S3KeyTable>;

export type DaemonNodeRow = Selectable<DaemonNodeTable>;
