import { PLAN_LIMITS, type PlanLimits } from '@stagi/contract/planLimits.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { currentLanguage, useT } from '../../i18n/i18n.ts';
import classes from './Plans.module.css';

const PLANS = Object.keys(PLAN_LIMITS) as Plan[];

/** What each plan allows. The server keeps to the same limits. */
export function Plans() {
  const t = useT();
  const limits: { of: keyof PlanLimits; label: string; show?(value: number): string }[] = [
    { of: 'members', label: t('Members of a workspace') },
    { of: 'gpuServers', label: t('Rented GPU servers at a time') },
    { of: 'cpuOnlyServers', label: t('Rented servers without a GPU at a time') },
    { of: 'ownServers', label: t('Own servers') },
    { of: 'projects', label: t('Projects') },
    {
      of: 'storageGb',
      label: t('Storages and repositories'),
      show: (gb) => (gb < 1_000 ? `${gb} GB` : `${gb / 1_000} TB`),
    },
    { of: 'runsPerDay', label: t('Task runs a day') },
  ];
  return (
    <section className={classes.plans} aria-labelledby="plans">
      <h2 id="plans">{t('Plans')}</h2>
      <p className={classes.intro}>
        {t(
          'A new account is on the Free plan. On every plan you pay only for the servers and storages that you rent; your own servers cost nothing.',
        )}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on phones, also by keyboard */}
      <div className={classes.frame} tabIndex={0}>
        <table className={classes.table} data-testid="home-plans">
          <thead>
            <tr>
              <td />
              {PLANS.map((plan) => (
                <th key={plan} scope="col">
                  {planName(plan)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {limits.map(({ of, label, show = String }) => (
              <tr key={of}>
                <th scope="row">{label}</th>
                {PLANS.map((plan) => {
                  const value = PLAN_LIMITS[plan][of];
                  return <td key={plan}>{value === null ? t('no limit') : show(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
  /** As `planWords.ts` has it, whose English comes with the pages of signed-in people. */
  function planName(plan: Plan): string {
    if (currentLanguage() === 'en') return plan;
    return t(plan === 'Team' ? 'Team (plan)' : plan);
  }
}
