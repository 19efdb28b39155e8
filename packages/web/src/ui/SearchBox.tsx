import { CloseButton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { TextInput } from './form/TextInput.tsx';

export interface SearchBoxProps {
  value: string;
  /** Gets the trimmed text, shortly after typing stops. */
  onChange(value: string): void;
  placeholder?: string;
  /** What is searched, where the placeholder has no room to say it. */
  label?: string;
  width?: number | string;
  error?: ReactNode;
}

const SEARCH_DELAY_MS = 250;

/** Search over a list. The shell’s `/` brings the cursor here: it looks for the page’s search field. */
export function SearchBox({ value, onChange, placeholder, label = placeholder, width = 260, error }: SearchBoxProps) {
  const t = useT();
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const input = useRef<HTMLInputElement>(null);
  const send = useDebouncedCallback((text: string) => {
    sent.current = text;
    onChange(text);
  }, SEARCH_DELAY_MS);

  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setTyped(value);
    }
  }, [value]);

  function change(text: string): void {
    setTyped(text);
    send(text.trim());
  }

  return (
    <TextInput
      ref={input}
      type="search"
      w={{ base: '100%', sm: width }}
      aria-label={label ?? t('Search')}
      placeholder={placeholder ?? t('Search')}
      value={typed}
      error={error}
      onChange={(event) => change(event.currentTarget.value)}
      leftSection={<IconSearch size={16} />}
      rightSection={
        typed === '' ? null : (
          <CloseButton
            size="sm"
            aria-label={t('Clear')}
            onClick={() => {
              change('');
              input.current?.focus();
            }}
          />
        )
      }
      rightSectionPointerEvents="auto"
    />
  );
}
