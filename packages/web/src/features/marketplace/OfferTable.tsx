import type { hardware, Offer } from '@stagi/contract/hardware.ts';
import { IconBuildingStore } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { ListTable } from '../../lists/ListTable.tsx';
import type { List } from '../../lists/useList.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Money } from '../../ui/Money.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import { Availability } from './Availability.tsx';
import classes from './Marketplace.module.css';
import { gpuText, shapeText } from './offerText.ts';

export function OfferTable({ offers }: { offers: List<typeof hardware.offers> }) {
  const t = useT();
  const [params] = useSearchParams();
  const preparing = offers.data?.providers.some(({ state }) => state === 'preparing') ?? false;

  function addressOf(offer: Offer): string {
    const next = new URLSearchParams(params);
    next.set('offer', offer.offerId);
    return `?${next}`;
  }

  return (
    <ListTable
      list={offers}
      label={t('Offers')}
      name="offers"
      rowTestId="offer-row"
      columns={columns()}
      rowKey={(offer) => offer.offerId}
      rowLink={(offer, cell) => (
        <Link to={addressOf(offer)} preventScrollReset aria-haspopup="dialog">
          {cell}
        </Link>
      )}
      rowActions={(offer) => (
        <Button color="gray" component={Link} to={addressOf(offer)} preventScrollReset size="xs" aria-haspopup="dialog">
          {t('Rent')}
        </Button>
      )}
      noMatches={{
        title: t('No offer matches'),
        text: t('Ask for fewer cores or less memory, or look at all offers.'),
      }}
      empty={{
        icon: <IconBuildingStore size={20} />,
        title: preparing ? t('Loading the first offers') : t('There is nothing to rent at the moment'),
        text: preparing
          ? t('They appear here as soon as the machine image is ready.')
          : t('You can run containers on servers of your own meanwhile.'),
        action: (
          <Button color="gray" component={Link} to={paths.selfInstances()}>
            {t('Attach a server of your own')}
          </Button>
        ),
      }}
    />
  );

  function columns(): Column<Offer>[] {
    return [
      {
        key: 'server',
        title: t('Server'),
        sortBy: 'cores',
        cell: (offer) => (
          <span className={classes.server}>
            <span title={offer.cpu.name}>{shapeText(t, offer)}</span>
            <span className={classes.provider}>
              {t(offer.providerTitle)} · {offer.region}
            </span>
            {offer.simulated && (
              <OfferTag text={t('Simulated')} title={t('Creates no real machines: for testing only')} />
            )}
            {offer.spot && <OfferTag text={t('Spot')} title={t('The provider may reclaim it at any time')} />}
          </span>
        ),
      },
      {
        key: 'gpu',
        title: t('GPU'),
        sortBy: 'gpu',
        cell: (offer) => gpuText(offer) ?? <span className="muted">{t('none')}</span>,
      },
      {
        key: 'ram',
        title: t('RAM'),
        sortBy: 'ram',
        align: 'right',
        extra: true,
        cell: (offer) => <span className="mono">{formatNumber(offer.ramGb)} GB</span>,
      },
      {
        key: 'disk',
        title: t('Disk'),
        align: 'right',
        cell: ({ disk }) => (
          <span className={classes.disk}>
            <span className="mono">{formatNumber(disk.sizeGb, 0)} GB</span>
            <span className={classes.region}>{disk.type}</span>
          </span>
        ),
      },
      { key: 'availability', title: t('Availability'), cell: (offer) => <Availability of={offer} /> },
      {
        key: 'price',
        title: t('Price per hour'),
        sortBy: 'price',
        align: 'right',
        card: 'foot',
        cell: (offer) => <Money price={offer.pricePerHour} per="hour" stacked />,
      },
    ];
  }
}

export function OfferTag({ text, title }: { text: string; title: string }) {
  return (
    <span className={classes.tag} title={title}>
      {text}
    </span>
  );
}
