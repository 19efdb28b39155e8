import type { Price } from '@stagi/contract/price.ts';
import { useT } from '../../i18n/i18n.ts';
import { type Fact, FactList } from '../../ui/FactList.tsx';
import { Money } from '../../ui/Money.tsx';
import { priceOfSize } from './storagePrice.ts';

interface Props {
  pricePerGbMonth: Price;
  sizeGb: number;
  /** Below the prices. */
  more?: readonly Fact[];
}

/** What a size costs, before it is ordered. */
export function SizePriceFacts({ pricePerGbMonth, sizeGb, more = [] }: Props) {
  const t = useT();
  const { month, day, hour } = priceOfSize(pricePerGbMonth, sizeGb);
  return (
    <FactList
      title={t('Summary')}
      facts={[
        { label: t('Price per month'), value: <Money price={month} per="month" /> },
        { label: t('Price per hour'), value: <Money price={hour} per="hour" /> },
        { label: t('About a day'), value: <Money price={day} /> },
        ...more,
      ]}
    />
  );
}
