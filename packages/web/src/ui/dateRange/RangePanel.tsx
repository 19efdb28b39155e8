import { useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import classes from './DateRange.module.css';
import { chooseQuickLink, draftFromRange, fieldsWithError, rangeFromDraft, typeFields } from './draft.ts';
import type { FieldName } from './fields.ts';
import { ManualFields } from './ManualFields.tsx';
import { QuickLinks } from './QuickLinks.tsx';
import { RangeCalendar } from './RangeCalendar.tsx';
import { resolvedRangeLabel } from './rangeLabels.ts';
import type { DateRange } from './resolve.ts';

interface Props {
  value: DateRange | null;
  links: readonly DateRange[];
  timeZone: string;
  /** For fingers: larger days. */
  roomy: boolean;
  onApply(range: DateRange): void;
  onCancel(): void;
}

/** What the picker opens. Lives only while it is open, so that what was not applied is gone at the next opening. */
export function RangePanel({ value, links, timeZone, roomy, onApply, onCancel }: Props) {
  const t = useT();
  const [draft, setDraft] = useState(() => draftFromRange(value));
  const [left, setLeft] = useState<ReadonlySet<FieldName>>(new Set());
  const result = rangeFromDraft(draft, timeZone);
  return (
    <form
      className={classes.panel}
      data-testid="date-range-panel"
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        if (result) onApply(result);
      }}
    >
      <QuickLinks
        links={links}
        chosen={draft.quick}
        onChoose={(link) => {
          setDraft(chooseQuickLink(link));
          setLeft(new Set());
        }}
      />
      <div className={classes.manual}>
        <ManualFields
          fields={draft.fields}
          fieldsWithError={fieldsWithError(draft, left, timeZone)}
          onType={(typed) => setDraft(typeFields(draft, typed))}
          onLeave={(name) => setLeft(new Set([...left, name]))}
        />
        <RangeCalendar
          roomy={roomy}
          fields={draft.fields}
          timeZone={timeZone}
          onPick={(days) => setDraft(typeFields(draft, days))}
        />
      </div>
      <div className={classes.foot}>
        <span className={classes.bounds} aria-live="polite">
          {result && resolvedRangeLabel(result, timeZone, t)}
          <span className={classes.zone}>{t('Time zone: {{zone}}', { zone: timeZone })}</span>
        </span>
        <div className={classes.buttons}>
          <Button color="gray" onClick={onCancel}>
            {t('Cancel')}
          </Button>
          <Button type="submit" disabled={result === null} data-testid="date-range-apply">
            {t('Apply')}
          </Button>
        </div>
      </div>
    </form>
  );
}
