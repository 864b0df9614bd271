import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { instant, wholeTime, zoneWords } from "../address/range.ts";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { RetentionRun } from "../service/logloom.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { Badge, Button, ErrorNote } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { count } from "../shared/format-number.ts";
import { Table } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";

interface Wanted {
  p_query_dsl: string;
  p_ts_from: string;
  p_ts_to: string;
}

/** Deletes the records that match a query, after counting them and asking. */
export function DeletionSection() {
  const { zone } = usePreferences();
  const [query, setQuery] = useState("");
  const [from, setFrom] = useState("now-30d");
  const [to, setTo] = useState("now");
  const [wrong, setWrong] = useState<string | null>(null);
  const [answered, setCounted] = useState<
    { asked: Record<string, string>; wanted: Wanted; records: number } | null
  >(null);
  const counted = JSON.stringify(answered?.asked) ===
      JSON.stringify({ query, from, to, zone })
    ? answered
    : null;
  const [isAsking, setAsking] = useState(false);
  const runs = useOperation("list_log_retention_runs", { p_limit: 20 }, { every: 10_000 });
  const dry = useChange("delete_logs", []);
  const real = useChange("delete_logs", ["list_log_retention_runs", "list_audit_events"]);
  const ask = () => {
    const now = Date.now();
    const [start, end] = [instant(from, now, zone), instant(to, now, zone)];
    if (start === null || end === null) {
      return setWrong(say("Write a time as 2026-11-21T09:00 or now-30d."));
    }
    setWrong(null);
    const wanted = {
      p_query_dsl: query,
      p_ts_from: new Date(start).toISOString(),
      p_ts_to: new Date(end).toISOString(),
    };
    // If the form changes, an older count must not be shown.
    const asked = { query, from, to, zone };
    dry.mutate({ ...wanted, p_dry_run: true }, {
      onSuccess: ({ records }) => setCounted({ asked, wanted, records }),
    });
  };
  const field = (label: string, value: string, set: (value: string) => void) => (
    <TextField
      label={label}
      className="mono"
      required
      spellCheck={false}
      value={value}
      onChange={set}
    />
  );
  return (
    <section className="block">
      <h2>{say("Delete records")}</h2>
      <form
        className="form narrow"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        {field(say("Query: * for all in the range"), query, setQuery)}
        <div className="form-pair">
          {field(say("From"), from, setFrom)}
          {field(say("To"), to, setTo)}
        </div>
        <p className="about">{zoneWords(zone)}</p>
        {wrong && <p className="field-error" role="alert">{wrong}</p>}
        <ErrorNote error={dry.error} />
        <div className="row">
          <button type="submit" className="button" disabled={dry.isPending}>
            {dry.isPending ? say("Counting…") : say("Count matching records")}
          </button>
          {counted && (
            <>
              <span role="status">
                <Sentence text="{count} records" values={{ count: counted.records }} strong />
              </span>
              {counted.records > 0 && (
                <Button look="danger" onClick={() => setAsking(true)}>{say("Delete them…")}</Button>
              )}
            </>
          )}
        </div>
      </form>
      {isAsking && counted && (
        <Confirm
          title={say("Delete these records?")}
          action={say("Delete {count} records", { count: counted.records })}
          change={real}
          parameters={{ ...counted.wanted, p_dry_run: false }}
          onClose={() => {
            setAsking(false);
            setCounted(null);
          }}
        >
          <Sentence
            text="All records that match {query} from {from} to {to} are deleted within about a minute. This cannot be undone."
            values={{
              query: <code>{plain(counted.wanted.p_query_dsl)}</code>,
              from: wholeTime(counted.wanted.p_ts_from, zone),
              to: wholeTime(counted.wanted.p_ts_to, zone),
            }}
          />
        </Confirm>
      )}
      <Runs runs={(runs.data ?? []).filter((run) => !run.dry_run)} />
    </section>
  );
}

function Runs({ runs }: { runs: RetentionRun[] }) {
  if (runs.length === 0) return null;
  return (
    <Table
      label={say("Deletions")}
      columns={[
        say("Deletion"),
        say("Status"),
        { name: say("Records"), is: "number" },
        say("Requested"),
      ]}
    >
      {runs.map((run) => (
        <tr key={run.run_id}>
          <th scope="row">
            {run.query_dsl ? <code>{plain(run.query_dsl)}</code> : say("by age")}
          </th>
          <td>
            <Badge tone={run.error ? "bad" : run.status === "done" ? "good" : "warn"}>
              {run.status}
            </Badge>
          </td>
          <td className="number">{count(run.records)}</td>
          <td>{ago(run.requested_at)}</td>
        </tr>
      ))}
    </Table>
  );
}
