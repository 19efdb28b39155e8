import { IconCheck } from '@tabler/icons-react';
import { useT } from '../../../i18n/i18n.ts';
import classes from './SelfHosted.module.css';

/** What a machine must have to join. */
export function Requirements() {
  const t = useT();
  const needs = [
    { what: 'Ubuntu', why: t('20.04 or newer, on x86-64') },
    { what: 'NVIDIA', why: t('a GPU with its driver') },
    { what: 'Git', why: t('any version') },
    { what: 'Docker', why: t('Docker Engine, running') },
  ];
  return (
    <section className={classes.requirements}>
      <h2>{t('The server needs')}</h2>
      <ul>
        {needs.map(({ what, why }) => (
          <li key={what}>
            <IconCheck size={14} aria-hidden="true" />
            <strong>{what}</strong> <span className="muted">{why}</span>
          </li>
        ))}
      </ul>
      <p className="muted">
        {t(
          'It also needs curl and ca-certificates, root access for one command, and outbound internet access. No ports need to be opened.',
        )}
      </p>
    </section>
  );
}
