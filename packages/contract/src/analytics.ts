import { z } from 'zod';
import { call } from './call.ts';
import { Done } from './page.ts';

const nothing = z.strictObject({});

/** Every event there is, with its properties. The list is whole; screens that do not exist yet send none of theirs. */
export const ANALYTICS_EVENTS = {
  user_first_visit: z.strictObject({ timestamp: z.iso.datetime() }),
  sign_up_button_clicked: nothing,
  confirmation_code_button_clicked: nothing,
  request_demo_button_clicked: nothing,
  create_self_hosted_next_step_clicked: nothing,
  daemon_jwt_token_downloaded: nothing,
  container_cloned: z.strictObject({ clone_ID: z.number().int() }),
  task_logs_page_visited: z.strictObject({ task_ID: z.number().int() }),
  deploy_button_models: nothing,
  contact_form_send_button_models: nothing,
  gpu_quality_selected_models: nothing,
  run_model_clicked_models: nothing,
  header_tab_models_clicked: nothing,
  header_tab_cloud_clicked: nothing,
  header_tab_docs_clicked: nothing,
  header_tab_tutorials_clicked: nothing,
  header_tab_logo_clicked: nothing,
  header_tab_user_menu_clicked: nothing,
  header_tab_profile_clicked: nothing,
  header_tab_contact_us_clicked: nothing,
  cloud_tab_hardware_marketplace_clicked: nothing,
  cloud_tab_instances_clicked: nothing,
  cloud_tab_self_hosted_clicked: nothing,
  cloud_tab_containers_clicked: nothing,
  frontend_docs_clicked: nothing,
  frontend_blog_clicked: nothing,
  frontend_partner_marketplace_clicked: nothing,
  frontend_contact_clicked: nothing,
} as const;

export type AnalyticsEventName = keyof typeof ANALYTICS_EVENTS;
/** Events without properties. */
export type PlainEventName = {
  [Name in AnalyticsEventName]: string extends keyof z.input<(typeof ANALYTICS_EVENTS)[Name]> ? Name : never;
}[AnalyticsEventName];
export type AnalyticsProperties<Name extends AnalyticsEventName> = z.input<(typeof ANALYTICS_EVENTS)[Name]>;

/** What is told of a person beside their identifier: nothing that names them. */
export const ANALYTICS_PROFILE = z.strictObject({
  language: z.string().max(20).nullable(),
  plan: z.string().max(40).nullable(),
  role: z.string().max(40).nullable(),
});
export type AnalyticsProfile = z.infer<typeof ANALYTICS_PROFILE>;

/** Host and visitor of the page that tells; `identifier` once it is known who is there. */
const Origin = z.object({
  /** Random: what is told again under the same id within a week counts once. */
  id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  /** `location.host`: decides whether and with which key the event is handed on. */
  host: z.string().max(253),
  /** A random word that lives as long as the browser's tab. */
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
    ctx.addIssue({ code: 'custom', path: ['properties'], message: 'The request is not valid' });
});

const Profile = Origin.extend({ type: z.literal('profile'), properties: ANALYTICS_PROFILE });

export const AnalyticsInput = z.discriminatedUnion('type', [Event, Profile]);
export type AnalyticsInput = z.output<typeof AnalyticsInput>;

export const analytics = {
  event: call({
    path: 'analytics/event',
    summary: 'Tells of one thing a visitor did, or who the visitor is; kept only for hosts with analytics.',
    auth: 'public',
    bodyLimit: 4 * 1024,
    input: AnalyticsInput,
    output: Done,
  }),
};
