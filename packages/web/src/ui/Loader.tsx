import { useT } from '../i18n/i18n.ts';
import type { LOADER_SIZES } from './kitConstants.ts';
import classes from './Loader.module.css';

interface Props {
  size?: (typeof LOADER_SIZES)[number];
  /** What is awaited, for screen readers; 'Loading' when left out. */
  label?: string;
  /** In the colour of the text around it. */
  inherit?: boolean;
}

/** An indeterminate progress indicator. */
export function Loader({ size = 's', label, inherit = false }: Props) {
  const t = useT();
  return (
    <span className={classes.loader} data-size={size} data-inherit={inherit || undefined} role="status">
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.5" />
        <path d="M8 1.5A6.5 6.5 0 0 1 14.5 8" />
      </svg>
      <span className="visually-hidden">{label ?? t('Loading')}</span>
    </span>
  );
}
