import { api } from '../packages/contract/src/api.ts';
import { builtInCatalogue } from '../packages/server/src/catalogue/catalogue.ts';
import { findIn, presentModel } from '../packages/server/src/catalogue/find.ts';
import { facetsOf, listModels } from '../packages/server/src/catalogue/list.ts';

const { list, facets, view } = api.models;
const catalogue = builtInCatalogue();

/** The models that have a prerendered page. */
export const builtInModels = catalogue.map((entry) => presentModel(entry));

/** What the server answers to a call while operators have changed nothing: by its own functions. */
export function answerOf(path: string, input: unknown): unknown {
  switch (path) {
    case list.path:
      return list.output.parse(listModels(catalogue, list.input.parse(input)));
    case facets.path:
      return facets.output.parse(facetsOf(catalogue));
    case view.path: {
      const found = findIn(catalogue, view.input.parse(input));
      if (!found) throw new Error(`The catalogue has no ${JSON.stringify(input)}`);
      return view.output.parse({ isSuccess: true, entity: presentModel(found) });
    }
    default:
      throw new Error(`A prerendered page asks for ${path}, which has no answer while the app is built`);
  }
}
