import { ROUTES } from '@stagi/contract/routes.ts';
import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { text } from '@stagi/contract/text.ts';
import { useSite } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { Tag } from '../../ui/Tag.tsx';
import classes from './SitePage.module.css';

interface Setting {
  variable: string;
  /** Empty: not set. */
  values(site: SiteConfiguration): readonly string[];
  /** What is missing or different without it. */
  without: string;
}

const one = (value: string | null) => (value === null ? [] : [value]);

const SETTINGS: readonly Setting[] = [
  {
    variable: 'OPERATOR_NAME',
    values: ({ operator }) => one(operator.name),
    without: text('The legal pages do not say who runs this platform.'),
  },
  {
    variable: 'OPERATOR_ADDRESS',
    values: ({ operator }) => one(operator.address),
    without: text('The legal pages name no postal address.'),
  },
  {
    variable: 'LEGAL_DATE',
    values: ({ operator }) => one(operator.date),
    without: text('The legal pages do not say since when they apply.'),
  },
  {
    variable: 'SUPPORT_EMAIL',
    values: ({ supportEmail }) => one(supportEmail),
    without: text(
      'Footer and contact page show no address. Contact requests are not mailed; they are in this section.',
    ),
  },
  {
    variable: 'ISSUE_TRACKER_URL',
    values: ({ issueTrackerUrl }) => one(issueTrackerUrl),
    without: text('“Report an issue” is hidden in the footer, on the contact page and in the feedback menu.'),
  },
  {
    variable: 'SOCIAL_LINKS',
    values: ({ socialLinks }) => socialLinks.map(({ site, url }) => `${site}=${url}`),
    without: text('The footer has no “Socials”.'),
  },
  {
    variable: 'DOCS_URL',
    values: ({ docsUrl }) => one(docsUrl),
    without: text('“Docs” leads to the pages of this host.'),
  },
  {
    variable: 'TUTORIALS_URL',
    values: ({ tutorialsUrl }) => one(tutorialsUrl),
    without: text('“Tutorials” leads to the pages of this host.'),
  },
  {
    variable: 'PARTNER_MARKETPLACE_URL',
    values: ({ partnerMarketplaceUrl }) => one(partnerMarketplaceUrl),
    without: text('Menu and footer have no “Partner marketplace”.'),
  },
  {
    variable: 'BANNERS',
    values: ({ banners }) => banners.map(({ layout, title }) => `${layout}: ${title}`),
    without: text('No page shows a banner.'),
  },
  {
    variable: 'SIGN_UP',
    values: ({ signUp }) =>
      signUp ? [signUp.domains.length > 0 ? `domain:${signUp.domains.join(',')}` : signUp.rule] : [],
    without: text('Everybody may sign up.'),
  },
  {
    variable: 'SIGN_UP_PHONE',
    values: ({ isPhoneOptional }) => (isPhoneOptional ? ['optional'] : []),
    without: text('The form after the first login requires a phone number.'),
  },
  {
    variable: 'GOOGLE_CLIENT_ID',
    values: ({ identityProviders }) => identityProviders.filter((provider) => provider === 'google'),
    without: text('“Log in with Google” is hidden.'),
  },
  {
    variable: 'GITHUB_CLIENT_ID',
    values: ({ identityProviders }) => identityProviders.filter((provider) => provider === 'github'),
    without: text('“Log in with GitHub” is hidden.'),
  },
  {
    variable: 'OPENID_PROVIDERS',
    values: ({ openIdProviders = [] }) =>
      openIdProviders.map(({ id, name }) => `${name} (${id}) → ${window.location.origin}${ROUTES.authOpenId.path}`),
    without: text('Nobody logs in with an OpenID provider of yours.'),
  },
  {
    variable: 'PASSWORD_SIGN_IN',
    values: ({ isPasswordOff }) => (isPasswordOff ? ['off'] : []),
    without: text('People log in with passwords too.'),
  },
  {
    variable: 'APPS_DOMAIN',
    values: ({ appsOrigin }) => one(appsOrigin),
    without: text('Ports of containers have no address of their own.'),
  },
  {
    variable: 'RETURN_URL_ALLOW_LIST',
    values: ({ returnUrlAllowList }) => returnUrlAllowList,
    without: text('A login returns to this host only.'),
  },
  {
    variable: 'ANALYTICS_HOSTS',
    values: ({ analyticsHosts }) => analyticsHosts,
    without: text('No event is recorded.'),
  },
];

/** What the operator has configured around the product, and what is hidden because it is not set. */
export function SitePage() {
  const t = useT();
  const site = useSite();
  const rows = SETTINGS.map((setting) => ({ ...setting, shown: setting.values(site) }));
  const unset = rows.filter(({ shown }) => shown.length === 0).length;
  return (
    <>
      <PageHeader title={t(ROUTES.adminSite.title)}>
        {t('Environment variables of the server, read when it starts. {{n}} of {{all}} are not set.', {
          n: unset,
          all: rows.length,
        })}
      </PageHeader>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('Variable')}</th>
            <th scope="col">{t('Value')}</th>
            <th scope="col">{t('Without it')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ variable, shown, without }) => (
            <tr key={variable} data-testid="setting-row">
              <th scope="row" className="mono">
                {variable}
              </th>
              <td data-label={t('Value')}>
                {shown.length === 0 ? (
                  <Tag>{t('Not set')}</Tag>
                ) : (
                  <span className={classes.value}>{shown.join('\n')}</span>
                )}
              </td>
              <td data-label={t('Without it')} className={classes.without}>
                {t(without)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
