import { change as changeAddress, useAddress } from "../address/address.ts";
import { shortTime } from "../shared/format-time.ts";
import { filterOf, withClause } from "../language/edit-query.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogChange } from "../service/logloom.ts";
import { Badge, Empty } from "../shared/basic-controls.tsx";
import { count, percent } from "../shared/format-number.ts";
import { Loaded, Table } from "../shared/list-table.tsx";
import { MarkerNote } from "../shared/markers.tsx";
import { shifted } from "../shared/earlier-periods.ts";
import { PanelNote } from "../shared/panel-note.tsx";
import { oneLine } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { withPattern } from "./patterns.ts";
import { useEditQuery } from "./edit-query-context.ts";
import { panelOf } from "./result-tabs.tsx";
import type { Run } from "./search-run.ts";

const tones = { new: "warn", gone: "warn", grown: "info", shrunk: "info" } as const;

/** Compares the range with the equally long range before it. A click on a change filters the query. */
export function ChangesView({ run, label }: { run: Run; label?: string }) {
  const { zone } = usePreferences();
  const edit = useEditQuery();
  const { parameters } = useAddress();
  const changes = useOperation("log_changes", {
    p_query_dsl: filterOf(run.query),
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
    ...comparedRange(run, parameters),
  }, { enabled: run.instants !== null });
  const narrow = (change: LogChange) =>
    edit((query) =>
      change.kind === "value"
        ? withClause(query, change.field, change.value, "in")
        : withPattern(query, change.value, "in")
    );
  return (
    <section className="results changes" {...panelOf("changes", label)}>
      <Loaded answer={changes} lines={8}>
        {({ changes: found, records, records_before, before_from, before_to, warnings }) => (
          <div className="aggregate">
            {label === undefined && <CompareSelect />}
            <p className="about">
              {say("{count} records, compared with {before} from {from} to {to}.", {
                count: records,
                before: records_before,
                from: shortTime(Date.parse(before_from), zone),
                to: shortTime(Date.parse(before_to), zone),
              })} {warnings.map(({ message }) => `${say("Note: {what}.", { what: message })} `)}
              <PanelNote answer={changes.data} isBusy={changes.isFetching} />
            </p>
            {run.instants && <MarkerNote {...run.instants} zone={zone} />}
            {found.length === 0 ? <NoChange before={records_before} /> : (
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
                    <Share number={change.before} of={records_before} />
                    <Share number={change.after} of={records} />
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

function NoChange({ before }: { before: number }) {
  return (
    <Empty
      title={before === 0
        ? say("There were no records before to compare with")
        : say("No share changed by more than chance")}
    >
      <p>{say("Patterns and the fields show what these records have in common.")}</p>
    </Empty>
  );
}

/** The share of the records, which decides whether a value has grown, and the count. */
function Share({ number, of }: { number: number; of: number }) {
  return (
    <td className="number">
      {percent(of === 0 ? 0 : Math.min(1, number / of))}{" "}
      <span className="about">{count(number)}</span>
    </td>
  );
}

/** What the range is compared with; the range before it if nothing is chosen. */
function comparedRange(run: Run, { with: chosen, around }: Record<string, string>) {
  if (!run.instants) return {};
  const { from, to } = run.instants;
  const length = Date.parse(to) - Date.parse(from);
  // The smallest number of whole days earlier at which the two ranges do not overlap.
  const days = Math.ceil(length / 86_400_000) * 86_400;
  const other = chosen === "day"
    ? shifted(run.instants, days)
    : chosen === "rest"
    ? restOf(around, run.instants)
    : null;
  return other === null ? {} : { p_before_from: other.from, p_before_to: other.to };
}

/** The range from which a part was chosen. A part that was chosen at the edge of this range may extend beyond it. */
function restOf(around: string | undefined, part: { from: string; to: string }) {
  const [from, to] = around?.split("/") ?? [];
  if (!from || !to) return null;
  return {
    from: Date.parse(part.from) < Date.parse(from) ? part.from : from,
    to: Date.parse(part.to) > Date.parse(to) ? part.to : to,
  };
}

function CompareSelect() {
  const { with: chosen = "", around } = useAddress().parameters;
  return (
    <label className="compare">
      {say("Compared with")}{" "}
      <select
        value={chosen}
        onChange={(event) => changeAddress({ with: event.target.value }, { replace: true })}
      >
        <option value="">{say("the time before")}</option>
        <option value="day">{say("the same time the day before")}</option>
        {around && <option value="rest">{say("the rest of the range before")}</option>}
      </select>
    </label>
  );
}
