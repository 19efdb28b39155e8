import i18next from 'i18next';
import { describe, expect, it } from 'vitest';
import english from '../i18n/en.json' with { type: 'json' };
import { apiOrigin } from './apiOrigin.ts';
import { isAffectedBy } from './eventInvalidation.ts';
import { refusalText } from './messages.ts';
import { issuesByPath } from './useCallForm.ts';

describe('the base address', () => {
  const rules = [
    { host: 'app.example.com', api: 'https://api.example.com' },
    { host: '{env}.example.com', api: 'https://api-{env}.example.com' },
  ];
  const of = (host: string) => apiOrigin({ host, origin: `https://${host}` }, rules);

  it('is found by the host of the page', () => {
    expect(of('app.example.com')).toBe('https://api.example.com');
    expect(of('staging.example.com')).toBe('https://api-staging.example.com');
  });

  it('is the page’s own origin for other hosts', () => {
    expect(of('localhost:4400')).toBe('https://localhost:4400');
    expect(of('a.b.example.com')).toBe('https://a.b.example.com');
    expect(of('evil.com')).toBe('https://evil.com');
  });
});

describe('an event of the workspace', () => {
  it('touches the lists of its entity and the view of that one thing', () => {
    const event = { entity: 'instance-rented', id: 5 } as const;
    expect(isAffectedBy(event, ['instance-rented/list', {}])).toBe(true);
    expect(isAffectedBy(event, ['instance-rented/view', { id: 5 }])).toBe(true);
    expect(isAffectedBy(event, ['instance-rented/view', { id: 6 }])).toBe(false);
    expect(isAffectedBy(event, ['docker-container/list', {}])).toBe(false);
  });

  it('touches what a server costs and how long the balance lasts', () => {
    const event = { entity: 'instance-rented', id: 5 } as const;
    expect(isAffectedBy(event, ['billing/balance', {}])).toBe(true);
    expect(isAffectedBy(event, ['billing/usage/list', {}])).toBe(true);
    expect(isAffectedBy(event, ['v2/billing/transaction-list', {}])).toBe(false);
  });

  it('touches the servers whose container counts it changes', () => {
    const event = { entity: 'docker-container', id: 1 } as const;
    expect(isAffectedBy(event, ['docker-container/view', { id: 1 }])).toBe(true);
    expect(isAffectedBy(event, ['instance-rented/list', {}])).toBe(true);
  });
});

it('keeps the first complaint of each field, by the path that forms use', () => {
  const issues = [
    { path: ['portMappings', 0, 'host'], message: 'Port is required' },
    { path: ['portMappings', 0, 'host'], message: 'Port must be between 1000 and 9999' },
    { path: ['title'], message: 'Title is required' },
  ];
  expect(issuesByPath(issues)).toEqual({ 'portMappings.0.host': 'Port is required', title: 'Title is required' });
});

describe('the words of a refusal', () => {
  const body = (message: string, more: object = {}) => ({ isSuccess: false as const, message, ...more });

  it.each([
    ['The same request is already in progress', body('The same request is already in progress'), null, null],
    ['Too many attempts. Try again in 30 s.', body('Too many attempts. Try again in 30 s.', tooMany(30)), 30, null],
    ['The service is busy. Try again in a moment.', body('The service is busy. Try again in a moment.'), 2, null],
    ['Busy', body('Busy'), 40, 'Busy. Try again in 40 seconds'],
    ['Too many requests at once', null, 1, 'Too many requests at once. Try again in one second'],
  ])('%s', async (message, refusal, wait, shown) => {
    await i18next.init({
      lng: 'en',
      keySeparator: false,
      nsSeparator: false,
      resources: { en: { translation: english } },
    });
    expect(refusalText(message, refusal, wait)).toBe(shown ?? message);
  });

  function tooMany(seconds: number) {
    return { template: 'Too many attempts. Try again in {{seconds}} s.', values: { seconds } };
  }
});
