import { isPlainLine } from '@stagi/contract/plainText.ts';
import { returnUrlEntryProblem } from '@stagi/contract/returnUrl.ts';
import { Banner, type SiteConfiguration, SocialSite } from '@stagi/contract/site.ts';
import { z } from 'zod';
import type { AppsDomain } from './appsDomain.ts';
import { ConfigError } from './configError.ts';
import { configuredProviders, type IdentityProviders } from './identityProviders.ts';
import type { SignUp } from './signUp.ts';

/** The API key that a host's events are forwarded with; `{env}` in the host stands for one label. */
const AnalyticsHost = z.strictObject({ host: z.string().min(1), key: z.string().min(1) });
export type AnalyticsHost = z.infer<typeof AnalyticsHost>;

/** The operator's links, name, banners, return addresses and analytics: the variables of the README's table. */
export interface Site
  extends Omit<SiteConfiguration, 'version' | 'analyticsHosts' | 'identityProviders' | 'appsOrigin' | 'signUp'> {
  analytics: readonly AnalyticsHost[];
  /** The address that stored events are forwarded to. */
  analyticsUrl: string | null;
}

type Environment = Record<string, string | undefined>;

const Url = z.url({ protocol: /^https?$/ });
const OPERATOR_NAME_MAX = 200;
const OPERATOR_ADDRESS_MAX = 500;
const OperatorName = z.string().trim().min(1).max(OPERATOR_NAME_MAX).refine(isPlainLine);
const OperatorAddress = z
  .string()
  .trim()
  .min(1)
  .max(OPERATOR_ADDRESS_MAX)
  .refine((address) => address.split('\n').every(isPlainLine));

export function readSite(env: Environment): Site {
  const analytics = list(env, 'ANALYTICS_HOSTS', AnalyticsHost);
  const analyticsUrl = one(env, 'ANALYTICS_URL', Url, 'an address like https://analytics.example/2/httpapi');
  if (analytics.length > 0 && !analyticsUrl)
    throw new ConfigError('ANALYTICS_URL', 'must say where events of ANALYTICS_HOSTS go');
  return {
    socialLinks: socialLinks(env),
    issueTrackerUrl: one(env, 'ISSUE_TRACKER_URL', Url, 'an address like https://example.com/issues'),
    supportEmail: one(env, 'SUPPORT_EMAIL', z.email(), 'an e-mail address'),
    docsUrl: one(env, 'DOCS_URL', Url, 'an address like https://docs.example.com'),
    tutorialsUrl: one(env, 'TUTORIALS_URL', Url, 'an address like https://tutorials.example.com'),
    partnerMarketplaceUrl: one(env, 'PARTNER_MARKETPLACE_URL', Url, 'an address like https://partner.example/gpus'),
    operator: {
      name: one(env, 'OPERATOR_NAME', OperatorName, `one line of at most ${OPERATOR_NAME_MAX} characters`),
      address: one(env, 'OPERATOR_ADDRESS', OperatorAddress, `at most ${OPERATOR_ADDRESS_MAX} plain characters`),
      date: one(env, 'LEGAL_DATE', z.iso.date(), 'a date like 2026-01-31'),
    },
    banners: list(env, 'BANNERS', Banner),
    returnUrlAllowList: returnUrlAllowList(env),
    analytics,
    analyticsUrl,
  };
}

/** The public part, which pages get. */
export function publicSite({
  site: { analytics, analyticsUrl: _, ...shown },
  identityProviders,
  signUp,
  appsDomain,
  devMail,
  isOfThisMachine,
}: {
  site: Site;
  identityProviders: IdentityProviders;
  signUp: SignUp;
  appsDomain: AppsDomain | null;
  devMail?: boolean;
  isOfThisMachine?: boolean;
}): Omit<SiteConfiguration, 'version'> {
  return {
    ...shown,
    analyticsHosts: analytics.map(({ host }) => host),
    identityProviders: configuredProviders(identityProviders),
    ...(identityProviders.openId.length > 0 && {
      openIdProviders: identityProviders.openId.map(({ id, name }) => ({ id, name })),
    }),
    ...(identityProviders.isPasswordOff && { isPasswordOff: true }),
    appsOrigin: appsDomain && `${appsDomain.protocol}//${appsDomain.host}`,
    ...(devMail && !isOfThisMachine ? { isOutboxPublic: true } : {}),
    ...(signUp.rule !== 'open' && { signUp: { rule: signUp.rule, domains: [...signUp.domains] } }),
    ...(!signUp.isPhoneRequired && { isPhoneOptional: true }),
  };
}

function socialLinks(env: Environment): Site['socialLinks'] {
  const text = env.SOCIAL_LINKS;
  if (!text) return [];
  return text.split(',').map((entry) => {
    const [name = '', ...rest] = entry.trim().split('=');
    const site = SocialSite.safeParse(name);
    const url = Url.safeParse(rest.join('='));
    if (!site.success) throw new ConfigError('SOCIAL_LINKS', `knows ${SocialSite.options.join(', ')}, not "${name}"`);
    if (!url.success)
      throw new ConfigError('SOCIAL_LINKS', `must be like github=https://github.com/you, not "${entry}"`);
    return { site: site.data, url: url.data };
  });
}

function returnUrlAllowList(env: Environment): string[] {
  const entries = (env.RETURN_URL_ALLOW_LIST ?? '').split(',').map((entry) => entry.trim());
  for (const entry of entries.filter(Boolean)) {
    const problem = returnUrlEntryProblem(entry);
    if (problem) throw new ConfigError('RETURN_URL_ALLOW_LIST', `cannot hold "${entry}": it ${problem}`);
  }
  return entries.filter(Boolean);
}

function one(env: Environment, name: string, shape: z.ZodType<string>, wanted: string): string | null {
  const text = env[name];
  if (!text) return null;
  const read = shape.safeParse(text);
  if (!read.success) throw new ConfigError(name, `must be ${wanted}, not "${text}"`);
  return read.data;
}

function list<Shape extends z.ZodType>(env: Environment, name: string, shape: Shape): z.output<Shape>[] {
  const text = env[name];
  if (!text) return [];
  const read = z.array(shape).safeParse(json(name, text));
  if (!read.success) throw new ConfigError(name, `cannot be used: ${z.prettifyError(read.error)}`);
  return read.data;
}

function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConfigError(name, `must be a JSON list (${(cause as Error).message})`);
  }
}
