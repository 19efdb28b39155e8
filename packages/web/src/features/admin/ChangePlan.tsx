import { Stack } from '@mantine/core';
import type { AdminClient, AdminClientView } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { PLAN_LIMITS, type PlanQuotas, QUOTA_MAX, type Quota } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { useQuery } from '@tanstack/react-query';
import { errorText } from '../../api/messages.ts';
import { invalidate, q } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useEditVersion } from '../../api/useEditVersion.ts';
import { useT } from '../../i18n/i18n.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { QUOTA_WORDS } from '../../i18n/quotaWords.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { FormItem } from '../../ui/form/FormItem.tsx';
import { NumberInput } from '../../ui/form/NumberInput.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Loader } from '../../ui/Loader.tsx';
import { OvertakenNote } from '../../ui/OvertakenNote.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './Admin.module.css';
import { PLANS } from './listInputs.ts';

interface Props {
  workspace: AdminClient | null;
  onClose(): void;
}

/** Asks for the plan of a workspace and for limits that differ from it, beside what is used now. */
export function ChangePlan({ workspace, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={workspace !== null}
      onClose={onClose}
      title={t('Plan and quotas of {{name}}', { name: workspace?.name ?? '' })}
      withClose={false}
      testId="plan-dialog"
    >
      {workspace && <Loaded id={workspace.id} onClose={onClose} />}
    </Dialog>
  );
}

function Loaded({ id, onClose }: { id: number; onClose(): void }) {
  const t = useT();
  const { data, error, refetch } = useQuery(q(api.adminClients.view, { id }, { quiet: true }));
  if (data) return <Fields workspace={data.entity} onClose={onClose} />;
  if (!error) return <Loader />;
  return <ErrorState title={t('This could not be loaded')} message={errorText(error)} onRetry={() => void refetch()} />;
}

type How = 'plan' | 'number' | 'none';
type Answers = Record<Quota, { how: How | null; most: number | string }>;

const QUOTAS = Object.keys(QUOTA_WORDS) as Quota[];

function Fields({ workspace, onClose }: { workspace: AdminClientView; onClose(): void }) {
  const t = useT();
  const edit = useEditVersion(workspace.version, () => void invalidate('admin/'));
  const { form, field, submit, loading } = useCallForm(api.adminClients.editPlan, {
    initialValues: { plan: workspace.subscriptionPlan as Plan | null, quotas: answersOf(workspace.quotas) },
    toInput: ({ plan, quotas }) => ({ id: workspace.id, plan, quotas: quotasOf(quotas), version: edit.version }),
    alsoCheck: ({ plan, quotas }) => ({
      ...(plan === null && { plan: CHOOSE }),
      ...Object.fromEntries(
        QUOTAS.flatMap((quota): [string, string][] => {
          const { how, most } = quotas[quota];
          if (how === null) return [[`quotas.${quota}.how`, CHOOSE]];
          return how === 'number' && most === '' ? [[`quotas.${quota}.most`, text('Enter a number')]] : [];
        }),
      ),
    }),
    fieldOf: (path) => (path.startsWith('quotas.') ? `${path}.most` : path),
    onRefused: edit.onRefused,
    onDone: ({ entity: { name } }) => {
      void invalidate('admin/');
      toast.success(t('The plan of {{name}} has been changed', { name }));
      onClose();
    },
  });
  const { plan, quotas } = form.values;
  return (
    <Form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <div>
          {t(
            'A plan that you set costs nothing. Nothing that is there stops; where more is there than is allowed, nothing new starts.',
          )}
        </div>
        <OvertakenNote shown={edit.isOvertaken} />
        <Select
          label={t('Plan')}
          name="plan"
          options={PLANS.map((one) => ({ value: one, label: t(PLAN_WORDS[one]) }))}
          {...field('plan')}
        />
        {QUOTAS.map((quota) => (
          <FormItem
            key={quota}
            group="group"
            label={t(QUOTA_WORDS[quota])}
            description={t('In use now: {{used}}', { used: formatNumber(workspace.use[quota], 2) })}
          >
            <div className={classes.quota} data-testid={`quota-${quota}`}>
              <Select
                aria-label={t(QUOTA_WORDS[quota])}
                name={`quotas.${quota}.how`}
                options={[
                  { value: 'plan', label: t('As in the plan: {{limit}}', { limit: limitIn(plan, quota) }) },
                  { value: 'number', label: t('Own number') },
                  { value: 'none', label: t('No limit') },
                ]}
                {...field(`quotas.${quota}.how`)}
              />
              {quotas[quota].how === 'number' && (
                <NumberInput
                  aria-label={t('Limit of {{what}}', { what: t(QUOTA_WORDS[quota]) })}
                  name={`quotas.${quota}.most`}
                  min={quota === 'members' ? 1 : 0}
                  max={QUOTA_MAX}
                  {...field(`quotas.${quota}.most`)}
                />
              )}
            </div>
          </FormItem>
        ))}
        <p className={classes.small}>
          {t(
            'On the Free plan people share their limits among their workspaces. A limit of its own counts here alone.',
          )}
        </p>
        <DialogButtons onCancel={onClose} submitLabel={t('Save')} loading={loading} testId="plan-submit" />
      </Stack>
    </Form>
  );

  function limitIn(chosen: Plan | null, quota: Quota): string {
    const limit = chosen === null ? undefined : PLAN_LIMITS[chosen][quota];
    if (limit === undefined) return '—';
    return limit === null ? t('no limit') : formatNumber(limit);
  }
}

const CHOOSE = text('Please choose an option');

function answersOf(quotas: PlanQuotas): Answers {
  return Object.fromEntries(
    QUOTAS.map((quota) => {
      const own = quotas[quota];
      return [quota, { how: own === undefined ? 'plan' : own === null ? 'none' : 'number', most: own ?? '' }];
    }),
  ) as Answers;
}

function quotasOf(answers: Answers): PlanQuotas {
  return Object.fromEntries(
    QUOTAS.flatMap((quota): [Quota, number | null][] => {
      const { how, most } = answers[quota];
      if (how === 'none') return [[quota, null]];
      return how === 'number' ? [[quota, Number(most)]] : [];
    }),
  );
}
