import type { AuditEntry } from '@stagi/contract/audit.ts';
import { text } from '../../i18n/text.ts';

/** What the kinds of things are called that acts are about, by the first word of a call. */
export const AREAS: Record<string, string> = {
  'instance-rented': text('Instances'),
  'self-hosted-instance': text('Self-hosted'),
  'docker-container': text('Containers'),
  'ssh-key': text('SSH keys'),
  'api-token': text('API tokens'),
  'promo-code': text('Promo codes'),
  client: text('Workspace'),
  billing: text('Balance'),
  authorization: text('Apps'),
  user: text('Account'),
  admin: text('Administration'),
};

/** What was done, by the call that did it. One without words is shown by its name. */
export const ACTIONS: Record<string, string> = {
  'instance-rented/rent': text('Rented an instance'),
  'instance-rented/edit': text('Renamed an instance'),
  'instance-rented/start': text('Started an instance'),
  'instance-rented/stop': text('Stopped an instance'),
  'instance-rented/reboot': text('Rebooted an instance'),
  'instance-rented/terminate': text('Terminated an instance'),
  'instance-rented/ssh-key/add': text('Gave an SSH key access'),
  'instance-rented/ssh-key/remove': text('Took access from an SSH key'),
  'self-hosted-instance/create': text('Added a server'),
  'self-hosted-instance/reissue-token': text('Made a new enrolment file'),
  'self-hosted-instance/edit': text('Renamed a server'),
  'self-hosted-instance/delete': text('Deleted a server'),
  'docker-container/create': text('Created a container'),
  'docker-container/start': text('Started a container'),
  'docker-container/stop': text('Stopped a container'),
  'docker-container/restart': text('Restarted a container'),
  'docker-container/delete': text('Deleted a container'),
  'promo-code/activate': text('Activated a promo code'),
  'billing/resume': text('Chose what starts again after a zero balance'),
  'ssh-key/add': text('Added an SSH key'),
  'ssh-key/generate': text('Generated an SSH key'),
  'ssh-key/delete': text('Deleted an SSH key'),
  'api-token/create': text('Created an API token'),
  'api-token/archive': text('Archived an API token'),
  'authorization/oauth/pkce/get-authorization-code': text('Let an app in'),
  'authorization/consent/revoke': text('Shut an app out'),
  'client/create': text('Created the workspace'),
  'client/edit': text('Renamed the workspace'),
  'client/leave': text('Left the workspace'),
  'client/join': text('Joined the workspace'),
  'client/invite/create': text('Made a join link'),
  'client/invite/revoke': text('Revoked a join link'),
  'client/member/edit': text('Changed a member’s role'),
  'client/member/remove': text('Removed a member'),
  'admin/operator/make': text('Made an operator'),
  'admin/operator/remove': text('Made no operator any more'),
  'admin/user/disable': text('Disabled the account of a member'),
  'admin/user/enable': text('Enabled the account of a member'),
  'admin/client/disable': text('Disabled the workspace'),
  'admin/client/enable': text('Enabled the workspace'),
  'admin/stray/adopt': text('Adopted a stray machine'),
  'admin/stray/delete': text('Had a stray machine deleted'),
  'admin/provider/check': text('Checked a cloud'),
  'admin/promo-code/create': text('Made a promo code'),
  'admin/promo-code/revoke': text('Revoked a promo code'),
  'admin/ledger/verify': text('Had the ledger verified'),
  'user/delete': text('Deleted their account'),
  'admin/audit/check-all': text('Had all audit logs checked'),
};

export const OUTCOMES: Record<AuditEntry['outcome'], string> = {
  done: text('Done'),
  refused: text('Refused'),
  denied: text('No permission'),
  failed: text('Failed'),
};

export const isOutcome = (word: string): word is AuditEntry['outcome'] => Object.hasOwn(OUTCOMES, word);
