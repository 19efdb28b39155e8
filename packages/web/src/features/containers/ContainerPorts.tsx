import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { type KeylessEngine, keylessEngine } from '@stagi/contract/keylessEngine.ts';
import { IconExternalLink } from '@tabler/icons-react';
import { useState } from 'react';
import { portUrl } from '../../api/portUrl.ts';
import { invalidate } from '../../api/query.ts';
import { useSite } from '../../api/site.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { EngineWithoutKey } from '../../launchForm/EngineWithoutKey.tsx';
import { Button } from '../../ui/Button.tsx';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Note } from '../../ui/Note.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './ContainerPorts.module.css';
import { RecreateNow } from './RecreateNow.tsx';
import { NOT_MINE, useMayManage } from './useContainerActions.tsx';

type Port = Container['portMappings'][number];

/** The addresses of a container's ports, and who may open them. */
export function ContainerPorts({ container }: { container: Container }) {
  const t = useT();
  const mayManage = useMayManage();
  const [changing, setChanging] = useState<Port | null>(null);
  const { portMappings } = container;
  if (portMappings.length === 0) return null;
  const verdict = containerCan.delete(container);
  const whyNot = !mayManage(container) ? NOT_MINE : verdict.allowed ? null : verdict.reason;
  return (
    <section className={classes.panel} data-testid="container-ports">
      <h2 className={classes.title}>{t('Ports')}</h2>
      <ul className={classes.ports}>
        {portMappings.map((port) => (
          <li key={port.host} className={classes.port} data-testid="container-port">
            <PortLine container={container} port={port} whyNot={whyNot} onChange={() => setChanging(port)} />
          </li>
        ))}
      </ul>
      <ChangeVisibility container={container} port={changing} onClose={() => setChanging(null)} />
    </section>
  );
}

interface LineProps {
  container: Container;
  port: Port;
  /** Why the port cannot be changed; null: it can. */
  whyNot: string | null;
  onChange(): void;
}

function PortLine({ container, port, whyNot, onChange }: LineProps) {
  const t = useT();
  const { appsOrigin } = useSite();
  const { slug, status, instance } = container;
  const isPublic = port.visibility === 'public';
  const address = appsOrigin && portUrl(appsOrigin, slug, port.host);
  const direct = instance.ip && `${instance.ip}:${port.host}`;
  const notOpen = status === 'running' ? null : t('The container is not running');
  return (
    <>
      <div className={classes.head}>
        <h3 className={classes.name}>{t('Port {{port}}', { port: port.host })}</h3>
        {port.container !== port.host && (
          <span className="muted">{t('leads to {{port}} in the container', { port: port.container })}</span>
        )}
        <Tag color={isPublic ? 'primary' : 'gray'}>{isPublic ? t('Public') : t('Private')}</Tag>
        <Button
          color="gray"
          size="xs"
          look="quiet"
          reason={whyNot && t(whyNot)}
          onClick={onChange}
          data-testid="port-change"
        >
          {isPublic ? t('Make private') : t('Make public')}
        </Button>
      </div>
      {address ? (
        <>
          <div className={classes.address}>
            <span className={`mono ${classes.url}`} data-testid="port-address">
              {address}
            </span>
            <CopyButton value={address} label={t('Copy the address')} />
            {notOpen ? (
              <Button color="gray" size="xs" reason={notOpen} data-testid="port-open">
                {t('Open', { context: 'action' })}
              </Button>
            ) : (
              <Button
                component="a"
                href={address}
                target="_blank"
                rel="noreferrer"
                color="gray"
                size="xs"
                end={<IconExternalLink size={14} />}
                data-testid="port-open"
              >
                {t('Open', { context: 'action' })}
              </Button>
            )}
          </div>
          <p className={classes.who}>
            {isPublic
              ? t('Anybody who knows this address can open it.')
              : t('Opens for members who may view this container: in a browser after sign-in, or with an API token.')}
          </p>
          <CodeBlock
            prompt="$"
            wrap
            code={isPublic ? `curl ${address}` : `curl -H "Authorization: Bearer $STAGI_TOKEN" ${address}`}
          />
        </>
      ) : (
        <p className={classes.who}>
          {t('Container ports cannot be opened in a browser: the operator has not set up a domain for them')}
        </p>
      )}
      {isPublic && <EngineWithoutKey engine={engineAt(container, port)} />}
      {isPublic && port.boundAs === 'public' && direct && (
        <p className={classes.who}>
          {t('On the network of the server:')} <span className="mono">{direct}</span> <CopyButton value={direct} />
        </p>
      )}
      {port.boundAs !== null && port.boundAs !== port.visibility && (
        <Note tone={isPublic ? 'info' : 'warn'} action={<RecreateNow container={container} />}>
          {isPublic
            ? t('On the network of the server it opens when the container is next recreated.')
            : t(
                'Until the container is next recreated, this port can also be reached past the platform, at {{address}}.',
                { address: direct || t('host port {{port}}', { port: port.host }) },
              )}
        </Note>
      )}
    </>
  );
}

const engineAt = ({ dockerImage, command, envNames }: Container, port: Port): KeylessEngine | null =>
  keylessEngine(port.container, { dockerImage, command, variables: envNames });

function ChangeVisibility({ container, port, onClose }: { container: Container; port: Port | null; onClose(): void }) {
  const t = useT();
  // Kept while the dialog closes.
  const [kept, setKept] = useState(port);
  if (port !== null && port !== kept) setKept(port);
  const { run, loading } = useCall(api.containerAccess.editPorts, {
    onDone: (_, { portMappings }) => {
      void invalidate('docker-container/');
      toast.success(portMappings[0]?.visibility === 'public' ? t('The port is public') : t('The port is private'));
      onClose();
    },
  });
  if (!kept) return null;
  const toPublic = kept.visibility === 'private';
  const visibility = toPublic ? 'public' : 'private';
  return (
    <ConfirmDialog
      opened={port !== null}
      onClose={onClose}
      onConfirm={() => void run({ ref: { id: container.id }, portMappings: [{ host: kept.host, visibility }] })}
      title={
        toPublic
          ? t('Make port {{port}} public?', { port: kept.host })
          : t('Make port {{port}} private?', { port: kept.host })
      }
      confirmLabel={toPublic ? t('Make public') : t('Make private')}
      loading={loading}
    >
      <Stack gap={16}>
        <div>
          {toPublic
            ? t(
                'Anybody who knows its address can then open it and use what runs there, without signing in and without an API token. The container itself must check who may do what.',
              )
            : t(
                'Then it opens only for members who may view this container, signed in or with an API token. Open connections of everybody else end.',
              )}
        </div>
        {toPublic && <EngineWithoutKey engine={engineAt(container, kept)} />}
      </Stack>
    </ConfirmDialog>
  );
}
