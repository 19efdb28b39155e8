import { Loader } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { useNow } from '../../../ui/clock.ts';
import { machineSummary } from './machineSummary.ts';
import classes from './SelfHosted.module.css';

const LOOK_AGAIN_MS = 2_000;

/** The old daemon may still send a heartbeat after its key was revoked. Later ones are from the new daemon. */
const LAST_HEARTBEAT_MS = 3_000;

interface Props {
  id: number;
  /** The last heartbeat of this server before the file was created; null for a new server. */
  heardBefore: string | null;
  expiresAt: string;
  onJoined(): void;
}

/** Polls until the server is online; after a reissue, until the new daemon sends a heartbeat. */
export function WaitForServer({ id, heardBefore, expiresAt, onJoined }: Props) {
  const t = useT();
  const now = useNow();
  const { data, error } = useQuery({
    ...q(api.selfHosted.view, { id }, { quiet: true }),
    refetchInterval: LOOK_AGAIN_MS,
    refetchOnMount: 'always',
  });
  const server = data?.entity;
  const joined = server?.status === 'online' && isHeardSince(server.daemonSeenAt, heardBefore);
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once, when it happens
  useEffect(() => {
    if (joined) onJoined();
  }, [joined]);

  if (joined && server) {
    return (
      <div className={classes.waiting} data-joined role="status" data-testid="server-joined">
        <IconCircleCheck size={20} color="var(--ok)" aria-hidden="true" />
        <div>
          <strong>{t('The server has joined')}</strong>
          <div className="muted">{server.facts ? machineSummary(server.facts, t) : server.ip}</div>
        </div>
        <Button component={Link} to={paths.selfInstance(id)} data-testid="wizard-open">
          {t('Open the server')}
        </Button>
      </div>
    );
  }
  const expired = new Date(expiresAt).getTime() < now;
  return (
    <div className={classes.waiting} role="status" data-testid="server-waiting">
      {!expired && <Loader size={16} aria-hidden="true" />}
      <div>
        <strong>{expired ? t('The file has expired') : t('Waiting for the server…')}</strong>
        <div className="muted">
          {expired
            ? t('Create a new one with “Reissue token” on the server page.')
            : error
              ? errorText(error)
              : t('This turns green automatically, usually within 15 seconds of the command.')}
        </div>
      </div>
    </div>
  );
}

/** Both times are of the platform's clock. */
function isHeardSince(heard: string | null, before: string | null): boolean {
  if (heard === null) return false;
  return before === null || Date.parse(heard) - Date.parse(before) > LAST_HEARTBEAT_MS;
}
