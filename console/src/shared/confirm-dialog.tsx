import type { UseMutationResult } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import type { LogloomError } from "../service/logloom.ts";
import { FormDialog } from "./dialog.tsx";

/** Asks before an irreversible action. */
export function Confirm<Parameters>({ title, action, change, parameters, onClose, children }: {
  title: string;
  action: string;
  change: UseMutationResult<unknown, LogloomError, Parameters>;
  parameters: Parameters;
  onClose: () => void;
  children: ReactNode;
}) {
  // Clears the error of an earlier item.
  const { reset } = change;
  useEffect(() => reset(), [reset]);
  return (
    <FormDialog
      title={title}
      action={action}
      tone="danger"
      error={change.error}
      isPending={change.isPending}
      onSubmit={() => change.mutate(parameters, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{children}</p>
    </FormDialog>
  );
}
