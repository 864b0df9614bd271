import { createContext, useContext } from "react";

/** Changes the query and runs it. */
export type EditQuery = (edit: (query: string) => string) => void;

export const EditQueryContext = createContext<EditQuery>(() => {});

/** For clicks: edits the text in the box, so that text which was not run yet is kept. */
export function useEditQuery(): EditQuery {
  return useContext(EditQueryContext);
}
