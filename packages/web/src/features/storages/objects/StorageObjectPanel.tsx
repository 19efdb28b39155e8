import { storageCan } from '@stagi/contract/storageRules.ts';
import type { Storage, StorageObject } from '@stagi/contract/storages.ts';
import { IconTrash } from '@tabler/icons-react';
import { useT } from '../../../i18n/i18n.ts';
import { ObjectPanel, PanelSection } from '../../../objects/ObjectPanel.tsx';
import { objectUrl } from '../../../objects/objectNames.ts';
import type { ObjectSource } from '../../../objects/objectSource.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { ObjectSnippets } from './ObjectSnippets.tsx';
import { ShareObject } from './ShareLinks.tsx';

interface Props {
  storage: Storage;
  source: ObjectSource;
  /** Null: closed. */
  objectKey: string | null;
  onClose(): void;
  onDelete(object: StorageObject): void;
}

/** An object of a storage: it can be deleted and shared too. */
export function StorageObjectPanel({ storage, source, objectKey, onClose, onDelete }: Props) {
  const t = useT();
  return (
    <ObjectPanel
      source={source}
      objectKey={objectKey}
      onClose={onClose}
      buttons={(object) => (
        <ActionButton
          tone="danger"
          icon={<IconTrash size={16} />}
          verdict={storageCan.write(storage)}
          testId="object-delete"
          onClick={() => onDelete(object)}
        >
          {t('Delete')}
        </ActionButton>
      )}
      moreFacts={({ key }) => {
        const url = objectUrl(storage.endpoint, storage.bucket, key);
        return [{ label: t('URL'), value: url, mono: true, copy: url }];
      }}
    >
      {({ key }) => (
        <>
          <PanelSection title={t('Share')}>
            <ShareObject storage={storage} objectKey={key} />
          </PanelSection>
          <PanelSection title={t('Fetch it with')}>
            <ObjectSnippets storage={storage} objectKey={key} />
          </PanelSection>
        </>
      )}
    </ObjectPanel>
  );
}
