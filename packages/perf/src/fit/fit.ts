import { EFFECTS, effectDeviation, type Factors, PRIORS } from '../factors.ts';
import { linkOf } from '../step.ts';
import { leastSquares } from './minimise.ts';
import { compare, type Observation } from './observations.ts';

/**
 * Scatter of measurements that a fit does not try to explain, as a natural logarithm. First tokens depend on the tool that
 * measured: how its clients start, what else they wait for.
 */
const NOISE = { TPOT: 0.1, throughput: 0.12, TTFT: 0.25 };
/** Freedom of the t distribution that scatter is taken to have: an outlier hardly pulls the others. */
const FREEDOM = 4;

/** Factors that explain the observations best while staying near their priors. */
export function fitFactors(observations: readonly Observation[]): Factors {
  const names = namesOf(observations);
  const start = names.map((name) => PRIORS[name]?.mean ?? 0);
  const factorsAt = (at: readonly number[]) => Object.fromEntries(names.map((name, i) => [name, at[i]!]));
  const found = leastSquares((at) => {
    const factors = factorsAt(at);
    const errors = observations.flatMap((observation) =>
      compare(observation, factors).map(({ metric, measured, predicted }) =>
        robust((Math.log(predicted / measured) / NOISE[metric]) * observation.weight),
      ),
    );
    const priors = names.map((name, i) => {
      const prior = PRIORS[name] ?? { mean: 0, deviation: effectDeviation(name) };
      return (at[i]! - prior.mean) / prior.deviation;
    });
    return [...errors, ...priors];
  }, start);
  return factorsAt(found);
}

/** Bases and the effects that at least one observation has. */
function namesOf(observations: readonly Observation[]): string[] {
  const names = new Set(Object.keys(PRIORS));
  for (const { family, group, engineKey, setup } of observations) {
    const key = { family, group, engine: engineKey, link: linkOf(setup.gpu, setup.count).kind };
    for (const [kind, effects] of Object.entries(EFFECTS)) {
      if (kind === 'linkUs' && setup.count === 1) continue;
      if (kind.startsWith('expert') && !setup.model.experts) continue;
      for (const effect of effects) names.add(`${kind}/${key[effect]}`);
    }
  }
  return [...names].sort();
}

/** A residual whose square is the likelihood of Student's t. */
function robust(value: number): number {
  return Math.sign(value) * Math.sqrt((FREEDOM + 1) * Math.log1p(value ** 2 / FREEDOM));
}
