import type { Zone } from "../address/range.ts";
import { writeAddress } from "../address/address.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { ArchiveRestore } from "../service/logloom.ts";
import { Badge, ErrorNote } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { bytes, count } from "../shared/format-number.ts";
import { actions, mostAtOnce, Table } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { rangeWords } from "./archive-estimate.ts";

const tones = { queued: "plain", running: "info", done: "good", failed: "bad" } as const;

/** The restores: their progress, and when their records are deleted. */
export function Restores() {
  const { zone } = usePreferences();
  const restores = useOperation("list_log_archive_restores", { p_limit: mostAtOnce }, {
    every: 3000,
  });
  const { data = [] } = restores;
  return (
    <>
      <ErrorNote error={restores.error} />
      {data.length > 0 && (
        <section className="block">
          <h2>{say("Restored days")}</h2>
          <Table
            label={say("Restored days")}
            columns={[
              say("Range"),
              say("State"),
              { name: say("Records"), is: "number" },
              { name: say("Read"), is: "number" },
              say("Deleted"),
              actions,
            ]}
          >
            {data.map((restore) => (
              <RestoreRow key={restore.restore_id} restore={restore} zone={zone} />
            ))}
          </Table>
        </section>
      )}
    </>
  );
}

function RestoreRow({ restore, zone }: { restore: ArchiveRestore; zone: Zone }) {
  const { status, files, files_done, query_dsl, ts_from, ts_to, kept_until } = restore;
  const isOver = Date.parse(kept_until) <= Date.now();
  const place = writeAddress({
    screen: "search",
    parameters: { q: query_dsl, from: ts_from, to: ts_to },
  });
  return (
    <tr>
      <th scope="row">
        {rangeWords(ts_from, ts_to, zone)}
        <code className="cell-code">{query_dsl ? plain(query_dsl) : say("All records")}</code>
      </th>
      <td>
        <div className="told">
          <Badge tone={isOver ? "plain" : tones[status]}>
            {isOver && status === "done" ? say("deleted") : say(status)}
          </Badge>
          {(status === "queued" || status === "running") && (
            <span role="status" className="about">
              {say("{done} of {count} files", { done: files_done, count: files })}
            </span>
          )}
          {restore.error && <span className="field-error">{plain(restore.error)}</span>}
        </div>
      </td>
      <td className="number">{count(restore.records)}</td>
      <td className="number">{bytes(restore.bytes)}</td>
      <td>{ago(kept_until)}</td>
      <td className="tools">
        {status === "done" && !isOver && (
          <a className="button small" href={place}>{say("Show the records")}</a>
        )}
      </td>
    </tr>
  );
}
