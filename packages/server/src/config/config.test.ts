import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

it.each([
  [{ SAMPLE_SECONDS: '0' }, /^SAMPLE_SECONDS must be more than 0/],
  [{ SAMPLE_SECONDS: '-1' }, /^SAMPLE_SECONDS must be a number of at least 0/],
  [{ MARKUP_PERCENT: 'much' }, /^MARKUP_PERCENT must be a number of at least 0/],
  [{ APP_ORIGIN: 'http://stagi.example' }, /^APP_ORIGIN must be https.*PLAIN_HTTP=on/],
  [{ S3_ORIGIN: 'http://192.0.2.1:4401' }, /^S3_ORIGIN must be https/],
  [{ CONTENT_ORIGIN: 'http://content.example' }, /^CONTENT_ORIGIN must be https/],
  [{ DAEMON_ORIGIN: 'http://localhost.example' }, /^DAEMON_ORIGIN must be https/],
  [{ SMTP_URL: 'mail.example:25' }, /^SMTP_URL must be like smtp:/],
])('%j ends the start with the name of the variable', (env, problem) => {
  expect(() => readConfig({ STAGI_DATA: tmpdir(), ...env })).toThrow(problem);
});

it('origins of http are served on this machine, and elsewhere where PLAIN_HTTP says so', () => {
  const read = (env: Record<string, string>) => readConfig({ STAGI_DATA: tmpdir(), ...env });
  expect(read({}).appOrigin).toBe('http://localhost:4400');
  expect(read({ CONTENT_ORIGIN: 'http://files.localhost:4400' }).contentOrigin).toBe('http://files.localhost:4400');
  expect(read({ APP_ORIGIN: 'http://stagi.example', PLAIN_HTTP: 'on' }).appOrigin).toBe('http://stagi.example');
});
