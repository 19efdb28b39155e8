import type { FieldProps } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { text } from '../../../i18n/text.ts';
import { SelectField } from '../../../ui/FormField.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import classes from './Create.module.css';
import type { Server } from './useServers.ts';

const OFFLINE = text('Containers can only be created for server instances that are online');

/** Containers are its daemon's work: one that never reported can run none. */
const isReady = ({ status, facts }: Server) => status === 'online' && facts !== null;

/** Servers that are not online are shown, as one looks for them, but cannot be chosen. */
export function ServerSelect({ servers, ...bound }: FieldProps & { servers: readonly Server[] }) {
  const t = useT();
  const chosen = servers.find(({ id }) => String(id) === bound.value);
  const optionsOf = (kind: Server['kind']) =>
    servers
      .filter((server) => server.kind === kind)
      .map((server) => ({ value: String(server.id), label: server.title, disabled: !isReady(server) }));
  return (
    <SelectField
      label={t('Server')}
      data={[
        { group: t('Rented'), items: optionsOf('rented') },
        { group: t('Self-hosted'), items: optionsOf('self-hosted') },
      ].filter(({ items }) => items.length > 0)}
      searchable={servers.length > 8}
      renderOption={({ option }) => <Option server={servers.find(({ id }) => String(id) === option.value)} />}
      data-testid="container-server"
      {...bound}
      value={bound.value === '' ? null : bound.value}
      error={bound.error ?? (chosen && !isReady(chosen) ? t(OFFLINE) : undefined)}
    />
  );
}

function Option({ server }: { server: Server | undefined }) {
  const t = useT();
  if (!server) return null;
  return (
    <span className={classes.option}>
      <span>{server.title}</span>
      {isReady(server) ? (
        <span className="muted">
          {server.freeCpus !== null && t('{{count}} CPUs free', { count: server.freeCpus })}
        </span>
      ) : server.status === 'online' ? (
        <span className="muted">{t('its daemon has not reported')}</span>
      ) : (
        <StatusBadge status={server.status} />
      )}
    </span>
  );
}
