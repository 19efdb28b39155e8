import { LANGUAGES } from '@stagi/contract/languages.ts';
import { describe, expect, it } from 'vitest';
import * as letters from './letters.ts';

const ground = {
  config: { appOrigin: 'https://stagi.example', site: { supportEmail: 'help@stagi.example' } },
  ip: '192.0.2.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};
const NAME = '<b>Ada & "Co"</b>';

describe.each(LANGUAGES)('the mails in %s', (language) => {
  const at = { ...ground, language };
  const receiver = { name: NAME, language: null };
  const mails = {
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
    app: letters.appLetInMail(at, receiver, 'Dash'),
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
  };

  it('leave no place unfilled and let no name become markup', () => {
    for (const { subject, text, html } of Object.values(mails)) {
      expect(subject + text + html).not.toMatch(/\{\{|undefined/);
      expect(html).not.toContain('<b>Ada');
      expect(subject).not.toMatch(/[\r\n]/);
    }
  });

  it('have the code in subject, text and HTML, and say who did what from where', () => {
    for (const mail of [mails.code, mails.reset, mails.newAddress, mails.stepUp])
      for (const part of [mail.subject, mail.text, mail.html]) expect(part).toContain('01234567');
    expect(mails.app.subject + mails.app.text).toContain('Dash');
    for (const mail of [mails.connected, mails.disconnected]) expect(mail.subject + mail.text).toContain('GitHub');
    const { changed, added, device, connected, disconnected, app, factorGuessed } = mails;
    for (const mail of [changed, added, device, connected, disconnected, app, factorGuessed]) {
      expect(mail.text).toContain('192.0.2.7');
      expect(mail.text).toContain('Firefox');
      expect(mail.text).toContain('https://stagi.example/recovery');
    }
    for (const mail of [mails.emailChanged, mails.deleted]) {
      for (const words of ['192.0.2.7', 'Firefox', 'help@stagi.example']) expect(mail.text).toContain(words);
      expect(mail.text).not.toContain('/recovery');
    }
  });
});

it('mails are in the language that the receiver chose, else in that of the browser', () => {
  const at = { ...ground, language: 'ru' as const };
  expect(letters.newDeviceMail(at, { name: 'A', language: 'tr' }).html).toContain('lang="tr"');
  expect(letters.newDeviceMail(at, { name: 'A', language: null }).html).toContain('lang="ru"');
});
