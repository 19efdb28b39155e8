import type { TestApp } from '../../testing/app.ts';
import { markSteppedUp } from '../../testing/factories.ts';
import { PASSWORD, type Person } from '../../testing/person.ts';

let addresses = 0;
export const newAddress = (): string => {
  addresses += 1;
  return `moved${addresses}-${Date.now()}@example.com`;
};

export const as = (person: Person) => ({ authorization: `Bearer ${person.tokens().accessToken}` });

export const change = (app: TestApp, person: Person, newEmail: string) =>
  app.post('auth/email/change-email', { newEmail }, as(person));

/** From an address that has tried nothing before. */
export const signIn = (app: TestApp, email: string) =>
  app.post(
    'auth/email/authentication',
    { email, password: PASSWORD },
    { 'x-forwarded-for': `10.9.0.${addresses % 250}` },
  );

/** Somebody who has just shown that it is them. */
export async function signUp(app: TestApp, name?: string): Promise<Person> {
  const person = await app.signUp(name);
  await markSteppedUp(app.ctx, person);
  return person;
}
