/** The permission strings of a workspace role (specification section 6). */
export const PERMISSIONS = [
  'EMPLOYEE',
  'CLIENT_SUPERADMIN',
  'BILLING',
  'CLIENT_MANAGEMENT',
  'SSH_KEY_MANAGEMENT',
  'PROJECT_MANAGEMENT',
  'PROJECT',
  'RUNNING_TASKS',
  'BASIC_ACTIONS',
  'SELFHOSTED_INSTANCE',
  'SELFHOSTED_INSTANCE_MANAGEMENT',
  'INSTANCE_RENTED',
  'INSTANCE_RENTED_MANAGEMENT',
  'INVITE_USERS_TO_CLIENT',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

export const ROLES = ['Owner', 'Admin', 'Developer', 'Billing', 'Guest'] as const;
export type Role = (typeof ROLES)[number];

const WORKSPACE_PERMISSIONS = PERMISSIONS.filter((permission) => permission !== 'EMPLOYEE');

/** What each role may do. EMPLOYEE is a flag of the user, never of a role. */
export const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  Owner: WORKSPACE_PERMISSIONS,
  Admin: WORKSPACE_PERMISSIONS.filter((permission) => permission !== 'CLIENT_SUPERADMIN'),
  Developer: [
    'BASIC_ACTIONS',
    'PROJECT',
    'PROJECT_MANAGEMENT',
    'RUNNING_TASKS',
    'INSTANCE_RENTED',
    'INSTANCE_RENTED_MANAGEMENT',
    'SELFHOSTED_INSTANCE',
    'SELFHOSTED_INSTANCE_MANAGEMENT',
    'SSH_KEY_MANAGEMENT',
  ],
  Billing: ['BASIC_ACTIONS', 'BILLING'],
  Guest: ['BASIC_ACTIONS'],
};

/** The roles whose holders may do this. */
export const rolesWith = (permission: Permission): Role[] =>
  ROLES.filter((role) => ROLE_PERMISSIONS[role].includes(permission));

/** Never in an API token, whatever its owner has: staff, outgoing money, the workspace, its members, own keys. */
const NEVER_BY_TOKEN: readonly Permission[] = [
  'EMPLOYEE',
  'CLIENT_SUPERADMIN',
  'CLIENT_MANAGEMENT',
  'SSH_KEY_MANAGEMENT',
  'INVITE_USERS_TO_CLIENT',
];

/** The permissions that an API token may have. */
export const TOKEN_PERMISSIONS: readonly Permission[] = PERMISSIONS.filter(
  (permission) => !NEVER_BY_TOKEN.includes(permission),
);

export function holdsAny(held: readonly Permission[], wanted: readonly Permission[]): boolean {
  return wanted.some((permission) => held.includes(permission));
}
