import type { api } from '@stagi/contract/api.ts';
import { invalidate } from '../api/query.ts';
import { useCallForm } from '../api/useCallForm.ts';
import { useEditVersion } from '../api/useEditVersion.ts';
import { RenameDialog, RenameForm } from '../ui/RenameDialog.tsx';

type EditCall =
  | typeof api.instances.edit
  | typeof api.selfHosted.edit
  | typeof api.projects.edit
  | typeof api.storages.edit;

interface Titled {
  id: number;
  title: string;
  version?: string | undefined;
}

interface Props {
  edit: EditCall;
  /** Null: closed. */
  titled: Titled | null;
  /** Path prefixes of the calls that show the titled one itself. */
  shownBy: string[];
  /** Path prefixes of others that show its title. */
  namedBy?: string[];
  onClose(): void;
}

/** Renames what has a title and a Unique ID. */
export function RenameTitle({ titled, ...props }: Props) {
  return (
    <RenameDialog opened={titled !== null} onClose={props.onClose}>
      {titled && <TitleForm titled={titled} {...props} />}
    </RenameDialog>
  );
}

function TitleForm({ edit, titled, shownBy, namedBy = [], onClose }: Props & { titled: Titled }) {
  const { id, title, version } = titled;
  const edited = useEditVersion(version, () => void invalidate(...shownBy));
  const { field, submit, loading } = useCallForm<EditCall, { title: string }>(edit, {
    initialValues: { title },
    toInput: (values) => ({ id, ...values, version: edited.version }),
    onRefused: edited.onRefused,
    onDone: () => {
      void invalidate(...shownBy, ...namedBy);
      onClose();
    },
  });
  return (
    <RenameForm
      field={field('title')}
      loading={loading}
      isOvertaken={edited.isOvertaken}
      onSubmit={submit}
      onCancel={onClose}
    />
  );
}
