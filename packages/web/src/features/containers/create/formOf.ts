import type { UseFormReturnType } from '@mantine/form';
import type { CallForm } from '../../../api/useCallForm.ts';
import type { Values } from './values.ts';

/** What the parts of the form share. */
export interface FormOf {
  form: UseFormReturnType<Values>;
  field: CallForm<Values>['field'];
}
