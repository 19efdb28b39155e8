import { expect, it } from 'vitest';
import { allowedReturnUrl, returnUrlEntryProblem, safeReturnUrl } from './returnUrl.ts';
import {
  ALLOW_LIST,
  ALLOWED_RETURN_URLS,
  FRIENDLY_RETURN_URLS,
  HOSTILE_RETURN_URLS,
  NOT_ALLOWED_RETURN_URLS,
} from './testing/returnUrls.ts';

const ORIGIN = 'https://stagi.example';

it.each(FRIENDLY_RETURN_URLS)('follows %j', (url) => {
  expect(safeReturnUrl(url, ORIGIN)).toBe(url);
});

it.each(HOSTILE_RETURN_URLS)('does not follow %j', (url) => {
  expect(safeReturnUrl(url, ORIGIN)).toBeNull();
});

it('follows 2,048 characters and not one more', () => {
  expect(safeReturnUrl(`/${'a'.repeat(2_047)}`, ORIGIN)).toHaveLength(2_048);
  expect(safeReturnUrl(`/${'a'.repeat(2_048)}`, ORIGIN)).toBeNull();
});

it('returns only addresses of this origin, whatever precedes or follows them', () => {
  const parts = [
    '/',
    '//',
    '\\',
    '.',
    '..',
    '@',
    ':',
    '?',
    '#',
    '%2f',
    '%5c',
    '%2e',
    '\t',
    '\n',
    ' ',
    '',
    'evil.example',
  ];
  let followed = 0;
  let n = 0;
  for (const a of parts)
    for (const b of parts)
      for (const c of parts)
        for (const d of parts) {
          const answer = safeReturnUrl(`/${a}${b}${c}${d}evil.example`, ORIGIN);
          n += 1;
          if (answer === null) continue;
          followed += 1;
          const url = new URL(answer, ORIGIN);
          if (url.origin !== ORIGIN || !/^\/(?!\/)/.test(answer) || safeReturnUrl(answer, ORIGIN) !== answer)
            expect.fail(`${JSON.stringify(`/${a}${b}${c}${d}evil.example`)} leads to ${answer}`);
        }
  console.log(
    `return addresses: n = ${n} put together, ${followed} followed, 0 escapes; ${HOSTILE_RETURN_URLS.length} hostile, ${FRIENDLY_RETURN_URLS.length} friendly ones by hand`,
  );
  expect(followed).toBeGreaterThan(0);
  expect(HOSTILE_RETURN_URLS.length).toBeGreaterThanOrEqual(80);
});

it.each(ALLOWED_RETURN_URLS)('follows %j directly to %j', (url, followed) => {
  expect(allowedReturnUrl(url, ALLOW_LIST)).toBe(followed);
});

it.each([...NOT_ALLOWED_RETURN_URLS, ...HOSTILE_RETURN_URLS, ...FRIENDLY_RETURN_URLS])(
  'does not take %j for an allowed address',
  (url) => {
    expect(allowedReturnUrl(url, ALLOW_LIST)).toBeNull();
  },
);

it('follows no other address while nothing is allowed', () => {
  for (const [url] of ALLOWED_RETURN_URLS) expect(allowedReturnUrl(url, [])).toBeNull();
});

it('says what is wrong with an entry of the list', () => {
  for (const entry of ALLOW_LIST) expect(returnUrlEntryProblem(entry)).toBeNull();
  expect(returnUrlEntryProblem('https://docs.example')).toBeNull();
  expect(returnUrlEntryProblem('HTTPS://docs.example/')).toBe('must be written as https://docs.example/');
});
