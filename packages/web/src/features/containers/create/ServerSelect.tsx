import { text } from '@stagi/contract/text.ts';
import type { FieldProps } from '../../../api/useCallForm.ts';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import classes from '../../../launchForm/LaunchForm.module.css';
import { Select } from '../../../ui/form/Select.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';

const OFFLINE = text('Containers can only be created for server instances that are online');

/** A server whose daemon never connected cannot run containers. */
const isReady = ({ status, facts }: Server) => status === 'online' && facts !== null;

/** Servers that are not online are listed, but cannot be chosen. */
export function ServerSelect({ servers, ...bound }: FieldProps & { servers: readonly Server[] }) {
  const t = useT();
  const chosen = servers.find(({ id }) => String(id) === bound.value);
  const options = (['rented', 'self-hosted'] as const).flatMap((kind) =>
    servers
      .filter((server) => server.kind === kind)
      .map((server) => ({
        server,
        value: String(server.id),
        label: server.title,
        group: kind === 'rented' ? t('Rented') : t('Self-hosted'),
        disabled: !isReady(server),
      })),
  );
  return (
    <Select
      label={t('Server')}
      options={options}
      renderOption={({ server }) => <Option server={server} />}
      data-testid="container-server"
      {...bound}
      error={bound.error ?? (chosen && !isReady(chosen) ? t(OFFLINE) : undefined)}
    />
  );
}

function Option({ server }: { server: Server }) {
  const t = useT();
  return (
    <span className={classes.option}>
      <span>{server.title}</span>
      {isReady(server) ? (
        <span className="muted">
          {server.freeCpus !== null && t('{{count}} CPUs free', { count: server.freeCpus })}
        </span>
      ) : server.status === 'online' ? (
        <span className="muted">{t('its agent has not reported')}</span>
      ) : (
        <StatusBadge status={server.status} />
      )}
    </span>
  );
}
