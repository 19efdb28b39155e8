import type { CallForm } from '../../../api/useCallForm.ts';
import type { Draft } from './draft.ts';

/** What the parts of the form share. */
export interface EntryFormProps {
  calls: CallForm<Draft>;
  /** As the release brought the entry; null: operators added it. */
  shipped: Draft | null;
}
