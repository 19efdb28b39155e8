import { SIGN_UP_RULES, type SignUpRule } from '@stagi/contract/signUpRules.ts';
import { ConfigError } from './configError.ts';

export interface SignUp {
  rule: SignUpRule;
  /** In lower case; empty but for the rule `domain`. */
  domains: readonly string[];
  /** The form after the first sign-in insists on a phone number. */
  isPhoneRequired: boolean;
}

type Environment = Record<string, string | undefined>;

const DOMAIN = /^[a-z0-9](-?[a-z0-9])*(\.[a-z0-9](-?[a-z0-9])*)+$/;

/** From `SIGN_UP` (`open`, `invite`, `off`, or `domain:` and domains, comma-separated) and `SIGN_UP_PHONE`. */
export function readSignUp(env: Environment): SignUp {
  return { ...readRule(env.SIGN_UP || 'open'), isPhoneRequired: isPhoneRequired(env.SIGN_UP_PHONE || 'required') };
}

function readRule(setting: string): Pick<SignUp, 'rule' | 'domains'> {
  const [name, ...listed] = setting.trim().split(':');
  const rule = SIGN_UP_RULES.find((known) => known === name);
  const domains = listed
    .join(':')
    .split(',')
    .map((domain) => domain.trim().toLowerCase().replace(/^@/, ''));
  const isComplete = rule === 'domain' ? domains.every((domain) => DOMAIN.test(domain)) : listed.length === 0;
  if (!rule || !isComplete)
    throw new ConfigError(
      'SIGN_UP',
      `must be open, invite, off or like domain:lab.example,other.example, not "${setting}"`,
    );
  return { rule, domains: rule === 'domain' ? domains : [] };
}

function isPhoneRequired(setting: string): boolean {
  if (setting !== 'required' && setting !== 'optional')
    throw new ConfigError('SIGN_UP_PHONE', `must be required or optional, not "${setting}"`);
  return setting === 'required';
}
