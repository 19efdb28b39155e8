/** What is left of the name of somebody who has deleted their account; screens say it in the reader's language. */
export const DELETED_USER = 'Deleted user';
