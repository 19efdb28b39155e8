import { api } from '@stagi/contract/api.ts';
import type { PublicOffer } from '@stagi/contract/publicOffers.ts';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useDeferredValue } from 'react';
import { Link } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { useOffersSignUp } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import classes from './LivePrices.module.css';
import { RowSkeletons } from './RowSkeletons.tsx';
import { readPublic } from './readPublic.ts';

// Loaded beside the prices that they show.
const OfferRows = lazyComponent(async () => (await import('./OfferRows.tsx')).OfferRows);
const ModelsByGpu = lazyComponent(async () => (await import('./ModelsByGpu.tsx')).ModelsByGpu);

const REFETCH_MS = 60_000;
const REFETCH_PREPARING_MS = 5_000;
/** As many rows as there is room for beside the models. */
const BESIDE_MODELS = 3;

/** What servers cost here now; where none has a GPU, also which models fit which GPU. */
export function LivePrices() {
  const t = useT();
  const query = useQuery({
    queryKey: [api.publicOffers.list.path, {}],
    queryFn: ({ signal }) => readPublic<typeof api.publicOffers.list>(api.publicOffers.list, {}, signal),
    meta: { quiet: true },
    refetchInterval: ({ state }) => (state.data?.preparing ? REFETCH_PREPARING_MS : REFETCH_MS),
  });
  const { error, refetch, isFetching } = query;
  // Rendered in slices: an answer must not delay a press on a page that has just become usable.
  const data = useDeferredValue(query.data);
  const offers = data?.entities;
  const offersSignUp = useOffersSignUp();
  const enter = offersSignUp ? paths.signUp : paths.signIn;
  const hasGpu = offers?.some(({ gpu }) => gpu) ?? false;
  return (
    <section className={classes.panel} aria-labelledby="prices" aria-busy={!data && !error}>
      <header className={classes.head}>
        <h2 id="prices">{t('Servers to rent here now')}</h2>
        {hasGpu && <span className={classes.note}>{t('Cheapest of each kind')}</span>}
      </header>
      <div className={classes.body}>{body()}</div>
      <footer className={classes.foot}>
        <Link to={enter(paths.marketplace())}>{offersSignUp ? t('Sign up to rent') : t('Log in to rent')}</Link>
        <Link to={enter(paths.joinServer())}>{t('Attach your own server')}</Link>
      </footer>
    </section>
  );

  function body() {
    if (offers === undefined && error)
      return (
        <div className={classes.state} role="alert">
          <p>{t('The prices could not be loaded')}</p>
          <p className="muted">{errorText(error)}</p>
          <Button color="gray" onClick={() => refetch()} loading={isFetching}>
            {t('Try again')}
          </Button>
        </div>
      );
    if (offers === undefined) return <RowSkeletons rows={8} />;
    return (
      <Suspense fallback={<RowSkeletons rows={8} />}>
        {hasGpu ? <OfferRows offers={offers} /> : withoutGpu(offers)}
        {!hasGpu && <ModelsByGpu />}
      </Suspense>
    );
  }

  function withoutGpu(cpuOnly: readonly PublicOffer[]) {
    if (cpuOnly.length > 0) return <OfferRows offers={cpuOnly.slice(0, BESIDE_MODELS)} />;
    return (
      <p className={classes.none}>
        {data?.preparing
          ? t('The first offers are being prepared. They appear here by themselves.')
          : t('No server can be rented here at the moment. You can attach your own.')}
      </p>
    );
  }
}
