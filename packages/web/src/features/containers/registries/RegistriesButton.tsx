import { IconKey } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { Button } from '../../../ui/Button.tsx';

const RegistriesDialog = lazyComponent(async () => (await import('./RegistriesDialog.tsx')).RegistriesDialog);

interface Props {
  label?: string;
  /** The registry whose credential is asked for. */
  host?: string;
  /** It is what to do next. */
  primary?: boolean;
}

/** Opens what servers log in to private registries with. */
export function RegistriesButton({ label, host, primary = false }: Props) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        color={primary ? undefined : 'gray'}
        size="xs"
        icon={<IconKey size={14} />}
        onClick={() => setOpened(true)}
        data-testid="registries-open"
      >
        {label ?? t('Private registries')}
      </Button>
      {opened && (
        <Suspense>
          <RegistriesDialog opened onClose={() => setOpened(false)} host={host} />
        </Suspense>
      )}
    </>
  );
}
