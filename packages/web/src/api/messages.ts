import { CallError, type ErrorBody, GENERIC_ERROR } from '@stagi/contract/errors.ts';
import { t } from '../i18n/i18n.ts';

/** The words of a refusal in the person's language. Where only a wait came back, says how long. */
export function refusalText(message: string, body: ErrorBody | null, retryAfter: number | null = null): string {
  const said = body?.template ? t(body.template, body.values ?? {}) : t(message);
  if (body !== null || retryAfter === null) return said;
  return `${said} ${t('Try again in {{count}} seconds', { count: retryAfter })}`;
}

/** What to tell about anything thrown: a refusal in its own words; the generic text for what is our fault. */
export function errorText(error: unknown): string {
  if (!(error instanceof CallError) || error.status === 500) return t(GENERIC_ERROR);
  return refusalText(error.message, error.body, error.retryAfter);
}
