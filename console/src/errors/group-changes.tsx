import { useState } from "react";
import type { ErrorGroup } from "../service/logloom.ts";
import { AssigneeField } from "../shared/answer-form.tsx";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";
import { type GroupChange, useGroupChange } from "./error-words.tsx";
import { IgnoreDialog, MergeDialog, ReleaseDialog } from "./change-dialogs.tsx";

/** The buttons that change groups. */
export function GroupChanges({ groups, isAssigning = false, onDone, onMerged }: {
  groups: ErrorGroup[];
  isAssigning?: boolean;
  onDone?: () => void;
  onMerged?: (into: string) => void;
}) {
  const update = useGroupChange();
  const [open, setOpen] = useState<"release" | "ignore" | "merge" | null>(null);
  const fingerprints = groups.map(({ fingerprint }) => fingerprint);
  const set = (part: GroupChange) =>
    update.mutate({ p_fingerprints: fingerprints, ...part }, { onSuccess: onDone });
  const some = (...states: ErrorGroup["state"][]) =>
    groups.some(({ state }) => states.includes(state));
  const isOpen = some("new", "regressed", "open");
  const dialog = {
    groups,
    onClose: () => setOpen(null),
    onDone: () => {
      setOpen(null);
      onDone?.();
    },
  };
  const button = (words: string, onClick: () => void, look = "") => (
    <Button look={look} disabled={update.isPending} onClick={onClick}>{words}</Button>
  );
  return (
    <div className="group-changes" role="group" aria-label={say("Change the chosen errors")}>
      {onMerged === undefined && <span>{say("{count} chosen", { count: groups.length })}</span>}
      {(isOpen || some("ignored")) &&
        button(say("Resolve"), () => set({ p_state: "resolved" }), "primary")}
      {(isOpen || some("ignored")) && groups.some(({ last_release }) => last_release !== null) &&
        button(say("Resolve after a release…"), () => setOpen("release"))}
      {(isOpen || some("resolved")) && button(say("Ignore…"), () => setOpen("ignore"))}
      {some("resolved", "ignored") && button(say("Reopen"), () => set({ p_state: "open" }))}
      {button(say("Merge…"), () => setOpen("merge"))}
      {isAssigning && (
        <AssigneeField
          assigned={undefined}
          disabled={update.isPending}
          onChange={(person) => set({ p_assigned_to: person })}
        />
      )}
      <ErrorNote error={update.error} />
      {open === "release" && <ReleaseDialog {...dialog} />}
      {open === "ignore" && <IgnoreDialog {...dialog} />}
      {open === "merge" && <MergeDialog {...dialog} onMerged={onMerged} />}
    </div>
  );
}
