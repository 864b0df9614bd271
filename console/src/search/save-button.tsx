import { useState } from "react";
import { SavedDialog } from "../saved/saved-dialog.tsx";
import { IconButton } from "../shared/controls.tsx";

/** Saves the query under a name. */
export function SaveButton({ query }: { query: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton
        icon="star"
        label="Save this search"
        disabled={query.trim() === ""}
        onClick={() => setOpen(true)}
      />
      {isOpen && <SavedDialog initial={{ query_dsl: query }} onClose={() => setOpen(false)} />}
    </>
  );
}
