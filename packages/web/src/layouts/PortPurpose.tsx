import { useSearchParams } from 'react-router';
import { portOfReturn } from '../access/containerPort.ts';
import { useT } from '../i18n/i18n.ts';
import classes from './layouts.module.css';

/** Tells a visitor of a container's private port what they sign in for; nothing where they came by themselves. */
export function PortPurpose() {
  const t = useT();
  const [params] = useSearchParams();
  const port = portOfReturn(params.get('returnUrl'));
  return (
    port && (
      <p className={classes.purpose} data-testid="port-purpose">
        {t('You are opening port {{port}} of the container “{{slug}}”.', { ...port })}
      </p>
    )
  );
}
