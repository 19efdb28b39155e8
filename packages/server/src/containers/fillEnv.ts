import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import { invalid } from '../http/errors.ts';

type Env = DesiredContainer['spec']['env'];

/** Variables without a value have the former one of their name. */
export function fillEnv(env: readonly { name: string; value?: string | undefined }[], former: Env): Env {
  return env.map(({ name, value }, index) => {
    const filled = value ?? former.find((variable) => variable.name === name)?.value;
    if (filled === undefined) throw invalid(text('Value is required'), `env.${index}.value`);
    return { name, value: filled };
  });
}
