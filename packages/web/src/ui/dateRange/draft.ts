import { checkFields, type FieldName, NO_FIELDS, type RangeFields } from './fields.ts';
import { type DateRange, rangeFromFields } from './resolve.ts';

/** What is chosen in the open picker and not applied yet: a quick link or typed fields, never both. */
export interface Draft {
  quick: DateRange | null;
  fields: RangeFields;
}

export function draftFromRange(value: DateRange | null): Draft {
  if (value?.unit !== 'range') return { quick: value, fields: NO_FIELDS };
  const { startDate, startTime, endDate, endTime } = value;
  return { quick: null, fields: { startDate, startTime, endDate, endTime } };
}

/** Choosing a quick link clears the manual fields. */
export function chooseQuickLink(quick: DateRange): Draft {
  return { quick, fields: NO_FIELDS };
}

/** Typing in the manual fields clears the quick link. */
export function typeFields(draft: Draft, typed: Partial<RangeFields>): Draft {
  return { quick: null, fields: { ...draft.fields, ...typed } };
}

/** What Apply would give; null while Apply is disabled: nothing chosen, or fields that are invalid or incomplete. */
export function rangeFromDraft({ quick, fields }: Draft, timeZone: string): DateRange | null {
  const verdict = checkFields(fields, timeZone);
  if (verdict.is === 'empty') return quick;
  return verdict.is === 'valid' ? rangeFromFields(fields) : null;
}

/** The fields that show an error: wrong ones that are typed to their end or were left. */
export function fieldsWithError(draft: Draft, left: ReadonlySet<FieldName>, timeZone: string): ReadonlySet<FieldName> {
  const verdict = checkFields(draft.fields, timeZone);
  if (verdict.is !== 'wrong') return new Set();
  const complete = (name: FieldName) => draft.fields[name].length === (name.endsWith('Date') ? 10 : 5);
  return new Set([...verdict.fields].filter((name) => left.has(name) || complete(name)));
}
