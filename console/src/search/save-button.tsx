import { lazy, Suspense, useState } from "react";
import { useAddress } from "../address/address.ts";
import { loadPart } from "../shared/update.ts";
import { displayOf } from "../saved/display.ts";
import { SavedDialog } from "../saved/saved-dialog.tsx";
import { IconButton } from "../shared/controls.tsx";
import { say } from "../shared/words.ts";

const RuleDialog = lazy(() =>
  loadPart(() =>
    import("../alerts/rule-dialog.tsx").then(({ RuleDialog }) => ({ default: RuleDialog }))
  )
);

/** Saves the query under a name, as it is looked at, or has a rule watch it. */
export function SaveButton({ query }: { query: string }) {
  const { parameters } = useAddress();
  const [open, setOpen] = useState<"search" | "alert" | null>(null);
  const onClose = () => setOpen(null);
  const wanted = query.trim() || "*";
  return (
    <>
      <IconButton
        icon="star"
        label={say("Save this search")}
        onClick={() => setOpen("search")}
      />
      <IconButton icon="bell" label={say("Alert on this")} onClick={() => setOpen("alert")} />
      {open === "search" && (
        <SavedDialog
          initial={{ query_dsl: wanted, display: displayOf(parameters) }}
          onClose={onClose}
        />
      )}
      {open === "alert" && (
        <Suspense>
          <RuleDialog initial={{ query_dsl: wanted }} onClose={onClose} />
        </Suspense>
      )}
    </>
  );
}
