import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { TextInput } from '../ui/form/TextInput.tsx';

const DELAY_MS = 250;

/** Names of the folder that begin with what is typed. A space at its end counts: keys may have one. */
export function PrefixSearch({ value, onChange }: { value: string; onChange(value: string): void }) {
  const t = useT();
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const send = useDebouncedCallback((text: string) => {
    sent.current = text;
    onChange(text);
  }, DELAY_MS);

  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);

  return (
    <TextInput
      type="search"
      w={{ base: '100%', sm: 260 }}
      aria-label={t('Names that begin with')}
      placeholder={t('Names that begin with')}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        send(currentTarget.value);
      }}
      leftSection={<IconSearch size={16} />}
    />
  );
}
