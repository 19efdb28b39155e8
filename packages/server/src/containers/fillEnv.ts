import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { text } from '@stagi/contract/text.ts';
import { invalid } from '../http/errors.ts';

type Env = DesiredContainer['spec']['env'];

/** Variables without a value have the former one of their name. A kept secret value stays secret. */
export function fillEnv(
  env: readonly { name: string; value?: string | undefined; secret?: boolean | undefined }[],
  former: Env,
): Env {
  return env.map(({ name, value, secret }, index) => {
    const before = former.find((variable) => variable.name === name);
    const filled = value ?? before?.value;
    if (filled === undefined) throw invalid(text('Value is required'), `env.${index}.value`);
    const isSecret = secret || (value === undefined && before?.secret);
    return { name, value: filled, ...(isSecret ? { secret: true } : {}) };
  });
}
