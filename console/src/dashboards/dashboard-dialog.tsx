import { useState } from "react";
import { useChange } from "../service/operation-hooks.ts";
import type { LogDashboard } from "../service/logloom.ts";
import { useMay } from "../service/roles.ts";
import { FormDialog } from "../shared/dialog.tsx";
import { CheckField, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";

/** Creates a dashboard, or changes its name and sharing. */
export function DashboardDialog({ initial, onClose, onMade }: {
  initial?: LogDashboard;
  onClose: () => void;
  onMade?: (made: LogDashboard) => void;
}) {
  // `initial` may change when another tab saves.
  const [before] = useState(initial);
  const [name, setName] = useState(initial?.name ?? "");
  const [isShared, setShared] = useState(initial?.is_shared ?? false);
  const [isInPortal, setInPortal] = useState(initial?.in_portal ?? false);
  const isAdmin = useMay("admin") === true;
  const touched = ["list_log_dashboards", "get_log_dashboard"] as const;
  const create = useChange("create_log_dashboard", touched);
  const update = useChange("update_log_dashboard", touched);
  const submit = () => {
    const onSuccess = (made: LogDashboard) => {
      onClose();
      onMade?.(made);
    };
    if (before) {
      // Sends only what was changed here, so that another tab's change is kept.
      update.mutate({
        p_dashboard_id: before.dashboard_id,
        ...name !== before.name && { p_name: name },
        ...isShared !== before.is_shared && { p_is_shared: isShared },
        ...isInPortal !== before.in_portal && { p_in_portal: isInPortal },
      }, { onSuccess });
    } else {
      create.mutate({
        p_name: name,
        p_is_shared: isShared,
        p_in_portal: isInPortal,
      }, { onSuccess });
    }
  };
  return (
    <FormDialog
      title={initial ? say("Change the dashboard") : say("New dashboard")}
      action={say("Save")}
      error={create.error ?? update.error}
      isPending={create.isPending || update.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={say("Name")} required maxLength={200} value={name} onChange={setName} />
      <CheckField
        label={say("Everyone in this tenant can see it")}
        checked={isShared}
        onChange={setShared}
      />
      {isShared && isAdmin && (
        <CheckField
          label={say("Customers can see it in the portal")}
          checked={isInPortal}
          onChange={setInPortal}
        />
      )}
    </FormDialog>
  );
}
