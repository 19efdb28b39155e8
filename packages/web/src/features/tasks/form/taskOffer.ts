import type { UseFormReturnType } from '@mantine/form';
import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import type { CallForm } from '../../../api/useCallForm.ts';
import type { Values } from './taskValues.ts';

/** What a project offers to its tasks. */
export type TaskOffer = OutputOf<typeof api.tasks.form>;

/** What the parts of the form share. */
export interface TaskFormProps {
  form: UseFormReturnType<Values>;
  field: CallForm<Values>['field'];
  offer: TaskOffer;
}

export type TaskServer = TaskOffer['instances'][number];

export const serverOf = (offer: TaskOffer, { instanceRef }: Values): TaskServer | undefined =>
  offer.instances.find(({ id }) => String(id) === instanceRef);
