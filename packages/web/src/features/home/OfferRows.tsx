import type { PublicOffer } from '@stagi/contract/publicOffers.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatNumber } from '../../ui/format.ts';
import { Money } from '../../ui/Money.tsx';
import classes from './PriceRows.module.css';

/** Kinds of machine with their price. */
export function OfferRows({ offers }: { offers: readonly PublicOffer[] }) {
  const t = useT();
  return (
    <table className={classes.table} data-testid="home-offers">
      <thead>
        <tr>
          <th scope="col">{t('Server')}</th>
          <th scope="col" className={classes.wide}>
            {t('Availability')}
          </th>
          <th scope="col" className={classes.price}>
            {t('Price per hour')}
          </th>
        </tr>
      </thead>
      <tbody>
        {offers.map((offer) => (
          <tr key={keyOf(offer)}>
            <th scope="row">
              <span className={classes.machine}>{machine(offer)}</span>
              <span className={classes.below}>{details(offer)}</span>
            </th>
            <td className={classes.wide}>{available(offer)}</td>
            <td className={classes.price}>
              <Money price={offer.pricePerHour} per="hour" stacked />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );

  function machine({ gpu, cpu, ramGb }: PublicOffer): string {
    return gpu
      ? `${gpu.count} × ${gpu.name} · ${formatNumber(gpu.memoryGb)} GB`
      : t('{{cores}} cores, {{ram}} GB, no GPU', { cores: cpu.cores, ram: formatNumber(ramGb) });
  }

  function details({ gpu, cpu, ramGb, provider, region, spot }: PublicOffer): string {
    const shape = gpu && `${t('{{cores}} cores', { cores: cpu.cores })}, ${formatNumber(ramGb)} GB`;
    return [shape, `${t(provider)} ${region}`, spot && t('Spot')].filter(Boolean).join(' · ');
  }

  function available({ availability }: PublicOffer): string {
    switch (availability) {
      case 'available':
        return t('Available');
      case 'low':
        return t('Few left');
      case 'none':
        return t('None left');
      case 'unknown':
        return t('Unknown');
    }
  }
}

const keyOf = ({ gpu, cpu, ramGb }: PublicOffer): string =>
  [gpu?.name, gpu?.count, gpu?.memoryGb, cpu.cores, ramGb].join(' ');
