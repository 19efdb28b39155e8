import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import classes from './VariantTitle.module.css';

export type Variant = 'success' | 'error' | 'warning';

const ICONS = { success: IconCircleCheck, error: IconCircleX, warning: IconAlertTriangle };

/** The title of a confirmation or a result, with a sign of its kind. */
export function VariantTitle({ variant, children }: { variant: Variant; children: string }) {
  const Icon = ICONS[variant];
  return (
    <span className={classes.title} data-variant={variant}>
      <Icon size={20} aria-hidden="true" />
      <span>{children}</span>
    </span>
  );
}
