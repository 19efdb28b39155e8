import { LANGUAGES } from '@stagi/contract/languages.ts';
import { describe, expect, it } from 'vitest';
import { everyMail, MAIL_CONTEXT } from '../testing/everyMail.ts';
import * as letters from './accountMails.ts';
import * as moneyLetters from './balanceMails.ts';
import * as contactLetters from './contactMail.ts';
import * as memberLetters from './memberMails.ts';
import * as operatorLetters from './operatorMails.ts';

describe.each(LANGUAGES)('the mails in %s', (language) => {
  const mails = everyMail(language);

  it('are all here', () => {
    const all = Object.keys({
      ...letters,
      ...contactLetters,
      ...memberLetters,
      ...moneyLetters,
      ...operatorLetters,
    }).filter((name) => name.endsWith('Mail'));
    expect(Object.keys(mails)).toHaveLength(all.length);
  });

  it('leave no place unfilled and let no name become markup', () => {
    for (const { subject, text, html } of Object.values(mails)) {
      expect(subject + text + html).not.toMatch(/\{\{|undefined/);
      expect(html).not.toContain('<b>Ada');
      expect(subject).not.toMatch(/[\r\n]/);
    }
  });

  it('write every date as DD.MM.YYYY, every time as HH:mm, and name the zone', () => {
    const { device, zero, zeroReminder } = mails;
    expect(device.text).toMatch(/: \d{2}\.\d{2}\.\d{4} \d{2}:\d{2} UTC\n/);
    expect(zero.text).toContain('06.12.2026 14:00 UTC');
    expect(zeroReminder.subject).toContain('06.12.2026 UTC');
    for (const [name, { subject, text }] of Object.entries(mails)) {
      const others = `${subject} ${text}`.replace(/\d{2}\.\d{2}\.\d{4}( \d{2}:\d{2})? UTC/g, '');
      expect(others, `another form of date in ${name}`).not.toMatch(/\b20\d\d\b|\d:\d\d|\b[AP]M\b|UTC/);
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
  const at = { ...MAIL_CONTEXT, language: 'ru' as const };
  expect(letters.newDeviceMail(at, { name: 'A', language: 'tr' }).html).toContain('lang="tr"');
  expect(letters.newDeviceMail(at, { name: 'A', language: null }).html).toContain('lang="ru"');
});
