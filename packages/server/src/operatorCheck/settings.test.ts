import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../config/config.ts';
import { givenSettings, readSettings, unknownNames } from './settings.ts';

describe('the settings', () => {
  it('of the page are those that the configuration reads', () => {
    const read = new Set<string>();
    // Some are read where others have a value.
    const given: Record<string, string | undefined> = {
      ...{ STAGI_DATA: tmpdir(), APP_ORIGIN: 'http://stagi.example', PLAIN_HTTP: 'on' },
      ...{ GOOGLE_CLIENT_ID: 'id', GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' },
    };
    const env = new Proxy(given, {
      get(target, name: string) {
        read.add(name);
        return target[name];
      },
    });
    readConfig(env);
    const written = readSettings().map(({ name }) => name);
    expect(new Set(written).size).toBe(written.length);
    expect(written.sort()).toEqual([...read].sort());
  });

  it('are told with their effect and without secrets', () => {
    const given = givenSettings({
      PORT: '4400',
      DATABASE_URL: 'postgres://stagi:hidden@db.example/stagi',
      STAGI_SECRET_KEY: 'hidden',
      PASSWORD_SIGN_IN: 'off',
      S3_LOCATIONS: '[{"secretAccessKey": "hidden"}]',
      SMTP_URL: '',
    });
    expect(given.map(({ name, value }) => [name, value])).toEqual([
      ['PORT', '4400'],
      ['STAGI_SECRET_KEY', '(set)'],
      ['DATABASE_URL', 'postgres://stagi:…@db.example/stagi'],
      ['S3_LOCATIONS', '(a list of 1)'],
      ['PASSWORD_SIGN_IN', 'off'],
    ]);
    expect(given[0]).toMatchObject({ subject: 'Addresses and ports', effect: 'web app, API and link of agents' });
    expect(JSON.stringify(given)).not.toContain('hidden');
  });

  it.each([
    ['SMPT_URL', 'SMTP_URL'],
    ['SMTPURL', 'SMTP_URL'],
    ['APP_ORIGN', 'APP_ORIGIN'],
    ['METRICS_PORTS', 'METRICS_PORT'],
    ['COLOUR', null],
  ])('do not have %s', (name, meant) => {
    expect(unknownNames(['PORT', 'AWS_ACCESS_KEY_ID', name])).toEqual([{ name, meant }]);
  });
});
