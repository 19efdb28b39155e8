import type { Model } from '@stagi/contract/models.ts';
import { Link, useSearchParams } from 'react-router';
import { track } from '../../../api/analytics.ts';
import { useSignedIn } from '../../../api/session.ts';
import { useOffersSignUp } from '../../../api/site.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';

/** Leads to the form, with what is chosen on the page; visitors sign up first, and come back to it. */
export function DeployButton({ model }: { model: Model }) {
  const t = useT();
  const signedIn = useSignedIn();
  const [search] = useSearchParams();
  const enter = useOffersSignUp() ? paths.signUp : paths.signIn;
  const form = paths.deployModel(model.name, search);
  return (
    <Button
      component={Link}
      to={signedIn ? form : enter(form)}
      onClick={() => track('deploy_button_models')}
      data-testid="deploy-model"
    >
      {t('Deploy')}
    </Button>
  );
}
