import { Group, Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { engineTemplate } from '@stagi/contract/engineTemplates.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import type { Model } from '@stagi/contract/models.ts';
import { useState } from 'react';
import { Link } from 'react-router';
import { track } from '../../../api/analytics.ts';
import { errorText } from '../../../api/messages.ts';
import { invalidate } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { sentence } from '../../../i18n/sentence.ts';
import { EngineWithoutKey } from '../../../launchForm/EngineWithoutKey.tsx';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Heading } from '../../../ui/Heading.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { Countdown } from '../../../ui/Time.tsx';
import { toast } from '../../../ui/toasts.ts';
import { qualityLabel } from '../modelWords.ts';
import { Chat } from './Chat.tsx';
import classes from './Endpoints.module.css';
import { ENDPOINT_WORDS } from './endpointWords.ts';
import { KeyOfEndpoint } from './KeyOfEndpoint.tsx';
import { useEndpoints } from './useEndpoints.ts';

/** What serves this model in the workspace: how far it is, and a chat with it. Nothing for visitors. */
export function Endpoints({ model }: { model: Model }) {
  const t = useT();
  const { endpoints, isAllowed, isPending, error, isFetching, refetch } = useEndpoints(model.id);
  const [running, setRunning] = useState<number | null>(null);
  if (error && endpoints.length === 0)
    return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (isAllowed && isPending) return <Skeleton height={120} my={24} />;
  return (
    <section className={classes.section} aria-labelledby="endpoints">
      <Heading level={2} id="endpoints">
        {t('Deployed in this workspace')}
      </Heading>
      {endpoints.length === 0 && (
        <p className={classes.state}>
          {isAllowed
            ? t('Not yet. Deploy it to a server that it fits: once its engine answers, you can chat with it here.')
            : t('You may not see the servers of this workspace, and so none of what they serve.')}
        </p>
      )}
      {endpoints.map((endpoint) => (
        <Endpoint
          key={endpoint.id}
          endpoint={endpoint}
          isOpen={running === endpoint.id}
          onToggle={() => setRunning(running === endpoint.id ? null : endpoint.id)}
          model={model}
        />
      ))}
    </section>
  );
}

interface EndpointProps {
  endpoint: ModelEndpoint;
  model: Model;
  isOpen: boolean;
  onToggle(): void;
}

const CHATS: readonly Model['task'][] = ['text-generation', 'reasoning', 'code', 'vision-language'];

function Endpoint({ endpoint, model, isOpen, onToggle }: EndpointProps) {
  const t = useT();
  const { status, container, instance } = endpoint;
  const hasChat = CHATS.includes(model.task);
  const isReady = status === 'ready';
  return (
    <article className={classes.endpoint} data-testid={`endpoint-${endpoint.id}`}>
      <div className={classes.head}>
        <StatusBadge status={status} prominent />
        <span className={classes.name}>
          {t('{{engine}}, {{quality}} on {{server}}', {
            engine: engineTemplate(endpoint.engine).title,
            quality: qualityLabel(t, endpoint.quality),
            server: instance.title,
          })}
        </span>
      </div>
      <p className={classes.state} aria-live="polite">
        {(status === 'failed' || endpoint.lastLine !== null) && endpoint.reason ? (
          sentence(t(endpoint.reason))
        ) : (
          <>
            {t(ENDPOINT_WORDS[status])} {endpoint.reason && sentence(t(endpoint.reason))}
          </>
        )}
        {endpoint.deadline && (
          <>
            {' '}
            {t('It must answer within')} <Countdown bare to={endpoint.deadline} />.
          </>
        )}
      </p>
      {endpoint.lastLine !== null && <code className={classes.lastLine}>{endpoint.lastLine}</code>}
      <Group gap={8}>
        {hasChat && (
          <Button
            color={isOpen ? 'gray' : undefined}
            disabled={!isReady && !isOpen}
            onClick={() => {
              if (!isOpen) track('run_model_clicked_models');
              onToggle();
            }}
            data-testid="run-model"
          >
            {isOpen ? t('Close the chat') : t('Run', { context: 'action' })}
          </Button>
        )}
        {container && (
          <>
            <Button color="gray" component={Link} to={paths.container(container.id, 'logs')}>
              {t('Log')}
            </Button>
            <Button color="gray" component={Link} to={paths.container(container.id)}>
              {t('Container')}
            </Button>
          </>
        )}
        <Button color="gray" component={Link} to={paths.server(instance)}>
          {t('Server')}
        </Button>
        <DeleteEndpoint endpoint={endpoint} />
      </Group>
      {!hasChat && isReady && (
        <p className={classes.state}>{t('Models of this kind have no chat. The snippets below show how to use it.')}</p>
      )}
      {endpoint.visibility === 'public' && !endpoint.hasKey && (
        <EngineWithoutKey engine={{ title: engineTemplate(endpoint.engine).title, remedy: null }} />
      )}
      {isReady && endpoint.hasKey && <KeyOfEndpoint endpoint={endpoint} />}
      {isOpen && <Chat endpoint={endpoint} model={model} />}
    </article>
  );
}

function DeleteEndpoint({ endpoint }: { endpoint: ModelEndpoint }) {
  const t = useT();
  const [asked, setAsked] = useState(false);
  const mayDelete = useHasPermission(
    endpoint.instance.kind === 'rented' ? 'INSTANCE_RENTED_MANAGEMENT' : 'SELFHOSTED_INSTANCE_MANAGEMENT',
  );
  const { run, loading } = useCall(api.modelEndpoints.delete, {
    onDone: () => {
      setAsked(false);
      toast.success(t('The deployed model is being deleted'));
      void invalidate('model/endpoint/', 'docker-container/');
    },
  });
  if (!mayDelete) return null;
  return (
    <>
      <Button color="gray" onClick={() => setAsked(true)} loading={loading}>
        {t('Delete')}
      </Button>
      <ConfirmDialog
        variant="error"
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => void run({ id: endpoint.id })}
        title={t('Delete this deployed model?')}
        lost={[t('Its container and what is in it'), t('Its key')]}
        confirmLabel={t('Delete')}
        loading={loading}
      >
        {t('The server stays, and so do the weights that it has downloaded.')}
      </ConfirmDialog>
    </>
  );
}
