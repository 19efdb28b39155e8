import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import { PasswordInput, type PasswordInputProps } from './PasswordInput.tsx';
import { PasswordRules } from './PasswordRules.tsx';

interface Props {
  /** The name of the password in its form. */
  name?: string;
  field(name: string): Partial<Omit<PasswordInputProps, 'label' | 'aria-label'>>;
  password: string;
}

/** A new password with its rules, and a repetition against typing errors. */
export function NewPasswordFields({ name = 'newPassword', field, password }: Props) {
  const t = useT();
  return (
    <>
      <div>
        <PasswordInput label={t('New password')} autoComplete="new-password" {...field(name)} />
        <PasswordRules password={password} />
      </div>
      <PasswordInput label={t('Repeat the new password')} autoComplete="new-password" {...field('confirmation')} />
    </>
  );
}

/** What is wrong with the repetition; what is wrong with the password itself is the contract's to say. */
export function confirmed(values: { newPassword: string; confirmation: string }): Record<string, string> {
  if (values.confirmation === '') return { confirmation: text('Please repeat the password') };
  if (values.confirmation !== values.newPassword) return { confirmation: text('The passwords do not match') };
  return {};
}
