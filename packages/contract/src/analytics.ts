import { z } from 'zod';
import { call } from './call.ts';
import { SuccessResponse } from './page.ts';
import { text } from './text.ts';

const noProperties = z.strictObject({});

/** Every event with its properties. The list is complete, including events of screens that do not exist yet. */
export const ANALYTICS_EVENTS = {
  user_first_visit: z.strictObject({ timestamp: z.iso.datetime() }),
  sign_up_button_clicked: noProperties,
  confirmation_code_button_clicked: noProperties,
  request_demo_button_clicked: noProperties,
  create_self_hosted_next_step_clicked: noProperties,
  daemon_jwt_token_downloaded: noProperties,
  container_cloned: z.strictObject({ clone_ID: z.number().int() }),
  task_logs_page_visited: z.strictObject({ task_ID: z.number().int() }),
  deploy_button_models: noProperties,
  contact_form_send_button_models: noProperties,
  gpu_quality_selected_models: noProperties,
  run_model_clicked_models: noProperties,
  header_tab_models_clicked: noProperties,
  header_tab_cloud_clicked: noProperties,
  header_tab_docs_clicked: noProperties,
  header_tab_tutorials_clicked: noProperties,
  header_tab_logo_clicked: noProperties,
  header_tab_user_menu_clicked: noProperties,
  header_tab_profile_clicked: noProperties,
  header_tab_contact_us_clicked: noProperties,
  cloud_tab_hardware_marketplace_clicked: noProperties,
  cloud_tab_instances_clicked: noProperties,
  cloud_tab_self_hosted_clicked: noProperties,
  cloud_tab_containers_clicked: noProperties,
  frontend_docs_clicked: noProperties,
  frontend_blog_clicked: noProperties,
  frontend_partner_marketplace_clicked: noProperties,
  frontend_contact_clicked: noProperties,
} as const;

export type AnalyticsEventName = keyof typeof ANALYTICS_EVENTS;
/** Events without properties. */
export type PlainEventName = {
  [Name in AnalyticsEventName]: string extends keyof z.input<(typeof ANALYTICS_EVENTS)[Name]> ? Name : never;
}[AnalyticsEventName];
export type AnalyticsProperties<Name extends AnalyticsEventName> = z.input<(typeof ANALYTICS_EVENTS)[Name]>;

/** The properties of a person that are sent beside their identifier; none of them identifies a person. */
export const ANALYTICS_PROFILE = z.strictObject({
  language: z.string().max(20).nullable(),
  plan: z.string().max(40).nullable(),
  role: z.string().max(40).nullable(),
});
export type AnalyticsProfile = z.infer<typeof ANALYTICS_PROFILE>;

/** Host and visitor of the page that sends an event; `identifier` once the visitor is signed in. */
const Origin = z.object({
  /** Random, for idempotency: an event with the same id within a week counts once. */
  id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  /** `location.host`: decides whether, and with which key, the event is forwarded. */
  host: z.string().max(253),
  /** A random id that lives as long as the browser's tab. */
  visitor: z.string().regex(/^[a-z0-9-]{8,64}$/),
  identifier: z
    .string()
    .regex(/^\d{1,15}$/)
    .nullable()
    .default(null),
});

const NAMES = Object.keys(ANALYTICS_EVENTS) as [AnalyticsEventName, ...AnalyticsEventName[]];

const Event = Origin.extend({
  type: z.literal('event'),
  name: z.enum(NAMES),
  properties: z.record(z.string().max(40), z.union([z.string().max(200), z.number(), z.boolean()])).default({}),
}).superRefine(({ name, properties }, ctx) => {
  if (!ANALYTICS_EVENTS[name].safeParse(properties).success)
    ctx.addIssue({ code: 'custom', path: ['properties'], message: text('The request is not valid') });
});

const Profile = Origin.extend({ type: z.literal('profile'), properties: ANALYTICS_PROFILE });

export const AnalyticsInput = z.discriminatedUnion('type', [Event, Profile]);
export type AnalyticsInput = z.output<typeof AnalyticsInput>;

export const analytics = {
  event: call({
    path: 'analytics/event',
    summary: 'Records an event or the profile of a visitor; stored only for hosts with analytics.',
    auth: 'public',
    bodyLimit: 4 * 1024,
    input: AnalyticsInput,
    output: SuccessResponse,
  }),
};
