import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import { PasswordInput, type PasswordInputProps } from './PasswordInput.tsx';
import { PasswordRules } from './PasswordRules.tsx';

interface Props {
  /** The name of the password in its form. */
  name?: string;
  /** The first password of an account: its labels do not say "new". */
  isFirst?: boolean;
  field(name: string): Partial<Omit<PasswordInputProps, 'label' | 'aria-label'>>;
  password: string;
}

/** A new password with its rules, and a repetition against typing errors. */
export function NewPasswordFields({ name = 'newPassword', isFirst = false, field, password }: Props) {
  const t = useT();
  return (
    <>
      <div>
        <PasswordInput
          label={isFirst ? t('Password') : t('New password')}
          autoComplete="new-password"
          {...field(name)}
        />
        <PasswordRules password={password} />
      </div>
      <PasswordInput
        label={isFirst ? t('Repeat the password') : t('Repeat the new password')}
        autoComplete="new-password"
        {...field('confirmation')}
      />
    </>
  );
}

/** What is wrong with the repetition; what is wrong with the password itself is the contract's to say. */
export function repetitionErrors(password: string, repetition: string): Record<string, string> {
  if (repetition === '') return { confirmation: text('Please repeat the password') };
  if (repetition !== password) return { confirmation: text('The passwords do not match') };
  return {};
}
