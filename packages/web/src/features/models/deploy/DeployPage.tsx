import { api } from '@stagi/contract/api.ts';
import type { Model } from '@stagi/contract/models.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useServers } from '../../../api/useServers.ts';
import type { SshKeySelectSlot } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import classes from '../../../launchForm/LaunchForm.module.css';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { FormSkeleton } from '../../../ui/Skeletons.tsx';
import { DeployForm } from './DeployForm.tsx';
import { servedQualities } from './deployForm.ts';

/** The form that serves a model on a server of the workspace, or on one that is rented for it. */
export function DeployPage({ model, SshKeySelect }: { model: Model; SshKeySelect: SshKeySelectSlot }) {
  const t = useT();
  return (
    <>
      <PageHeader title={t('Deploy {{title}}', { title: model.title })}>
        {t('An engine serves it in a container on a server of yours.')}
      </PageHeader>
      <Content model={model} SshKeySelect={SshKeySelect} />
    </>
  );
}

function Content({ model, SshKeySelect }: { model: Model; SshKeySelect: SshKeySelectSlot }) {
  const t = useT();
  const mayDeploy = useHasPermission('INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT');
  const mayRent = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  const { servers, error: serversError, retry } = useServers();
  const gpus = useQuery({ ...q(api.models.gpus, {}, { quiet: true }), staleTime: Number.POSITIVE_INFINITY });
  const offers = useQuery({
    ...q(api.hardware.offers, { entityFilterRequest: { limit: 100 } }, { quiet: true }),
    enabled: mayRent,
  });
  const back = (
    <Button color="gray" component={Link} to={paths.model(model.name, model.id)}>
      {t('Back to the model')}
    </Button>
  );
  if (servedQualities(model).length === 0)
    return (
      <EmptyState title={t('None of our engines serves this model')} action={back}>
        {t('Engines here serve language models, embeddings and speech to text. Run it in a container of your own.')}
      </EmptyState>
    );
  if (!mayDeploy)
    return (
      <EmptyState title={t('You may not deploy in this workspace')} action={back}>
        {t('It takes the permission to manage servers. An owner or administrator of the workspace can give it to you.')}
      </EmptyState>
    );
  const error = serversError ?? (gpus.error ? errorText(gpus.error) : null);
  if (error && !(servers && gpus.data))
    return (
      <ErrorState
        message={error}
        onRetry={() => {
          retry();
          if (gpus.error) void gpus.refetch();
        }}
      />
    );
  if (!servers || !gpus.data || (mayRent && offers.isPending)) return <FormSkeleton />;
  return (
    <div className={classes.page}>
      <DeployForm
        model={model}
        servers={servers}
        gpus={gpus.data.entities}
        offers={mayRent ? (offers.data?.entities ?? []) : null}
        SshKeySelect={SshKeySelect}
      />
    </div>
  );
}
