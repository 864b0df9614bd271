import { createContext, useContext } from "react";

/** Changes the query by a click and runs it. */
export type EditQuery = (edit: (query: string) => string) => void;

export const EditQueryContext = createContext<EditQuery>(() => {});

/** A click changes what stands in the box, so that nothing is lost that was typed and not run yet. */
export function useEditQuery(): EditQuery {
  return useContext(EditQueryContext);
}
