import { api } from '@stagi/contract/api.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { formatAmount } from '../../ui/format.ts';
import { toast } from '../../ui/toasts.ts';
import classes from './Billing.module.css';

export function PromoCodeForm() {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.promoCodes.activate, {
    initialValues: { promoCode: '' },
    onDone: ({ amount }) => {
      form.reset();
      toast.success(
        t('{{amount}} {{currency}} were added to your balance', {
          amount: formatAmount(amount.decimalValue),
          currency: amount.currency,
        }),
      );
      void invalidate('billing/', 'v2/billing/');
    },
  });
  return (
    <section className={classes.promo} aria-labelledby="promo-title">
      <h2 className={classes.title} id="promo-title">
        {t('Promo code')}
      </h2>
      <p className={classes.small}>
        {t('The amount is added to the balance of this workspace. Each person can use a code once.')}
      </p>
      <Form onSubmit={submit} noValidate>
        <div className={classes.field}>
          <TextInput
            aria-label={t('Promo code')}
            name="promoCode"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            limit={40}
            data-testid="promo-code"
            {...field('promoCode')}
          />
          <Button type="submit" color="promo" loading={loading} data-testid="promo-submit">
            {t('Activate')}
          </Button>
        </div>
      </Form>
    </section>
  );
}
