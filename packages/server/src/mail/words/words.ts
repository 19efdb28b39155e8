import type { ContactTopic } from '@stagi/contract/contactTopics.ts';
import type { Role } from '@stagi/contract/permissions.ts';

interface Mail {
  subject: string;
  lead: string;
  /** What to do if it was not you. */
  end: string;
}

/** Every text of the mails in one language; `{{name}}` is filled in. */
export interface Words {
  hello: string;
  logIn: string;
  signUp: string;
  newPassword: string;
  sessions: string;
  tokens: string;
  security: string;
  when: string;
  from: string;
  unknownDevice: string;
  support: string;
  address: string;
  description: string;
  reason: string;
  amount: string;
  workspace: string;
  role: string;
  /** Before the name of who did it. */
  by: string;
  account: string;
  roles: Record<Role, string>;
  footer: string;
  /** In the place of an `end` that advises a new password, where passwords are switched off. */
  endWithoutPassword: string;
  code: Mail;
  registered: Mail & { recovery: string };
  reset: Mail;
  newAddress: Mail;
  addressTaken: Mail;
  emailChanged: Mail;
  deleted: Mail;
  /** By an operator: somebody, or a workspace of theirs. */
  shutOut: Mail;
  letIn: Mail;
  shut: Mail;
  opened: Mail;
  /** The same to members of it who own it not. */
  memberShut: Mail;
  memberOpened: Mail;
  planChanged: Mail;
  credited: Mail;
  deletedByOperator: Mail;
  noAccount: Mail;
  changed: Mail;
  added: Mail;
  device: Mail;
  connected: Mail;
  disconnected: Mail;
  app: Mail;
  ended: Mail;
  token: Mail;
  stepUp: Mail;
  totpAdded: Mail;
  totpRemoved: Mail;
  passkeyAdded: Mail;
  passkeyRemoved: Mail;
  recoveryCodes: Mail;
  recoveryCodeUsed: Mail;
  factorGuessed: Mail;
  roleChanged: Mail;
  removed: Mail;
  /** The balance of a workspace is zero; what is kept, until when; that it is gone. */
  zero: Mail & {
    /** Of what no cloud could stop. */
    lost: string;
    /** In the place of `end`, where nothing is kept. */
    nothingKept: string;
  };
  zeroSoon: Mail;
  zeroEnded: Mail;
  stoppedServers: string;
  deletedServers: string;
  readOnlyStorages: string;
  deletedStorages: string;
  balancePage: string;
  keptUntil: string;
  /** A request of the contact form. */
  contact: Mail & {
    topics: Record<ContactTopic, string>;
    name: string;
    email: string;
    company: string;
    model: string;
    quality: string;
    open: string;
  };
}
