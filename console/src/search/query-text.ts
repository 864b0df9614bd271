import { createContext, useContext } from "react";

/** Changes the query by a click and runs it. */
export type EditQuery = (edit: (query: string) => string) => void;

export const EditQueryContext = createContext<EditQuery>(() => {});

/** A click changes the text in the box, so that unsubmitted typing is kept. */
export function useEditQuery(): EditQuery {
  return useContext(EditQueryContext);
}
