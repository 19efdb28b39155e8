/** Behind TLS, on every answer: a year, subdomains included. */
export const STRICT_TRANSPORT = 'max-age=31536000; includeSubDomains';

/** Headers of answers that are read by programs and are never a page. */
export const NO_PAGE = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
