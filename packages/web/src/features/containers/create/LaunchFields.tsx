import type { CapabilitySet } from '@stagi/contract/containerFields.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { CAPABILITIES } from '@stagi/contract/hostConfig.ts';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Checkbox } from '../../../ui/form/Checkbox.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import type { ContainerFormProps } from './containerForm.ts';

/** Its agent knows nothing of what containers are started and stopped with. */
export const isOldAgent = (server: Server | undefined): boolean => server?.facts != null && !server.facts.launch;

/** The most that root in a container may do on this server. */
export const mostCapabilities = (server: Server | undefined): CapabilitySet =>
  server?.facts ? (server.facts.launch?.capabilities ?? 'hardened') : 'docker';

export function EntrypointField({ field }: Pick<ContainerFormProps, 'field'>) {
  const t = useT();
  return (
    <TextInput
      label={t('Entry point')}
      optional
      description={t('In place of the image’s own; the command follows as its arguments')}
      spellCheck={false}
      autoComplete="off"
      classNames={{ input: 'mono' }}
      {...field('entrypoint')}
      data-testid="container-entrypoint"
    />
  );
}

interface Props extends ContainerFormProps {
  server: Server | undefined;
  edited: Container | undefined;
}

/** Who its program runs as, and what root in it may do. */
export function UserFields({ server, form, field, edited }: Props) {
  const t = useT();
  const isFixed = mostCapabilities(server) === 'hardened';
  const bound = field('isHardened', { type: 'checkbox' });
  const error = field('capabilities').error;
  return (
    <>
      <TextInput
        label={t('User')}
        optional
        description={t(
          'A number, user:group or a name of the image; empty: the image’s own. Folders of volumes that are made for it belong to it; others keep their owner',
        )}
        placeholder="1000:1000"
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: 'mono' }}
        {...field('user')}
        data-testid="container-user"
      />
      <Checkbox
        label={t('Hardened: fewer capabilities for root')}
        description={description()}
        disabled={isFixed}
        {...bound}
        checked={isFixed || form.values.isHardened}
        error={error}
        data-testid="container-hardened"
      />
    </>
  );

  function description(): string {
    if (isOldAgent(server)) return t('The agent of this server is too old to give more: install it again');
    if (isFixed) return t('The policy of this server (/etc/stagi/policy.json) gives no more');
    const taken = CAPABILITIES.docker.filter((one) => !CAPABILITIES.hardened.includes(one)).join(', ');
    const what = t('Takes away {{taken}} of Docker’s default. sshd, chroot and ping need some of them', { taken });
    const never = t('Either way sudo and other set-user-id programs gain nothing, and no container is privileged');
    const now = edited?.capabilities === 'hardened' ? [t('This container is hardened now')] : [];
    return [...now, what, never].join('. ');
  }
}
