import type { Offer } from '@stagi/contract/hardware.ts';
import { useT } from '../../i18n/i18n.ts';
import { Availability } from './Availability.tsx';
import classes from './Marketplace.module.css';
import { OfferTag } from './OfferTable.tsx';
import { diskText, gpuText, shapeText } from './offerText.ts';

/** The chosen offer, in two lines. */
export function OfferFacts({ offer }: { offer: Offer }) {
  const t = useT();
  const parts = [gpuText(offer), offer.cpu.name, diskText(offer)].filter(Boolean);
  return (
    <div className={classes.offer}>
      <div className={classes.offerHead}>
        <strong>{shapeText(t, offer)}</strong>
        <span className="muted">
          {t(offer.providerTitle)} · {offer.region}
        </span>
        {offer.simulated && <OfferTag text={t('Simulated')} title={t('Creates no real machines: for testing only')} />}
        {offer.spot && <OfferTag text={t('Spot')} title={t('The provider may reclaim it at any time')} />}
        <Availability of={offer} />
      </div>
      <div>{parts.join(' · ')}</div>
    </div>
  );
}
