import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { CONTACT_TOPICS, type ContactTopic } from '@stagi/contract/contactTopics.ts';
import type { Feedback } from '@stagi/contract/feedback.ts';
import { FEEDBACK_TOPICS } from '@stagi/contract/feedbackTopics.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { knownValues, type ListAddress } from '../../lists/listAddress.ts';

export const VERIFIED_FILTER = 'verified';
export const STAFF_FILTER = 'staff';
export const PLAN_FILTER = 'plan';
export const TOPIC_FILTER = 'topic';
export const HANDLED_FILTER = 'handled';
export const USER_FILTERS = [VERIFIED_FILTER, STAFF_FILTER] as const;
export const WORKSPACE_FILTERS = [PLAN_FILTER] as const;

export const PLANS: readonly Plan[] = ['Free', 'Individual', 'Team', 'Enterprise'];

/** The input of the call from the address of the list of users. */
export function usersInput({ request, filter }: ListAddress): InputOf<typeof api.adminUsers.list> {
  return {
    entityFilterRequest: request,
    verified: yesOrNo(filter(VERIFIED_FILTER)),
    employee: yesOrNo(filter(STAFF_FILTER)),
  };
}

/** The input of the call from the address of the list of workspaces. */
export function workspacesInput(address: ListAddress): InputOf<typeof api.adminClients.list> {
  const plans = plansOf(address);
  return { entityFilterRequest: address.request, plans: plans.length > 0 ? plans : undefined };
}

/** The input of the call from the address of the list of feedback. */
export function feedbackInput(address: ListAddress): InputOf<typeof api.feedback.list> {
  const topics = topicsOf(address);
  return { entityFilterRequest: address.request, topics: topics.length > 0 ? topics : undefined };
}

/** The input of the call from the address of the list of contact requests. */
export function contactInput(address: ListAddress): InputOf<typeof api.contact.list> {
  const topics = contactTopicsOf(address);
  return {
    entityFilterRequest: address.request,
    handled: yesOrNo(address.filter(HANDLED_FILTER)),
    topics: topics.length > 0 ? topics : undefined,
  };
}

export const contactTopicsOf = ({ values }: ListAddress): ContactTopic[] =>
  knownValues(values(TOPIC_FILTER), CONTACT_TOPICS);

export const topicsOf = ({ values }: ListAddress): Feedback['topic'][] =>
  knownValues(values(TOPIC_FILTER), FEEDBACK_TOPICS);

export const plansOf = ({ values }: ListAddress): Plan[] => knownValues(values(PLAN_FILTER), PLANS);

function yesOrNo(value: string): boolean | undefined {
  return value === 'yes' ? true : value === 'no' ? false : undefined;
}
