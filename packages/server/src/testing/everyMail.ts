import type { Language } from '@stagi/contract/languages.ts';
import * as letters from '../mail/accountMails.ts';
import { zeroBalanceMail, zeroEndedMail, zeroReminderMail } from '../mail/balanceMails.ts';
import { contactRequestMail } from '../mail/contactMail.ts';
import { removedMail, roleChangedMail } from '../mail/memberMails.ts';
import * as operatorLetters from '../mail/operatorMails.ts';

export const MAIL_CONTEXT = {
  config: { appOrigin: 'https://stagi.example', site: { supportEmail: 'help@stagi.example' } },
  ip: '192.0.2.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

/** A name with markup, which must be escaped. */
const NAME = '<b>Ada & "Co"</b>';

/** The same with an injected mail header. */
const LINES = `${NAME}\r\nBcc: x`;

const KEPT = { workspace: LINES, until: new Date('2026-12-06T14:00:00Z'), servers: [NAME], storages: [NAME] };

/** Every mail that the platform writes. */
export function everyMail(language: Language) {
  const at = { ...MAIL_CONTEXT, language };
  const receiver = { name: NAME, language: null };
  // Mails about acts of an operator or a timer are in the stored language, as there is no request of the receiver.
  const chosen = { name: NAME, language };
  return {
    code: letters.codeMail(at, '01234567', NAME),
    registered: letters.alreadyRegisteredMail(at, receiver),
    reset: letters.resetCodeMail(at, '01234567', receiver),
    newAddress: letters.newAddressMail(at, '01234567', receiver),
    addressTaken: letters.addressTakenMail(at, receiver),
    emailChanged: letters.emailChangedMail(at, receiver),
    deleted: letters.accountDeletedMail(at, receiver),
    noAccount: letters.noAccountMail(at),
    changed: letters.passwordChangedMail(at, receiver),
    added: letters.passwordAddedMail(at, receiver),
    device: letters.newDeviceMail(at, receiver),
    connected: letters.identityConnectedMail(at, receiver, 'GitHub'),
    disconnected: letters.identityDisconnectedMail(at, receiver, 'GitHub'),
    app: letters.appAuthorizedMail(at, receiver, 'Dash'),
    ended: letters.sessionEndedMail(at, receiver),
    token: letters.tokenCreatedMail(at, receiver, NAME, NAME),
    stepUp: letters.stepUpCodeMail(at, '01234567', receiver),
    totpAdded: letters.totpAddedMail(at, receiver),
    totpRemoved: letters.totpRemovedMail(at, receiver),
    passkeyAdded: letters.passkeyAddedMail(at, receiver),
    passkeyRemoved: letters.passkeyRemovedMail(at, receiver),
    recoveryCodes: letters.recoveryCodesMail(at, receiver),
    recoveryCodeUsed: letters.recoveryCodeUsedMail(at, receiver),
    factorGuessed: letters.factorGuessedMail(at, receiver),
    accountDisabled: operatorLetters.accountDisabledMail(at, chosen, NAME),
    accountEnabled: operatorLetters.accountEnabledMail(at, chosen),
    clientDisabled: operatorLetters.clientDisabledMail(at, chosen, LINES, NAME),
    clientEnabled: operatorLetters.clientEnabledMail(at, chosen, LINES),
    memberClientDisabled: operatorLetters.memberClientDisabledMail(at, chosen, LINES, NAME),
    memberClientEnabled: operatorLetters.memberClientEnabledMail(at, chosen, LINES),
    planChanged: operatorLetters.planChangedMail(at, chosen, LINES),
    credited: operatorLetters.creditedMail(at, chosen, { workspace: LINES, amount: '1.50 STAGI', reason: NAME }),
    deletedByOperator: operatorLetters.accountDeletedByOperatorMail(at, chosen, NAME),
    roleChanged: roleChangedMail(at, receiver, { workspaceName: LINES, by: NAME, role: 'Developer' }),
    removed: removedMail(at, receiver, { workspaceName: LINES, by: NAME }),
    contact: contactRequestMail(at, {
      id: 7,
      topic: 'A model',
      name: NAME,
      email: 'ada@example.com',
      company: NAME,
      message: `${NAME}\n-- \nBcc: x`,
      about: { model: { id: 'a/b', name: NAME }, gpu: 'H100', quality: 'FP8' },
    }),
    zero: zeroBalanceMail(at, chosen, { ...KEPT, lost: [NAME] }),
    zeroReminder: zeroReminderMail(at, chosen, KEPT),
    zeroEnded: zeroEndedMail(at, chosen, KEPT),
  };
}
