import { CallError, type ErrorBody, GENERIC_ERROR } from '@stagi/contract/errors.ts';
import { LOCALE } from '@stagi/contract/languages.ts';
import { currentLanguage, t, type Values } from '../i18n/i18n.ts';
import { toast } from '../ui/toasts.ts';

/** The message of a refusal in the person's language, with the time to wait unless the message names it. */
export function refusalText(message: string, body: ErrorBody | null, retryAfter: number | null = null): string {
  const source = body?.template ?? message;
  const said = body?.template ? t(body.template, inLanguage(body.values ?? {})) : t(message);
  // Nobody knows when a held platform is released.
  const isToldWhen = /try again/i.test(source) || body?.code === 'held';
  if (retryAfter === null || isToldWhen) return said;
  return `${/[.!?。！？]$/.test(said) ? said : `${said}.`} ${t('Try again in {{count}} seconds', { count: retryAfter })}`;
}

/** Amounts arrive as decimals; a refusal shows them as the page around it does. */
function inLanguage(values: Values): Values {
  const numbers = new Intl.NumberFormat(LOCALE[currentLanguage()], AMOUNT_PLACES);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      AMOUNTS.includes(name) && DECIMAL.test(String(value)) ? numbers.format(Number(value)) : value,
    ]),
  );
}

const AMOUNTS = ['amount', 'balance', 'needed', 'price'];
const DECIMAL = /^\d+\.\d{2,6}$/;
const AMOUNT_PLACES = { minimumFractionDigits: 2, maximumFractionDigits: 6 };

/** The message for anything thrown: a refusal's own, else the generic one. */
export function errorText(error: unknown): string {
  if (!(error instanceof CallError) || error.status === 500) return t(GENERIC_ERROR);
  return refusalText(error.message, error.body, error.retryAfter);
}

/** Shows a refusal that the client leaves to its caller. */
export function toastFailure(error: CallError): void {
  toast.error(errorText(error), failureTitle(error.path));
}

/** What failed, above the cause, where the cause alone may not tell. */
export function failureTitle(path: string | null): string | undefined {
  if (path !== null && RENTS.includes(path)) return t('rental error');
  return path !== null && DELETES.test(path) ? t('deletion error') : undefined;
}

/** Written out: a first page has no table of calls. */
const RENTS = ['instance-rented/rent', 'storage/create'];
const DELETES = /\/(?:delete|terminate|(?:ssh-key|passkey|totp)\/remove)$/;
