import { Anchor, Group } from '@mantine/core';
import type { Container } from '@stagi/contract/containers.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/Note.tsx';
import { Countdown, TimeAgo } from '../../ui/Time.tsx';
import { isDoneEachTime } from './restarts.ts';
import { useMayManage } from './useContainerActions.tsx';

/** A container that ends again and again: how it ended, how often, and when it is started next. */
export function RestartLoop({ container }: { container: Container }) {
  const t = useT();
  const { restarts } = container;
  if (!restarts?.isLooping) return null;
  const { exitCode, count, endedAt, nextTryAt } = restarts;
  const isDone = isDoneEachTime(container);
  return (
    <Note
      tone={exitCode === 0 ? 'warn' : 'bad'}
      title={
        exitCode === null
          ? t('It ended, and is started again')
          : t('It ended with exit code {{code}}, and is started again', { code: exitCode })
      }
      action={
        <Group gap={12}>
          <Anchor component={Link} to={paths.container(container.id, 'logs')} fz="inherit">
            {t('See its last lines')}
          </Anchor>
          {isDone && <EndRestarts container={container} />}
        </Group>
      }
    >
      <div>
        {t('{{count}} restarts', { count })}
        {endedAt && (
          <>
            {' · '}
            {t('ended')} <TimeAgo at={endedAt} />
          </>
        )}
        {nextTryAt && (
          <>
            {' · '}
            {t('next try')} <Countdown to={nextTryAt} />
          </>
        )}
      </div>
      {isDone && <div>{t('Its command is done each time. With the restart policy “Never” it runs once.')}</div>}
    </Note>
  );
}

function EndRestarts({ container }: { container: Container }) {
  const t = useT();
  const mayManage = useMayManage();
  if (!mayManage(container) || container.task) return null;
  return (
    <Button size="xs" color="gray" component={Link} to={paths.container(container.id, 'edit')}>
      {t('Change restart policy')}
    </Button>
  );
}
