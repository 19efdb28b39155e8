import { useT } from '../../i18n/i18n.ts';
import classes from './FileInput.module.css';
import type { Picked } from './uploadedFile.ts';

interface Props {
  picked: Picked | null;
  unreadable: readonly string[];
  rules: { accept: readonly string[]; maxSize: number; maxFiles: number };
}

/** What was left out of the files just added, and why; read out when it appears. */
export function Refusals({ picked, unreadable, rules }: Props) {
  const t = useT();
  const { accept, maxSize, maxFiles } = rules;
  const types = accept.map((type) => type.replace(/^.*\//, '').toUpperCase()).join(', ');
  const bad = [
    ...(picked?.wrongType ?? []).map((name) => ({ name, reason: t('Only {{types}} files can be added.', { types }) })),
    ...(picked?.tooLarge ?? []).map((name) => ({
      name,
      reason: t('File is too large. Max allowed size is {{size}}MB.', { size: maxSize }),
    })),
    ...unreadable.map((name) => ({ name, reason: t('The file could not be read.') })),
  ];
  const tooMany = picked !== null && picked.tooMany.length > 0;
  const listed = picked?.listed ?? [];
  return (
    <div role="status" className={classes.refusals}>
      {(bad.length > 0 || tooMany || listed.length > 0) && (
        <ul>
          {bad.map(({ name, reason }) => (
            <li key={name} data-bad>
              <span className={classes.refused}>{name}</span> <span>{reason}</span>
            </li>
          ))}
          {tooMany && (
            <li data-bad>
              {accept.every((type) => type.startsWith('image/'))
                ? t('You can upload a maximum of {{max}} images.', { max: maxFiles })
                : t('You can upload a maximum of {{max}} files.', { max: maxFiles })}
            </li>
          )}
          {listed.length > 0 && <li>{t('Already listed: {{names}}', { names: listed.join(', ') })}</li>}
        </ul>
      )}
    </div>
  );
}
