import { useState } from 'react';
import { DateRangePicker } from '../../../ui/dateRange/DateRangePicker.tsx';
import { rangeToText } from '../../../ui/dateRange/rangeText.ts';
import { type DateRange, rangeFromFields, resolveDateRange } from '../../../ui/dateRange/resolve.ts';
import { Specimen, Specimens } from '../Specimen.tsx';

const TYPED = rangeFromFields({ startDate: '29/03/2026', startTime: '', endDate: '30/03/2026', endTime: '12:30' });

/** The date-range picker in each of its states. */
export default function DatesSection() {
  return (
    <Specimens>
      <Specimen id="dates-empty" title="Nothing chosen">
        <Picker initial={null} />
      </Specimen>
      <Specimen id="dates-typed" title="Typed dates, where clocks change">
        <Picker initial={TYPED} timeZone="Europe/Berlin" />
      </Specimen>
      <Specimen id="dates-disabled" title="Disabled">
        <DateRangePicker value={TYPED} onChange={() => {}} disabled />
      </Specimen>
    </Specimens>
  );
}

function Picker({ initial, timeZone = 'UTC' }: { initial: DateRange | null; timeZone?: string }) {
  const [value, setValue] = useState(initial);
  const { start, end } = value ? resolveDateRange(value, { now: new Date(), timeZone }) : { start: null, end: null };
  return (
    <>
      <DateRangePicker label="Rented" value={value} onChange={setValue} timeZone={timeZone} clearable />
      <output className="mono" style={{ width: '100%', overflowWrap: 'anywhere' }}>
        {value ? `${rangeToText(value)} = ${start} … ${end}` : 'null'}
      </output>
    </>
  );
}
