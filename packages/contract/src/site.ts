import { z } from 'zod';
import { IDENTITY_PROVIDERS } from './identityProviders.ts';
import { LAYOUTS } from './routes.ts';

/** The sites whose mark the footer knows. */
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
/** An address of our own: nothing of a page is loaded from another host. */
const OwnAddress = z.string().regex(/^\/(?!\/)/, 'must begin with one "/"');

/** What the operator tells everybody who sees a page of this layout. */
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
 * What the operator of this host shows around the product: part of every page, and for who asks again at
 * `/configuration.json`. What is empty hides its element.
 */
export const SiteConfiguration = z.object({
  /** Changes with every build that is served. */
  version: z.string(),
  socialLinks: z.array(z.object({ site: SocialSite, url: Link })),
  issueTrackerUrl: Link.nullable(),
  supportEmail: z.email().nullable(),
  banners: z.array(Banner),
  /** Hosts on which analytics is on; `{env}` in one stands for one label. */
  analyticsHosts: z.array(z.string()),
  /** Those that one can log in with besides e-mail. */
  identityProviders: z.array(z.enum(IDENTITY_PROVIDERS)),
});
export type SiteConfiguration = z.infer<typeof SiteConfiguration>;
