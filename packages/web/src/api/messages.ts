import { CallError, type ErrorBody, GENERIC_ERROR } from '@stagi/contract/errors.ts';
import { t } from '../i18n/i18n.ts';

/** The words of a refusal in the person's language, and how long to wait unless they say so themselves. */
export function refusalText(message: string, body: ErrorBody | null, retryAfter: number | null = null): string {
  const source = body?.template ?? message;
  const said = body?.template ? t(body.template, body.values ?? {}) : t(message);
  if (retryAfter === null || /try again/i.test(source)) return said;
  return `${/[.!?。！？]$/.test(said) ? said : `${said}.`} ${t('Try again in {{count}} seconds', { count: retryAfter })}`;
}

/** What to tell about anything thrown: a refusal in its own words; the generic text for what is our fault. */
export function errorText(error: unknown): string {
  if (!(error instanceof CallError) || error.status === 500) return t(GENERIC_ERROR);
  return refusalText(error.message, error.body, error.retryAfter);
}
