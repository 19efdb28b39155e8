import { z } from 'zod';
import { IDENTITY_PROVIDERS } from './identityProviders.ts';
import { ProviderId } from './providerId.ts';
import { LAYOUTS } from './routes.ts';
import { SIGN_UP_RULES } from './signUpRules.ts';

/** The sites that have an icon in the footer. */
export const SOCIAL_SITES = [
  'discord',
  'github',
  'instagram',
  'linkedin',
  'reddit',
  'telegram',
  'x',
  'youtube',
] as const;
export const SocialSite = z.enum(SOCIAL_SITES);
export type SocialSite = z.infer<typeof SocialSite>;

const Link = z.url({ protocol: /^https?$/ });
/** A path on this host, as pages load nothing from other hosts. */
const OwnAddress = z.string().regex(/^\/(?!\/)/, 'must begin with one "/"');

/** A banner of the operator on every page of this layout. */
export const Banner = z.strictObject({
  title: z.string().min(1).max(120),
  description: z.string().max(300).default(''),
  link: z.union([Link, OwnAddress]).nullable().default(null),
  image: z
    .union([OwnAddress, z.string().regex(/^data:image\//, 'must be an image')])
    .nullable()
    .default(null),
  layout: z.enum(LAYOUTS),
});
export type Banner = z.infer<typeof Banner>;

/**
 * What the operator of this host configures around the product: part of every page, and served again at
 * `/configuration.json`. Empty values hide their element.
 */
export const SiteConfiguration = z.object({
  /** Differs for every build. */
  version: z.string(),
  socialLinks: z.array(z.object({ site: SocialSite, url: Link })),
  issueTrackerUrl: Link.nullable(),
  supportEmail: z.email().nullable(),
  /** Where the documentation is; null: at `/docs` of this host. */
  docsUrl: Link.nullable(),
  /** The same of the tutorials: `/tutorials`. */
  tutorialsUrl: Link.nullable(),
  /** A partner's marketplace of hardware, which menu and footer link to. */
  partnerMarketplaceUrl: Link.nullable(),
  /** Who runs this host, as the legal pages say. */
  operator: z.object({
    name: z.string().nullable(),
    /** May have several lines. */
    address: z.string().nullable(),
    /** The day since which the legal pages apply: `YYYY-MM-DD`. */
    date: z.iso.date().nullable(),
  }),
  banners: z.array(Banner),
  /** Hosts with analytics; `{env}` stands for one label. */
  analyticsHosts: z.array(z.string()),
  /** The ways to log in besides e-mail; those that the operator has named are in `openIdProviders`. */
  identityProviders: z.array(z.enum(IDENTITY_PROVIDERS)),
  /** The scheme and domain below which ports of containers have their addresses; null: the operator has set none up. */
  appsOrigin: z.string().nullable(),
  /** Addresses outside of this origin that a login may return to, each with all below its path. */
  returnUrlAllowList: z.array(z.string()),
  /** Every mailed code is shown to anybody, beyond this machine. */
  isOutboxPublic: z.boolean().optional(),
  /** Absent: everybody may sign up. `domains` is of the rule of that name. */
  signUp: z.object({ rule: z.enum(SIGN_UP_RULES), domains: z.array(z.string()) }).optional(),
  /** The form after the first sign-in does not insist on a phone number. */
  isPhoneOptional: z.boolean().optional(),
  /** OpenID providers of this platform, by the names that the operator gave them. */
  openIdProviders: z.array(z.object({ id: ProviderId, name: z.string() })).optional(),
  /** Nobody logs in with a password here. */
  isPasswordOff: z.boolean().optional(),
});
export type SiteConfiguration = z.infer<typeof SiteConfiguration>;
