import { useWholeList } from "../service/hooks.ts";
import { useMay } from "../service/role.ts";
import { Badge, Empty } from "../shared/controls.tsx";
import { bytes, count } from "../shared/numbers.ts";
import { Loaded, Table } from "../shared/list.tsx";
import { say } from "../shared/words.ts";
import { type Span, spansOf, sumOf } from "./files.ts";
import { RestoreForm } from "./restore-form.tsx";
import { Restores } from "./restores.tsx";

/** The days that are in files, and bringing them back. */
export function ArchiveTab() {
  const mayRestore = useMay("admin");
  const archive = useWholeList("list_log_archive", 60_000);
  return (
    <>
      <p className="about">
        {say("Days that are over leave the database as Parquet files before they are deleted.")}
        {mayRestore === false && ` ${say("An admin brings them back.")}`}
      </p>
      <Loaded answer={archive}>
        {(files) =>
          files.length === 0
            ? (
              <Empty title={say("Nothing is archived yet")}>
                <p>{say("If your plan has an archive, a day is in it a day after its end.")}</p>
              </Empty>
            )
            : (
              <>
                <Totals files={files} />
                {mayRestore && <RestoreForm files={files} />}
                <Restores />
                <section className="block">
                  <h2>{say("Archived days")}</h2>
                  <Spans spans={spansOf(files)} />
                </section>
              </>
            )}
      </Loaded>
    </>
  );
}

function Totals({ files }: { files: Parameters<typeof sumOf>[0] }) {
  const sum = sumOf(files);
  const tile = (title: string, value: string) => (
    <section className="tile">
      <h2>{title}</h2>
      <p className="tile-number">{value}</p>
    </section>
  );
  return (
    <div className="tiles small">
      {tile(say("Days"), count(sum.days))}
      {tile(say("Files"), count(sum.files))}
      {tile(say("Records"), count(sum.records))}
      {tile(say("Bytes"), bytes(sum.bytes))}
    </div>
  );
}

function Spans({ spans }: { spans: Span[] }) {
  return (
    <Table
      label={say("Archived days")}
      columns={[
        say("Days (UTC)"),
        { name: say("Files"), is: "number" },
        { name: say("Records"), is: "number" },
        { name: say("Bytes"), is: "number" },
        say("State"),
      ]}
    >
      {spans.map((span) => (
        <tr key={`${span.first} ${span.last}`}>
          <th scope="row">
            {span.first === span.last
              ? span.first
              : say("{from} to {to}", { from: span.first, to: span.last })}
          </th>
          <td className="number">{count(span.files)}</td>
          <td className="number">{count(span.records)}</td>
          <td className="number">{bytes(span.bytes)}</td>
          <td>
            {span.missing === 0
              ? <Badge tone="good">{say("verified")}</Badge>
              : <Badge tone="bad">{say("{count} missing", { count: span.missing })}</Badge>}
          </td>
        </tr>
      ))}
    </Table>
  );
}
