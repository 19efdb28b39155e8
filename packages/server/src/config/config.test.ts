import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

const PUBLIC = { APP_ORIGIN: 'https://stagi.example' };

function openId(...entries: object[]) {
  const good = { id: 'lab', name: 'Lab', issuer: 'https://sso.example', clientId: 'stagi', clientSecret: 'canary' };
  return { OPENID_PROVIDERS: JSON.stringify(entries.map((entry) => ({ ...good, ...entry }))) };
}

it.each<[Record<string, string>, RegExp]>([
  [{ SAMPLE_SECONDS: '0' }, /^SAMPLE_SECONDS must be more than 0/],
  [{ SAMPLE_SECONDS: '-1' }, /^SAMPLE_SECONDS must be a number of at least 0/],
  [{ DEFAULT_PLAN: 'free' }, /^DEFAULT_PLAN must be one of Free, Individual, Team, Enterprise, not "free"$/],
  [{ MARKUP_PERCENT: 'much' }, /^MARKUP_PERCENT must be a number of at least 0/],
  [{ APP_ORIGIN: 'http://stagi.example' }, /^APP_ORIGIN must be https.*PLAIN_HTTP=on/],
  [{ S3_ORIGIN: 'http://192.0.2.1:4401' }, /^S3_ORIGIN must be https/],
  [{ CONTENT_ORIGIN: 'http://content.example' }, /^CONTENT_ORIGIN must be https/],
  [{ DAEMON_ORIGIN: 'http://localhost.example' }, /^DAEMON_ORIGIN must be https/],
  [{ SMTP_URL: 'mail.example:587' }, /^SMTP_URL must be like smtp:\/\/[^,]+$/],
  [{ SMTP_URL: 'mail.example' }, /^SMTP_URL must be like smtp:/],
  [{ SMTP_URL: 'user:canary@mail.example' }, /^SMTP_URL must be like (?!.*canary)/],
  [{ SMTP_URL: 'user:canary@mail.example:587' }, /^SMTP_URL must be like (?!.*canary)/],
  [{ SMTP_URL: '//user:canary@mail.example' }, /^SMTP_URL must be like (?!.*canary)/],
  [{ SMTP_URL: 'smtp:canary@mail.example' }, /^SMTP_URL must be like (?!.*canary)/],
  [{ SMTP_URL: 'https://user:canary@mail.example' }, /^SMTP_URL must be like (?!.*canary)/],
  [
    { DEV_MAIL: 'on', ...PUBLIC },
    /^DEV_MAIL on would show every mailed code .* without a login: .*DEV_MAIL="on public"/,
  ],
  [{ DEV_MAIL: 'on', LISTEN_HOST: '::' }, /^DEV_MAIL on would show every mailed code/],
  [{ DEV_MAIL: 'off', ...PUBLIC }, /^DEV_MAIL must be on or "on public", not "off"/],
  [{ DEV_MAIL: 'public' }, /^DEV_MAIL must be on or "on public", not "public"/],
  [{ SIGN_UP: 'closed' }, /^SIGN_UP must be open, invite, off or like domain:lab.example.*, not "closed"/],
  [{ SIGN_UP: 'domain' }, /^SIGN_UP must be .*like domain:/],
  [{ SIGN_UP: 'domain:lab' }, /^SIGN_UP must be .*like domain:/],
  [{ SIGN_UP: 'domain:lab.example,' }, /^SIGN_UP must be .*like domain:/],
  [{ SIGN_UP: 'invite:lab.example' }, /^SIGN_UP must be open, invite, off or/],
  [{ SIGN_UP_PHONE: 'no' }, /^SIGN_UP_PHONE must be required or optional, not "no"/],
  [{ PASSWORD_SIGN_IN: 'off' }, /^PASSWORD_SIGN_IN may be off only where .*: set OPENID_PROVIDERS/],
  [{ PASSWORD_SIGN_IN: 'no' }, /^PASSWORD_SIGN_IN must be on or off, not "no"/],
  [{ OPENID_PROVIDERS: 'canary' }, /^OPENID_PROVIDERS must be a JSON list(?!.*canary)/],
  [
    openId({ id: 'google' }),
    /^OPENID_PROVIDERS cannot be used: .*is the name of another way to log in[\s\S]*\[0\]\.id/,
  ],
  [openId({ id: 'Not An Id' }), /^OPENID_PROVIDERS cannot be used: [\s\S]*\[0\]\.id/],
  [openId({ issuer: 'http://sso.example' }), /^OPENID_PROVIDERS cannot be used: .*https:[\s\S]*\[0\]\.issuer/],
  [openId({ scopes: 'email' }), /^OPENID_PROVIDERS cannot be used: .*must contain openid/],
  [openId({ secret: 'canary' }), /^OPENID_PROVIDERS cannot be used: (?![\s\S]*canary)/],
  [openId({ clientSecret: '' }), /^OPENID_PROVIDERS cannot be used: [\s\S]*\[0\]\.clientSecret/],
  [openId({}, {}), /^OPENID_PROVIDERS has two entries with the id "lab"/],
  [openId({}, { id: 'other' }), /^OPENID_PROVIDERS has two entries with the issuer "https:/],
  [openId({ issuer: 'https://sso.example?a' }), /^OPENID_PROVIDERS cannot be used: [\s\S]*\[0\]\.issuer/],
  [{ LISTEN_HOST: 'stagi.example' }, /^LISTEN_HOST must be an address of this machine .*, not "stagi.example"/],
  [{ S3_INTERNAL_ORIGIN: 's3:4401' }, /^S3_INTERNAL_ORIGIN must be an address like http:/],
])('%j ends the start with the name of the variable', (env, problem) => {
  expect(() => readConfig({ STAGI_DATA: tmpdir(), ...env })).toThrow(problem);
});

it('origins of http are served on this machine, and elsewhere where PLAIN_HTTP says so', () => {
  const read = (env: Record<string, string>) => readConfig({ STAGI_DATA: tmpdir(), ...env });
  expect(read({}).appOrigin).toBe('http://localhost:4400');
  expect(read({ CONTENT_ORIGIN: 'http://files.localhost:4400' }).contentOrigin).toBe('http://files.localhost:4400');
  expect(read({ APP_ORIGIN: 'http://stagi.example', PLAIN_HTTP: 'on' }).appOrigin).toBe('http://stagi.example');
});

it.each([
  [{}, 'http://127.0.0.1:4401'],
  [{ LISTEN_HOST: '0.0.0.0' }, 'http://127.0.0.1:4401'],
  [{ LISTEN_HOST: '::', S3_PORT: '9000' }, 'http://127.0.0.1:9000'],
  [{ LISTEN_HOST: '10.0.0.5' }, 'http://10.0.0.5:4401'],
  [{ LISTEN_HOST: 'fd00::5' }, 'http://[fd00::5]:4401'],
  [{ S3_INTERNAL_ORIGIN: 'http://s3.internal:4401/' }, 'http://s3.internal:4401'],
])('with %j the platform itself reaches its S3 service at %s', (env, origin) => {
  expect(readConfig({ STAGI_DATA: tmpdir(), ...env }).s3InternalOrigin).toBe(origin);
});

it.each([
  [{}, true],
  [{ DEV_MAIL: 'on' }, true],
  [{ DEV_MAIL: 'on public' }, true],
  [PUBLIC, false],
  [{ LISTEN_HOST: '0.0.0.0' }, false],
  [{ LISTEN_HOST: '127.0.0.2' }, true],
  [{ LISTEN_HOST: '0.0.0.0', DEV_MAIL: 'on public' }, true],
  [{ DEV_MAIL: 'on public', ...PUBLIC }, true],
  [{ DEV_MAIL: 'on', SMTP_URL: 'smtp://mail.example', ...PUBLIC }, false],
  [{ SMTP_URL: 'smtp://mail.example' }, false],
])('with %j mails are shown instead of sent: %j', (env, devMail) => {
  expect(readConfig({ STAGI_DATA: tmpdir(), ...env }).devMail).toBe(devMail);
});
