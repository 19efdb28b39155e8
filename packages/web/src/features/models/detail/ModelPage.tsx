import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { Model } from '@stagi/contract/models.ts';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useRef, useState } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useSignedIn } from '../../../api/session.ts';
import { MessagePage } from '../../../errorPages/MessagePage.tsx';
import type { ContactDialogSlot, SshKeySelectSlot } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { usePageTitle } from '../../../navigation/pageTitle.tsx';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { DetailSkeleton, FormSkeleton } from '../../../ui/Skeletons.tsx';
import { useUsed } from '../../../ui/whenIdle.ts';
import { DeployButton } from '../actions/DeployButton.tsx';
import { ModelActions } from '../actions/ModelActions.tsx';
import { modelRefOf } from '../modelRef.ts';
import { useModelChoice } from '../useModelChoice.ts';
import { CalculatorSkeleton } from './CalculatorSkeleton.tsx';
import { ModelFacts } from './ModelFacts.tsx';

const DeployPage = lazyComponent(async () => (await import('../deploy/DeployPage.tsx')).DeployPage);
const Endpoints = lazyComponent(async () => (await import('../run/Endpoints.tsx')).Endpoints);
const Calculator = lazyComponent(async () => (await import('./Calculator.tsx')).Calculator);
const MemberSnippets = lazyComponent(async () => (await import('../run/MemberSnippets.tsx')).MemberSnippets);
const ModelSnippets = lazyComponent(async () => (await import('../snippets/ModelSnippets.tsx')).ModelSnippets);

interface Slots {
  SshKeySelect: SshKeySelectSlot;
  ContactDialog: ContactDialogSlot;
}

/** One model: what is known of it, what it fits, how fast it is there and what that costs. */
export function ModelPage({ SshKeySelect, ContactDialog }: Slots) {
  const signedIn = useSignedIn();
  const { name } = useParams();
  const [search] = useSearchParams();
  const { data, error, isFetching, refetch } = useQuery(q(api.models.view, modelRefOf(name, search), { quiet: true }));
  usePageTitle(data?.entity.title);
  if (data && signedIn && search.get('deploy') === '1')
    return (
      <Suspense fallback={<FormSkeleton />}>
        <DeployPage model={data.entity} SshKeySelect={SshKeySelect} />
      </Suspense>
    );
  if (data) return <ModelView key={data.entity.id} model={data.entity} ContactDialog={ContactDialog} />;
  if (error instanceof CallError && error.status === 404) return <NoSuchModel />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <DetailSkeleton />;
}

function ModelView({ model, ContactDialog }: { model: Model } & Pick<Slots, 'ContactDialog'>) {
  const { choice } = useModelChoice(model);
  return (
    <>
      <PageHeader
        title={model.title}
        actions={
          <>
            <ModelActions model={model} choice={choice} ContactDialog={ContactDialog} />
            <DeployButton model={model} />
          </>
        }
      >
        {model.publisher}
      </PageHeader>
      <Running model={model} />
      <ModelFacts model={model} />
      <LoadedAfterwards model={model} />
    </>
  );
}

/**
 * The page is prerendered from its model alone. What computes, and asks for more, comes when its place is on the screen
 * or somebody uses the page: on a phone it is below, and the page answers before.
 */
function LoadedAfterwards({ model }: { model: Model }) {
  const signedIn = useSignedIn();
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setIsSeen] = useState(false);
  const isUsed = useUsed();
  useEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver((seen) => {
      if (seen.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true);
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return isSeen || isUsed ? (
    <Suspense fallback={<CalculatorSkeleton />}>
      <Calculator model={model} />
      {signedIn ? <MemberSnippets model={model} /> : <ModelSnippets model={model} />}
    </Suspense>
  ) : (
    <div ref={place}>
      <CalculatorSkeleton />
    </div>
  );
}

/** What serves the model in the workspace, with a chat; visitors read what that needs. Its code is fetched for members. */
function Running({ model }: { model: Model }) {
  const t = useT();
  const signedIn = useSignedIn();
  return signedIn ? (
    <Suspense>
      <Endpoints model={model} />
    </Suspense>
  ) : (
    <p className="muted">
      {t('To run it here, sign up and deploy it to a server that you rent or own. Only the server is paid for.')}
    </p>
  );
}

function NoSuchModel() {
  const t = useT();
  return (
    <MessagePage
      code="404"
      title={t('This model is not in the catalogue')}
      action={
        <Button color="gray" component={Link} to={paths.models()}>
          {t('All models')}
        </Button>
      }
    >
      {t('Its address may have changed, or the operator of this platform no longer lists it.')}
    </MessagePage>
  );
}
