import { Link } from 'react-router';
import { track } from '../api/analytics.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button, type ButtonProps } from '../ui/Button.tsx';

/** Leads to the contact form, with a demo as its topic. */
export function RequestDemoButton(props: Pick<ButtonProps, 'color' | 'look' | 'size' | 'fullWidth'>) {
  const t = useT();
  return (
    <Button
      color="gray"
      {...props}
      component={Link}
      to={paths.requestDemo()}
      data-testid="request-demo"
      onClick={() => track('request_demo_button_clicked')}
    >
      {t('Request a demo')}
    </Button>
  );
}
