import { rowTime } from "../address/range.ts";
import { filterOf, withClause } from "../language/edit.ts";
import { useOperation } from "../service/hooks.ts";
import type { LogChange } from "../service/logloom.ts";
import { Badge, Dialog, Empty } from "../shared/controls.tsx";
import { count } from "../shared/format.ts";
import { Loaded, Table } from "../shared/list.tsx";
import { oneLine } from "../shared/plain.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/words.ts";
import { useEditQuery } from "./query-text.ts";
import type { Run } from "./use-search.ts";

const tones = { new: "bad", grown: "warn", shrunk: "info", gone: "info" } as const;

/** What is different in the range from the one of the same length before it; a change narrows the query. */
export default function ChangesDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const { zone } = usePreferences();
  const edit = useEditQuery();
  const changes = useOperation("log_changes", {
    p_query_dsl: filterOf(run.query),
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
  });
  const narrow = (change: LogChange) => {
    edit((query) =>
      change.kind === "value"
        ? withClause(query, change.field, change.value, "in")
        : withClause(query, "msg", literalOf(change.value), "in")
    );
    onClose();
  };
  return (
    <Dialog title={say("What changed?")} onClose={onClose} wide>
      <Loaded answer={changes} lines={8}>
        {({ changes, records, records_before, before_from, ts_from, warnings }) => (
          <>
            <p className="about">
              {count(records)} records, after {count(records_before)} from{" "}
              {rowTime(before_from, zone)} to {rowTime(ts_from, zone)}.
              {warnings.map(({ message }) => ` Mind that ${message}.`)}
            </p>
            {changes.length === 0
              ? <Empty title={say("Nothing that chance does not explain")} />
              : (
                <Table
                  label={say("What changed?")}
                  columns={[
                    say("Change"),
                    say("Of what"),
                    { name: say("Before"), is: "number" },
                    { name: say("After"), is: "number" },
                  ]}
                >
                  {changes.map((change) => (
                    <tr key={`${change.kind} ${change.field} ${change.value}`}>
                      <td>
                        <Badge tone={tones[change.change]}>{change.change}</Badge>
                      </td>
                      <th scope="row">
                        <button
                          type="button"
                          className="button small quiet"
                          onClick={() =>
                            narrow(change)}
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
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

/** The longest text of a pattern that each of its messages holds. */
function literalOf(pattern: string): string {
  return pattern.split("<*>").map((part) => part.trim())
    .reduce((longest, part) => part.length > longest.length ? part : longest, "");
}
