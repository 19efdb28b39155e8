/** What the parts of the verifier tell: what is wrong, and how much was looked at. */
export interface Report {
  found(about: string, id: string, problem: string): void;
  count(what: string, n: number): void;
}
