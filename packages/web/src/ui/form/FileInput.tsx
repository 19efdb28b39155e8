import { ActionIcon } from '@mantine/core';
import { sizeOfBase64 } from '@stagi/contract/uploadLimits.ts';
import { IconPhotoPlus, IconX } from '@tabler/icons-react';
import { type DragEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { formatBytes } from '../format.ts';
import { FILE_ACCEPT, FILE_FIELD_NAME, FILE_MAX_COUNT, FILE_MAX_SIZE } from '../kitConstants.ts';
import classes from './FileInput.module.css';
import { Refusals } from './FileRefusals.tsx';
import { FormItem } from './FormItem.tsx';
import { nameOfPasted, type Picked, pickFiles, readFile, type UploadedFile } from './uploadedFile.ts';

interface Props {
  label: string;
  value: readonly UploadedFile[];
  onChange(files: UploadedFile[]): void;
  optional?: boolean;
  description?: ReactNode;
  error?: ReactNode;
  /** Name of the field, also for the errors of the form. */
  name?: string;
  placeholder?: string;
  /** MIME types. */
  accept?: readonly string[];
  /** In megabytes, each. */
  maxSize?: number;
  maxFiles?: number;
  disabled?: boolean;
}

/** Pictures or other files: chosen, dropped here, or pasted anywhere in the form. */
export function FileInput(props: Props) {
  const {
    value,
    onChange,
    name = FILE_FIELD_NAME,
    accept = FILE_ACCEPT,
    maxSize = FILE_MAX_SIZE,
    maxFiles = FILE_MAX_COUNT,
    disabled = false,
    placeholder,
    ...item
  } = props;
  const t = useT();
  const [refused, setRefused] = useState<Picked | null>(null);
  const [unreadable, setUnreadable] = useState<string[]>([]);
  const [over, setOver] = useState(false);
  const zone = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  /** The current list: it may have changed while files were read. */
  const latest = useRef(value);
  latest.current = value;
  const isFull = value.length >= maxFiles;

  useRevokedPreviews(value);
  usePaste(zone, disabled ? null : (files) => void add(files.map((file) => nameOfPasted(file, latest.current))));

  async function add(files: readonly File[]): Promise<void> {
    const picked = pickFiles(files, latest.current, { accept, maxSize, maxFiles });
    setRefused(picked);
    const read = await Promise.allSettled(picked.taken.map(readFile));
    const whole = read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    setUnreadable(picked.taken.filter((_, index) => read[index]?.status === 'rejected').map((file) => file.name));
    const listed = new Set(latest.current.map(({ fileName }) => fileName));
    const added = whole.filter(({ fileName }) => !listed.has(fileName)).slice(0, maxFiles - latest.current.length);
    for (const file of whole) if (!added.includes(file)) URL.revokeObjectURL(file.preview);
    if (added.length > 0) onChange([...latest.current, ...added]);
  }

  function remove(fileName: string): void {
    setRefused(null);
    onChange(value.filter((file) => file.fileName !== fileName));
    // The button goes away with its file; the cursor stays in the control.
    input.current?.focus();
  }

  const drag = (event: DragEvent, isOver: boolean) => {
    if (disabled || !event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setOver(isOver);
  };

  return (
    <FormItem {...item} name={name}>
      {(attributes) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the input serves the keyboard
        <div
          ref={zone}
          className={classes.zone}
          data-over={over || undefined}
          data-invalid={attributes['aria-invalid']}
          onDragEnter={(event) => drag(event, true)}
          onDragOver={(event) => drag(event, true)}
          onDragLeave={(event) => {
            if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
          }}
          onDrop={(event) => {
            drag(event, false);
            if (!disabled) void add([...event.dataTransfer.files]);
          }}
        >
          <label className={classes.prompt} data-disabled={disabled || isFull || undefined}>
            <input
              {...attributes}
              ref={input}
              type="file"
              name={name}
              className="visually-hidden"
              accept={accept.join(',')}
              multiple={maxFiles > 1}
              disabled={disabled}
              onClick={(event) => {
                if (isFull) event.preventDefault();
              }}
              onChange={(event) => {
                const files = [...(event.currentTarget.files ?? [])];
                // The same file can be chosen again after it was removed.
                event.currentTarget.value = '';
                void add(files);
              }}
            />
            <IconPhotoPlus size={18} aria-hidden />
            <span>{placeholder ?? t('Add your files here')}</span>
            {Number.isFinite(maxFiles) && (
              <span className={classes.count}>{t('{{used}} of {{max}}', { used: value.length, max: maxFiles })}</span>
            )}
          </label>
          {value.length > 0 && (
            <ul className={classes.files}>
              {value.map((file) => (
                <li key={file.fileName} className={classes.file}>
                  <img src={file.preview} alt="" className={classes.preview} />
                  <span className={classes.name} title={file.fileName}>
                    {file.fileName}
                  </span>
                  <span className={classes.size}>{formatBytes(sizeOfBase64(file.contentBase64))}</span>
                  <ActionIcon
                    size={28}
                    aria-label={t('Remove {{name}}', { name: file.fileName })}
                    disabled={disabled}
                    onClick={() => remove(file.fileName)}
                  >
                    <IconX size={16} />
                  </ActionIcon>
                </li>
              ))}
            </ul>
          )}
          <Refusals picked={refused} unreadable={unreadable} rules={{ accept, maxSize, maxFiles }} />
        </div>
      )}
    </FormItem>
  );
}

/** A preview holds its file in memory until it is revoked: with its removal, or with the control. */
function useRevokedPreviews(value: readonly UploadedFile[]): void {
  const shown = useRef<readonly string[]>([]);
  useEffect(() => {
    const now = value.map(({ preview }) => preview);
    for (const preview of shown.current) if (!now.includes(preview)) URL.revokeObjectURL(preview);
    shown.current = now;
  }, [value]);
  useEffect(
    () => () => {
      for (const preview of shown.current) URL.revokeObjectURL(preview);
    },
    [],
  );
}

/** Takes files that are pasted with the cursor anywhere in the form or dialog; pasted text goes where it always went. */
function usePaste(zone: React.RefObject<HTMLElement | null>, take: ((files: File[]) => void) | null): void {
  const paste = useEffectEvent((event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0 || !take) return;
    event.preventDefault();
    take(files);
  });
  useEffect(() => {
    const place = zone.current?.closest<HTMLElement>('form, [role="dialog"]') ?? zone.current;
    place?.addEventListener('paste', paste);
    return () => place?.removeEventListener('paste', paste);
  }, [zone]);
}
