import { Autocomplete } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../api/query.ts';
import type { FieldProps } from '../api/useCallForm.ts';
import { useHasPermission } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { formatBytes } from '../ui/format.ts';
import { SELECT_MAX_HEIGHT_PX } from '../ui/kitConstants.ts';
import classes from './LaunchForm.module.css';

const SHOWN = 50;

interface Props {
  server: { id: number; status: string } | undefined;
  bound: FieldProps;
  testId: string;
}

/** Any image reference. Images that the server has already are suggested, others are pulled. */
export function ImageField({ server, bound, testId }: Props) {
  const t = useT();
  const mayList = useHasPermission('INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT');
  const id = server?.status === 'online' && mayList ? server.id : null;
  const { data } = useQuery({
    ...q(api.serverImages.list, { instanceRef: { id: id ?? 0 } }, { quiet: true }),
    enabled: id !== null,
  });
  const images = new Map((data?.entities ?? []).map((image) => [image.reference, image]));
  const typed = String(bound.value ?? '').trim();
  return (
    <Autocomplete
      label={t('Image')}
      description={description()}
      placeholder="ubuntu:24.04"
      data={[...images.keys()]}
      comboboxProps={{ keepMounted: false }}
      limit={SHOWN}
      maxDropdownHeight={SELECT_MAX_HEIGHT_PX}
      spellCheck={false}
      autoCapitalize="none"
      classNames={{ input: 'mono' }}
      renderOption={({ option }) => {
        const image = images.get(option.value);
        return (
          <span className={classes.option}>
            <span className={classes.reference}>{option.value}</span>
            {image && <span className="muted">{formatBytes(image.sizeBytes)}</span>}
          </span>
        );
      }}
      data-testid={testId}
      {...bound}
    />
  );

  function description(): string {
    if (typed === '') {
      return images.size > 0
        ? t('Choose an image on the server, or enter one to pull')
        : t('Any reference, such as nginx:1.27 or ghcr.io/owner/name:tag');
    }
    if (!data) return t('Pulled if the server does not have it');
    return images.has(typed) || images.has(`${typed}:latest`)
      ? t('Already on the server: starts at once')
      : t('Not on the server yet: it will be pulled first');
  }
}
