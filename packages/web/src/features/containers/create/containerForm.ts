import type { UseFormReturnType } from '@mantine/form';
import type { CallForm } from '../../../api/useCallForm.ts';
import type { Values } from './formValues.ts';

/** What the parts of the form share. */
export interface ContainerFormProps {
  form: UseFormReturnType<Values>;
  field: CallForm<Values>['field'];
}
