import { type FormEvent, useState } from "react";
import { zoneWords } from "../address/range.ts";
import { useChange } from "../service/operation-hooks.ts";
import type { ArchivedFile } from "../service/logloom.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { bytes } from "../shared/format-number.ts";
import { usePreferences } from "../shared/preferences.ts";
import { TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";
import { estimateOf, rangeOf, type Sum } from "./archive-estimate.ts";

/** Restores days, after an estimate of what that reads. */
export function RestoreForm({ files }: { files: ArchivedFile[] }) {
  const { zone } = usePreferences();
  const newest = files[0]?.last_day ?? "";
  const [from, setFrom] = useState(newest);
  const [to, setTo] = useState(newest);
  const [query, setQuery] = useState("");
  const [days, setDays] = useState("7");
  const restore = useChange("restore_log_archive", [
    "list_log_archive_restores",
    "list_audit_events",
  ]);
  const range = rangeOf(from, to, zone);
  const estimate = range && estimateOf(files, range);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (range === null) return;
    restore.mutate({
      p_from: range[0],
      p_to: range[1],
      p_query_dsl: query.trim() || undefined,
      p_keep_days: Number(days),
    });
  };
  const field = (label: string, value: string, set: (value: string) => void, sample = "") => (
    <TextField
      label={label}
      className="mono"
      required={sample === ""}
      spellCheck={false}
      placeholder={sample}
      value={value}
      onChange={set}
    />
  );
  return (
    <section className="block">
      <h2>{say("Restore days")}</h2>
      <form className="form narrow" onSubmit={submit}>
        <div className="form-pair">
          {field(say("From"), from, setFrom)}
          {field(say("To (including this day)"), to, setTo)}
        </div>
        <div className="form-pair">
          {field(say("Query (empty: all records)"), query, setQuery, "level:error")}
          <TextField
            label={say("Keep them for (days)")}
            type="number"
            min={1}
            max={90}
            required
            value={days}
            onChange={setDays}
          />
        </div>
        <p className="about">
          {say("Days are in UTC.")} {zoneWords(zone)}
        </p>
        <p role="status">
          {estimate === null
            ? <span className="field-error">{say("Write days as 2026-11-21, From ≤ To.")}</span>
            : estimateWords(estimate)}
        </p>
        <ErrorNote error={restore.error} />
        <div className="row">
          <button
            type="submit"
            className="button primary"
            disabled={restore.isPending || !estimate || estimate.files === 0}
          >
            {say("Restore")}
          </button>
        </div>
      </form>
    </section>
  );
}

function estimateWords({ files, days, records, bytes: size }: Sum): string {
  if (files === 0) return say("This range has no archived records.");
  return say("This reads {files} with {records} ({size}) and counts as {days} of your plan.", {
    files: say("{count} files", { count: files }),
    records: say("{count} records", { count: records }),
    size: bytes(size),
    days: say("{count} days", { count: days }),
  });
}
