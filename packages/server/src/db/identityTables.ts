import type { Ed25519PublicJwk } from '@stagi/contract/daemon.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import type { Theme } from '@stagi/contract/user.ts';
import type { Generated, GeneratedAlways } from 'kysely';
import type { Created, Json } from './columns.ts';

/** What somebody told of themselves after the first sign-in. */
export interface SignupForm {
  /** It is null where the platform makes it optional and somebody left it out. */
  phone: string | null;
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
  getting_started_closed_at: Date | null;
  log_seen_at: Date | null;
  email_verified_at: Date | null;
  passkey_handle: Buffer | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  disabled_by: number | null;
  deleted_at: Date | null;
  created_at: Created;
  /** Name and address, as `search_form` writes them. */
  search: GeneratedAlways<string>;
}

export interface PendingRegistrationTable {
  id: string;
  flow: string;
  email: string;
  name: string;
  password_hash: string;
  code_hash: string;
  /** The invitation that it came with. */
  invite_hash: Buffer | null;
  tries: Generated<number>;
  stranger_tries: Generated<number>;
  sent_at: Generated<Date>;
  expires_at: Date;
  created_at: Created;
}

export interface SignUpLinkTable {
  id: GeneratedAlways<number>;
  hash: Buffer;
  note: Generated<string>;
  used: Generated<number>;
  uses_max: number;
  expires_at: Date;
  created_by: number | null;
  created_at: Created;
  revoked_at: Date | null;
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
  /** Until it is moved to `file_id`. */
  content: Buffer | null;
  file_id: string | null;
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

export interface StarterMailboxTable {
  hash: Buffer;
  at: Generated<Date>;
}

export interface StarterNetworkTable {
  hash: Buffer;
  /** A day of UTC. */
  day: Date;
  given: Generated<number>;
}

export interface AttemptTable {
  key: Buffer;
  tries: number;
  next_at: Date;
  last_at: Date;
}

export interface SessionTable {
  id: string;
  user_id: number;
  /** `email`, or the identity provider. */
  auth_type: string;
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
  /** `email`, or the identity provider. */
  auth_type: string;
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
  /** What the workspace was called when its owner left it. */
  left_workspace_name: string | null;
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
