import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useT } from '../i18n/i18n.ts';

interface Props {
  value: string;
  /** Gets the trimmed text, shortly after typing stops. */
  onChange(value: string): void;
  placeholder?: string;
  width?: number | string;
}

/** Search over a list. `/` brings the cursor here. */
export function SearchBox({ value, onChange, placeholder, width = 260 }: Props) {
  const t = useT();
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const input = useRef<HTMLInputElement>(null);
  const send = useDebouncedCallback((text: string) => {
    sent.current = text;
    onChange(text);
  }, 250);

  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setTyped(value);
    }
  }, [value]);

  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    window.addEventListener('keydown', focus);
    return () => window.removeEventListener('keydown', focus);
  }, []);

  function change(text: string): void {
    setTyped(text);
    send(text.trim());
  }

  return (
    <TextInput
      ref={input}
      type="search"
      w={{ base: '100%', sm: width }}
      aria-label={placeholder ?? t('Search')}
      placeholder={placeholder ?? t('Search')}
      value={typed}
      onChange={(event) => change(event.currentTarget.value)}
      leftSection={<IconSearch size={16} />}
      rightSection={typed === '' ? null : <CloseButton size="sm" aria-label={t('Clear')} onClick={() => change('')} />}
    />
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
