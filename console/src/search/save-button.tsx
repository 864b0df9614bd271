import { lazy, Suspense, useState } from "react";
import { go, useAddress } from "../address/address.ts";
import { loadPart } from "../shared/load-part.ts";
import { displayOf } from "../saved/saved-display.ts";
import { SavedDialog } from "../saved/saved-dialog.tsx";
import { IconButton } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";

const RuleDialog = lazy(() =>
  loadPart(() =>
    import("../alerts/rule-dialog.tsx").then(({ RuleDialog }) => ({ default: RuleDialog }))
  )
);

/** Buttons that save the search or create an alert rule from it. */
export function SaveButton({ query }: { query: string }) {
  const { parameters } = useAddress();
  const [open, setOpen] = useState<"search" | "alert" | null>(null);
  const onClose = () => setOpen(null);
  const wanted = query.trim() || "*";
  return (
    <>
      <IconButton icon="star" label={say("Save this search")} onClick={() => setOpen("search")} />
      <IconButton icon="bell" label={say("Alert on this")} onClick={() => setOpen("alert")} />
      {open === "search" && (
        <SavedDialog
          initial={{ query_dsl: wanted, display: displayOf(parameters) }}
          onClose={onClose}
        />
      )}
      {open === "alert" && (
        <Suspense>
          <RuleDialog
            initial={{ query_dsl: wanted }}
            onClose={onClose}
            onSaved={({ rule_id }) =>
              go({ screen: "alerts", parameters: { tab: "rules", rule: rule_id } })}
          />
        </Suspense>
      )}
    </>
  );
}
