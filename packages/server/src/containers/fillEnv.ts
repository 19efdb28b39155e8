import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { text } from '@stagi/contract/text.ts';
import { invalid } from '../http/errors.ts';

type Env = DesiredContainer['spec']['env'];

/** Variables of what is changed or cloned. */
export interface FormerEnv {
  variables: Env;
  /** The server that its secrets were entered for; null: there are none. */
  instanceId: number | null;
  /** None of its values is shown to anybody, as those of a task: each is kept like a secret. */
  isHidden: boolean;
}

export const NO_ENV: FormerEnv = { variables: [], instanceId: null, isHidden: true };

/**
 * Variables without a value have the former one of their name. A kept secret value stays secret, and stays on its server:
 * whoever has another one could read it there.
 */
export function fillEnv(
  env: readonly { name: string; value?: string | undefined; secret?: boolean | undefined }[],
  former: FormerEnv,
  instanceId: number,
): Env {
  return env.map(({ name, value, secret }, index) => {
    const before = former.variables.find((variable) => variable.name === name);
    if (value === undefined && before && (before.secret || former.isHidden) && former.instanceId !== instanceId)
      throw invalid(
        text('This secret was entered for another server: enter it again for this one'),
        `env.${index}.value`,
      );
    const filled = value ?? before?.value;
    if (filled === undefined) throw invalid(text('Value is required'), `env.${index}.value`);
    const isSecret = secret || (value === undefined && before?.secret);
    return { name, value: filled, ...(isSecret ? { secret: true } : {}) };
  });
}
