import type { UseMutationResult } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import type { LogloomError } from "../service/logloom.ts";
import { ErrorNote } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";
import { say } from "./words.ts";

/** Asks before an irreversible action. */
export function Confirm<Parameters>({ title, action, change, parameters, onClose, children }: {
  title: string;
  action: string;
  change: UseMutationResult<unknown, LogloomError, Parameters>;
  parameters: Parameters;
  onClose: () => void;
  children: ReactNode;
}) {
  // What was wrong with another item.
  const { reset } = change;
  useEffect(() => reset(), [reset]);
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <ErrorNote error={change.error} />
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>{say("Cancel")}</button>
        <button
          type="button"
          className="button danger"
          disabled={change.isPending}
          onClick={() => change.mutate(parameters, { onSuccess: onClose })}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
