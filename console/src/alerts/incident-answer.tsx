import { useState } from "react";
import type { AlertIncidentDetails } from "../service/logloom.ts";
import { useChange } from "../service/operation-hooks.ts";
import { useMembers, useNameOf } from "../service/roles.ts";
import { useSession } from "../service/session.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";
import { SelectField } from "../shared/form-fields.tsx";

/** The form that assigns an incident and stores a note about it. */
export function IncidentAnswer({ incident }: { incident: AlertIncidentDetails }) {
  const claims = useSession().claims();
  const members = useMembers().data ?? [];
  const { assigned_to, incident_id } = incident;
  // The service names people by their address if it knows it, and takes either.
  const valueOf = (id: string, email: string | null) =>
    assigned_to !== null && assigned_to === email ? email : id;
  const me = valueOf(claims?.user ?? "", claims?.email ?? null);
  const others = members.filter(({ user_id, role }) =>
    user_id !== claims?.user && role !== "viewer"
  ).map(({ user_id, email }) => valueOf(user_id, email));
  const people = new Set([me, ...others, ...assigned_to === null ? [] : [assigned_to]]);
  const nameOf = useNameOf([...people]);
  const update = useIncidentChange();
  const [note, setNote] = useState<string | null>(null);
  const written = note ?? incident.note ?? "";
  return (
    <form
      className="incident-answer"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ p_incident_ids: [incident_id], p_note: written }, {
          onSuccess: () => setNote(null),
        });
      }}
    >
      <SelectField
        label={say("Assigned to")}
        value={assigned_to ?? ""}
        disabled={update.isPending}
        onChange={(text) => update.mutate({ p_incident_ids: [incident_id], p_assigned_to: text })}
      >
        <option value="">{say("nobody")}</option>
        {[...people].map((id) => <option key={id} value={id}>{nameOf(id)}</option>)}
      </SelectField>
      <label className="field">
        <span>{say("Note")}</span>
        <textarea
          rows={2}
          maxLength={2000}
          value={written}
          onChange={(event) => setNote(event.target.value)}
        />
      </label>
      <button type="submit" className="button" disabled={note === null || update.isPending}>
        {say("Save the note")}
      </button>
      <ErrorNote error={update.error} />
    </form>
  );
}

/** Sets assignee, note or acknowledgement of an incident. */
export function useIncidentChange() {
  return useChange("update_alert_incident", [
    "list_alert_incidents",
    "get_alert_incident",
    "list_alert_history",
    "list_tenant_audit_events",
  ]);
}
