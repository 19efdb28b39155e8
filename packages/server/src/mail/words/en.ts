import type { Words } from './words.ts';

export const en: Words = {
  hello: 'Hello {{name}},',
  logIn: 'Log in',
  signUp: 'Sign up',
  newPassword: 'Set a new password',
  sessions: 'Look at your sessions',
  tokens: 'Look at your API tokens',
  security: 'Look at your security settings',
  when: 'When',
  from: 'Device',
  unknownDevice: 'Unknown',
  support: 'Support',
  address: 'Address',
  description: 'Description',
  reason: 'Reason',
  workspace: 'Workspace',
  footer: 'You get this mail because of something done with this address at {{brand}}.',
  code: {
    subject: '{{code}} is your {{brand}} confirmation code',
    lead: 'Enter this code to finish your sign-up. It is valid for {{minutes}} minutes.',
    end: 'If you did not sign up, ignore this mail: without the code nothing happens.',
  },
  registered: {
    subject: 'You already have a {{brand}} account',
    lead: 'Somebody, probably you, tried to sign up with this address. It has an account already.',
    recovery: 'If you have forgotten your password, set a new one.',
    end: 'If it was not you, there is nothing to do.',
  },
  reset: {
    subject: '{{code}} is your {{brand}} code for a new password',
    lead: 'Enter this code to set a new password. It is valid for {{minutes}} minutes.',
    end: 'If you did not ask for it, ignore this mail: your password stays as it is. Give the code to nobody.',
  },
  newAddress: {
    subject: '{{code}} is your {{brand}} code for a new address',
    lead: 'Enter this code to move your account to this address. It is valid for {{minutes}} minutes.',
    end: 'If you did not ask for it, ignore this mail: without the code nothing happens. Give the code to nobody.',
  },
  addressTaken: {
    subject: 'Your address is in use at {{brand}}',
    lead: 'Somebody who is logged in to another account, perhaps yours too, wanted to move it to this address. As the address has an account of its own, nothing was changed.',
    end: 'If you want to use the address for the other account, log in to this one first and give it another address or delete it. If it was not you, there is nothing to do.',
  },
  emailChanged: {
    subject: 'The address of your {{brand}} account was changed',
    lead: 'Your account was moved to another address: one can no longer log in with this one. All other devices were logged out.',
    end: 'If it was not you, somebody else has access to your account: write to us at once.',
  },
  deleted: {
    subject: 'Your {{brand}} account was deleted',
    lead: 'Your account and everything that was yours alone have been deleted. Nobody can bring them back.',
    end: 'If it was not you, write to us at once. You can sign up again with this address at any time.',
  },
  shutOut: {
    subject: 'Your {{brand}} account has been disabled',
    lead: 'An operator has disabled your account. You are logged out everywhere, and your API tokens and SSH keys open nothing until it is enabled again. What belongs to you has not been deleted.',
    end: 'If you think this is a mistake, answer to the address below.',
  },
  letIn: {
    subject: 'Your {{brand}} account is enabled again',
    lead: 'An operator has enabled your account again. Your memberships, API tokens and SSH keys are as they were.',
    end: 'Log in to go on.',
  },
  shut: {
    subject: 'The workspace {{workspace}} has been disabled',
    lead: 'An operator has disabled a workspace of yours. Nobody can act in it, nothing new starts in it, and its rented servers are being stopped.',
    end: 'If you think this is a mistake, answer to the address below.',
  },
  opened: {
    subject: 'The workspace {{workspace}} is enabled again',
    lead: 'An operator has enabled a workspace of yours again. Its servers that were stopped stay stopped until somebody starts them.',
    end: 'Your members can go on.',
  },
  noAccount: {
    subject: 'There is no {{brand}} account to recover with this address',
    lead: 'Somebody, probably you, asked for a new password for this address. No account can be recovered with it; perhaps you signed up with another one.',
    end: 'If it was not you, there is nothing to do.',
  },
  changed: {
    subject: 'Your {{brand}} password was changed',
    lead: 'The password of your account was changed, and all other devices were logged out.',
    end: 'If it was not you, set a new password at once.',
  },
  added: {
    subject: 'A password was added to your {{brand}} account',
    lead: 'Your account now has a password that one can log in with.',
    end: 'If it was not you, set a new password at once.',
  },
  device: {
    subject: 'New login to your {{brand}} account',
    lead: 'Somebody logged in to your account from a device that we have not seen before.',
    end: 'If it was you, there is nothing to do. If not, set a new password at once: that logs out all devices.',
  },
  connected: {
    subject: '{{provider}} can now log in to your {{brand}} account',
    lead: 'Your account was connected with {{provider}}: you can log in with it from now on.',
    end: 'If it was not you, disconnect it in your account and set a new password at once.',
  },
  disconnected: {
    subject: '{{provider}} was disconnected from your {{brand}} account',
    lead: 'Nobody can log in to your account with {{provider}} any more.',
    end: 'If it was not you, set a new password at once.',
  },
  app: {
    subject: '{{app}} can now work with your {{brand}} account',
    lead: 'Somebody who was logged in to your account let the app {{app}} in.',
    end: 'If it was not you, disconnect it in your account under Sessions, and set a new password at once: that logs out everything else.',
  },
  ended: {
    subject: 'We ended one of your {{brand}} sessions',
    lead: 'A key of one of your sessions was used twice, as happens when somebody has copied it. To be safe we ended that session: whoever used it has to log in again.',
    end: 'If you see a device there that is not yours, end its session and change your password.',
  },
  token: {
    subject: 'A new {{brand}} API token was created',
    lead: 'An API token was created for your account. Programs that have it can act in your name in the workspace it was made for.',
    end: 'If it was not you, archive the token at once and set a new password.',
  },
  stepUp: {
    subject: '{{code}} is your {{brand}} code to confirm that it is you',
    lead: 'Enter this code to go on with what you are doing. It is valid for {{minutes}} minutes.',
    end: 'If you did not ask for it, somebody is logged in to your account: end their session and change your password. Give the code to nobody.',
  },
  totpAdded: {
    subject: 'An authenticator app was added to your {{brand}} account',
    lead: 'Logging in to your account now takes a code of an authenticator app.',
    end: 'If it was not you, set a new password at once and look at your security settings.',
  },
  totpRemoved: {
    subject: 'The authenticator app was removed from your {{brand}} account',
    lead: 'Logging in to your account no longer takes a code of an authenticator app.',
    end: 'If it was not you, set a new password at once and look at your security settings.',
  },
  passkeyAdded: {
    subject: 'A passkey was added to your {{brand}} account',
    lead: 'Your account has a new passkey: one can log in with it alone, and it is asked for beside the password.',
    end: 'If it was not you, remove that passkey and set a new password at once.',
  },
  passkeyRemoved: {
    subject: 'A passkey was removed from your {{brand}} account',
    lead: 'One of the passkeys of your account was removed.',
    end: 'If it was not you, set a new password at once and look at your security settings.',
  },
  recoveryCodes: {
    subject: 'New recovery codes for your {{brand}} account',
    lead: 'New recovery codes were made for your account. Those before count no more.',
    end: 'If it was not you, set a new password at once and look at your security settings.',
  },
  recoveryCodeUsed: {
    subject: 'A recovery code of your {{brand}} account was used',
    lead: 'Somebody used one of your recovery codes instead of an authenticator app or a passkey. It counts no more.',
    end: 'If it was you, look how many are left. If not, set a new password at once and make new recovery codes.',
  },
  factorGuessed: {
    subject: 'Somebody is trying to log in to your {{brand}} account',
    lead: 'Somebody passed the first step of logging in to your account, as with your password, but showed a wrong second factor several times. They were not let in.',
    end: 'If it was you, there is nothing to do. If not, somebody knows your password: set a new one at once.',
  },
};
