import { describe, expect, it } from 'vitest';
import { readIdentityProviders } from './identityProviders.ts';
import { readSignUp } from './signUp.ts';
import { publicSite, readSite } from './site.ts';

describe('what the operator shows around the product', () => {
  it('is nothing unless configured', () => {
    const identityProviders = readIdentityProviders({});
    expect(publicSite({ site: readSite({}), identityProviders, signUp: readSignUp({}), appsDomain: null })).toEqual({
      socialLinks: [],
      issueTrackerUrl: null,
      supportEmail: null,
      docsUrl: null,
      tutorialsUrl: null,
      partnerMarketplaceUrl: null,
      operator: { name: null, address: null, date: null },
      banners: [],
      analyticsHosts: [],
      identityProviders: [],
      appsOrigin: null,
      returnUrlAllowList: [],
    });
  });

  it('is read from the environment; keys stay on the server', () => {
    const site = readSite({
      SOCIAL_LINKS: 'github=https://github.com/stagi?tab=a=b, x=https://x.com/stagi',
      ISSUE_TRACKER_URL: 'https://example.com/issues',
      SUPPORT_EMAIL: 'help@example.com',
      DOCS_URL: 'https://docs.example.com',
      TUTORIALS_URL: 'https://tutorials.example.com/stagi',
      PARTNER_MARKETPLACE_URL: 'https://partner.example/gpus',
      OPERATOR_NAME: ' Example Cloud Ltd ',
      OPERATOR_ADDRESS: '1 Example Street\n10115 Berlin',
      LEGAL_DATE: '2026-01-31',
      BANNERS: '[{"title":"Maintenance on Sunday","layout":"app"}]',
      ANALYTICS_HOSTS: '[{"host":"{env}.stagi.example","key":"abc"}]',
      RETURN_URL_ALLOW_LIST: 'https://docs.example/app, http://localhost:3000',
      ANALYTICS_URL: 'https://analytics.example/2/httpapi',
    });
    expect(site.analytics).toEqual([{ host: '{env}.stagi.example', key: 'abc' }]);
    const identityProviders = readIdentityProviders({ GOOGLE_CLIENT_ID: 'x' });
    const appsDomain = { protocol: 'https:', host: 'apps.example' } as const;
    const signUp = readSignUp({ SIGN_UP: 'domain:Lab.example, @other.example', SIGN_UP_PHONE: 'optional' });
    expect(publicSite({ site, identityProviders, signUp, appsDomain })).toEqual({
      signUp: { rule: 'domain', domains: ['lab.example', 'other.example'] },
      isPhoneOptional: true,
      socialLinks: [
        { site: 'github', url: 'https://github.com/stagi?tab=a=b' },
        { site: 'x', url: 'https://x.com/stagi' },
      ],
      issueTrackerUrl: 'https://example.com/issues',
      supportEmail: 'help@example.com',
      docsUrl: 'https://docs.example.com',
      tutorialsUrl: 'https://tutorials.example.com/stagi',
      partnerMarketplaceUrl: 'https://partner.example/gpus',
      operator: { name: 'Example Cloud Ltd', address: '1 Example Street\n10115 Berlin', date: '2026-01-31' },
      banners: [{ title: 'Maintenance on Sunday', description: '', link: null, image: null, layout: 'app' }],
      analyticsHosts: ['{env}.stagi.example'],
      identityProviders: ['google'],
      appsOrigin: 'https://apps.example',
      returnUrlAllowList: ['https://docs.example/app', 'http://localhost:3000'],
    });
  });

  it.each([
    [{ SOCIAL_LINKS: 'myspace=https://myspace.com/x' }, /^SOCIAL_LINKS knows discord, .*, not "myspace"/],
    [{ SOCIAL_LINKS: 'github=javascript:alert(1)' }, /^SOCIAL_LINKS must be like/],
    [{ ISSUE_TRACKER_URL: 'example.com' }, /^ISSUE_TRACKER_URL must be an address/],
    [{ SUPPORT_EMAIL: 'nobody' }, /^SUPPORT_EMAIL must be an e-mail address/],
    [{ DOCS_URL: 'docs.example.com' }, /^DOCS_URL must be an address/],
    [{ DOCS_URL: 'javascript:alert(1)' }, /^DOCS_URL must be an address/],
    [{ TUTORIALS_URL: '/tutorials' }, /^TUTORIALS_URL must be an address/],
    [{ PARTNER_MARKETPLACE_URL: 'ftp://partner.example' }, /^PARTNER_MARKETPLACE_URL must be an address/],
    [{ OPERATOR_NAME: 'Example\nLtd' }, /^OPERATOR_NAME must be one line/],
    [{ OPERATOR_NAME: 'x'.repeat(201) }, /^OPERATOR_NAME must be one line of at most 200 characters/],
    [{ OPERATOR_ADDRESS: 'Street \u202e1' }, /^OPERATOR_ADDRESS must be/],
    [{ OPERATOR_ADDRESS: ' \n ' }, /^OPERATOR_ADDRESS must be/],
    [{ LEGAL_DATE: '31.01.2026' }, /^LEGAL_DATE must be a date like 2026-01-31/],
    [{ LEGAL_DATE: '2026-02-30' }, /^LEGAL_DATE must be a date/],
    [
      { RETURN_URL_ALLOW_LIST: 'docs.example' },
      /^RETURN_URL_ALLOW_LIST cannot hold "docs.example": it must be a whole/,
    ],
    [{ RETURN_URL_ALLOW_LIST: 'http://docs.example' }, /^RETURN_URL_ALLOW_LIST .* must be https/],
    [{ RETURN_URL_ALLOW_LIST: 'javascript:alert(1)' }, /^RETURN_URL_ALLOW_LIST .* must be https/],
    [{ RETURN_URL_ALLOW_LIST: 'https://you@docs.example' }, /^RETURN_URL_ALLOW_LIST .* must not contain a user name/],
    [
      { RETURN_URL_ALLOW_LIST: 'https://docs.example/?a=b' },
      /^RETURN_URL_ALLOW_LIST .* must not contain a query or a fragment/,
    ],
    [{ RETURN_URL_ALLOW_LIST: 'https://docs.example/a/../b' }, /must be written as https:\/\/docs\.example\/b$/],
    [
      { RETURN_URL_ALLOW_LIST: 'https://docs.example/a%2Fb' },
      /^RETURN_URL_ALLOW_LIST .* must not contain an encoded slash/,
    ],
    [{ BANNERS: '{' }, /^BANNERS must be a JSON list/],
    [{ BANNERS: '[{"title":"A","layout":"everywhere"}]' }, /^BANNERS cannot be used/],
    [{ BANNERS: '[{"title":"A","layout":"app","link":"javascript:alert(1)"}]' }, /^BANNERS cannot be used/],
    [{ BANNERS: '[{"title":"A","layout":"app","image":"//other.example/a.png"}]' }, /^BANNERS cannot be used/],
    [{ ANALYTICS_HOSTS: '[{"host":"a"}]' }, /^ANALYTICS_HOSTS cannot be used/],
    [{ ANALYTICS_HOSTS: '[{"host":"a","key":"b"}]' }, /^ANALYTICS_URL must say/],
  ])('%j ends the start with the name of the variable', (env, problem) => {
    expect(() => readSite(env)).toThrow(problem);
  });
});
