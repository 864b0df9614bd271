import { shortTime } from "../shared/format-time.ts";
import { filterOf, withClause } from "../language/edit-query.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogChange } from "../service/logloom.ts";
import { Badge, Empty } from "../shared/basic-controls.tsx";
import { count } from "../shared/format-number.ts";
import { Loaded, Table } from "../shared/list-table.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { oneLine } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { withPattern } from "./patterns.ts";
import { useEditQuery } from "./edit-query-context.ts";
import type { Run } from "./search-run.ts";

const tones = { new: "bad", grown: "warn", shrunk: "info", gone: "info" } as const;

/** Compares the range with the equally long range before it. A click on a change filters the query. */
export function ChangesView({ run }: { run: Run }) {
  const { zone } = usePreferences();
  const edit = useEditQuery();
  const changes = useOperation("log_changes", {
    p_query_dsl: filterOf(run.query),
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
  }, { enabled: run.instants !== null });
  const narrow = (change: LogChange) =>
    edit((query) =>
      change.kind === "value"
        ? withClause(query, change.field, change.value, "in")
        : withPattern(query, change.value, "in")
    );
  return (
    <section
      className="results changes"
      id="panel-changes"
      role="tabpanel"
      aria-labelledby="tab-changes"
    >
      <Loaded answer={changes} lines={8}>
        {({ changes: found, records, records_before, before_from, ts_from, warnings }) => (
          <div className="aggregate">
            <p className="about">
              {say("{count} records, compared with {before} from {from} to {to}.", {
                count: records,
                before: records_before,
                from: shortTime(Date.parse(before_from), zone),
                to: shortTime(Date.parse(ts_from), zone),
              })} {warnings.map(({ message }) => `${say("Note: {what}.", { what: message })} `)}
              <PanelNote answer={changes.data} isBusy={changes.isFetching} hasTimes />
            </p>
            {found.length === 0 ? <Empty title={say("No change is larger than chance")} /> : (
              <Table
                label={say("What changed?")}
                columns={[
                  say("Change"),
                  say("Field or pattern"),
                  { name: say("Before"), is: "number" },
                  { name: say("After"), is: "number" },
                ]}
              >
                {found.map((change) => (
                  <tr key={`${change.kind} ${change.field} ${change.value}`}>
                    <td>
                      <Badge tone={tones[change.change]}>{say(change.change)}</Badge>
                    </td>
                    <th scope="row">
                      <button
                        type="button"
                        className="group-value"
                        onClick={() => narrow(change)}
                      >
                        {change.kind === "value" && (
                          <>
                            {oneLine(change.field, 60)}
                            {": "}
                          </>
                        )}
                        {oneLine(change.value, 200)}
                      </button>
                    </th>
                    <td className="number">{count(change.before)}</td>
                    <td className="number">{count(change.after)}</td>
                  </tr>
                ))}
              </Table>
            )}
          </div>
        )}
      </Loaded>
    </section>
  );
}
