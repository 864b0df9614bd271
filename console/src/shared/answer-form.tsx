import type { UseMutationResult } from "@tanstack/react-query";
import { useState } from "react";
import type { LogloomError } from "../service/logloom.ts";
import { useMembers, useNameOf } from "../service/roles.ts";
import { useSession } from "../service/session.ts";
import { ErrorNote } from "./basic-controls.tsx";
import { SelectField } from "./form-fields.tsx";
import { say } from "./translate.ts";

/** A choice of the person who has something. Undefined: several things, which several people may have. */
export function AssigneeField({ assigned, disabled, onChange }: {
  assigned: string | null | undefined;
  disabled: boolean;
  onChange: (person: string) => void;
}) {
  const claims = useSession().claims();
  const members = useMembers().data ?? [];
  // The service names people by their address if it knows it, and takes either.
  const valueOf = (id: string, email: string | null) =>
    assigned !== null && assigned === email ? assigned : id;
  const me = valueOf(claims?.user ?? "", claims?.email ?? null);
  const others = members.filter(({ user_id, role }) =>
    user_id !== claims?.user && role !== "viewer"
  ).map(({ user_id, email }) => valueOf(user_id, email));
  const people = new Set([me, ...others, ...assigned ? [assigned] : []]);
  const nameOf = useNameOf([...people]);
  return (
    <SelectField
      label={say("Assigned to")}
      value={assigned === undefined ? "?" : assigned ?? ""}
      disabled={disabled}
      onChange={onChange}
    >
      {assigned === undefined && <option value="?" hidden>{say("choose")}</option>}
      <option value="">{say("nobody")}</option>
      {[...people].map((id) => <option key={id} value={id}>{nameOf(id)}</option>)}
    </SelectField>
  );
}

interface Answer {
  p_assigned_to?: string;
  p_note?: string;
}

/** The form that assigns an incident or an error, and stores a note about it. */
export function AnswerForm<Parameters>({ subject, update, parametersOf }: {
  subject: { assigned_to: string | null; note: string | null };
  update: UseMutationResult<unknown, LogloomError, Parameters>;
  parametersOf: (answer: Answer) => Parameters;
}) {
  const [note, setNote] = useState<string | null>(null);
  const written = note ?? subject.note ?? "";
  return (
    <form
      className="answer-form"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate(parametersOf({ p_note: written }), { onSuccess: () => setNote(null) });
      }}
    >
      <AssigneeField
        assigned={subject.assigned_to}
        disabled={update.isPending}
        onChange={(person) => update.mutate(parametersOf({ p_assigned_to: person }))}
      />
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
