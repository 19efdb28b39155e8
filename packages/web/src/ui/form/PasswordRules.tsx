import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import classes from './PasswordRules.module.css';

/** The parts of the contract's `NewPassword`, one by one, for showing; the contract decides. */
const RULES = [
  { word: text('8 characters'), holds: (password: string) => password.length >= 8 },
  { word: text('a digit'), holds: (password: string) => /\d/.test(password) },
  { word: text('a lower case letter'), holds: (password: string) => /\p{Ll}/u.test(password) },
  { word: text('an upper case letter'), holds: (password: string) => /\p{Lu}/u.test(password) },
];

export function PasswordRules({ password }: { password: string }) {
  const t = useT();
  return (
    <ul className={classes.rules} aria-label={t('Password requirements')}>
      {RULES.map(({ word, holds }) => {
        const met = holds(password);
        return (
          <li key={word} data-met={met || undefined}>
            <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
              {met ? (
                <path d="m1.5 5.5 2.5 2.5 4.5-6" fill="none" stroke="currentColor" strokeWidth="1.5" />
              ) : (
                <circle cx="5" cy="5" r="1.5" fill="currentColor" />
              )}
            </svg>
            {t(word)}
            {met && <span className="visually-hidden">{t('Done')}</span>}
          </li>
        );
      })}
    </ul>
  );
}
