import type { Offer } from '@stagi/contract/hardware.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatNumber } from '../../ui/format.ts';
import { Availability } from './Availability.tsx';
import classes from './Marketplace.module.css';
import { OfferTag } from './OfferTable.tsx';
import { diskText, gpuText } from './offerText.ts';

/** The chosen offer, in two lines. */
export function OfferFacts({ offer }: { offer: Offer }) {
  const t = useT();
  const parts = [
    gpuText(offer),
    t('{{count}} cores', { count: offer.cpu.cores }),
    `${formatNumber(offer.ramGb)} GB ${t('RAM')}`,
    diskText(offer),
  ].filter((part) => part !== null);
  return (
    <div className={classes.offer}>
      <div className={classes.offerHead}>
        <strong>{offer.providerTitle}</strong>
        <span className="muted">{offer.region}</span>
        {offer.simulated && (
          <OfferTag text={t('Simulated')} title={t('Makes no real machines: for trying the product')} />
        )}
        {offer.spot && <OfferTag text={t('Spot')} title={t('The provider may take it back at any time')} />}
        <Availability of={offer} />
      </div>
      <div>{parts.join(' · ')}</div>
      {offer.cpu.name && <div className="muted">{offer.cpu.name}</div>}
    </div>
  );
}
