import { IconFileZip } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { ActionButton } from '../ui/actions.tsx';
import type { ObjectSource } from './objectSource.ts';
import { downloadFolder, downloadVerdict } from './openDownload.ts';
import type { useFolder } from './useFolder.ts';

interface Props {
  source: ObjectSource;
  folder: string;
  search: string;
  list: ReturnType<typeof useFolder>;
}

/** The folder that is shown, with all that is below it. Not while names are searched: it would hold more than is listed. */
export function DownloadAll({ source, folder, search, list }: Props) {
  const t = useT();
  const [isAsking, setAsking] = useState(false);
  if (search !== '' || !list.rows?.length) return null;
  return (
    <ActionButton
      icon={<IconFileZip size={16} />}
      verdict={downloadVerdict(source, null)}
      loading={isAsking}
      testId="download-all"
      onClick={() => {
        setAsking(true);
        // The client has shown a refusal already.
        void downloadFolder(source, folder).finally(() => setAsking(false));
      }}
    >
      {t('Download all')}
    </ActionButton>
  );
}
