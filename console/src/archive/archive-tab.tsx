import { useWholeList } from "../service/operation-hooks.ts";
import { useMay } from "../service/roles.ts";
import { Badge, Empty } from "../shared/basic-controls.tsx";
import { bytes, count } from "../shared/format-number.ts";
import { Loaded, Table } from "../shared/list-table.tsx";
import { say } from "../shared/translate.ts";
import { type Span, spansOf, sumOf } from "./archive-estimate.ts";
import { RestoreForm } from "./restore-form.tsx";
import { Restores } from "./restores.tsx";

/** The archived days, and the form that restores them. */
export function ArchiveTab() {
  const mayRestore = useMay("admin");
  const archive = useWholeList("list_log_archive", 60_000);
  return (
    <>
      <p className="about">
        {say("Days that are over are saved as Parquet files before the database deletes them.")}
        {mayRestore === false && ` ${say("Only an admin can restore them.")}`}
      </p>
      <Loaded answer={archive}>
        {(files) =>
          files.length === 0
            ? (
              <Empty title={say("Nothing is archived yet")}>
                <p>
                  {say("If your plan has an archive, a day is archived one day after it ends.")}
                </p>
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
