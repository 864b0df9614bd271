import type { ErrorGroupDetails } from "../service/logloom.ts";
import { attributeField, exactly } from "../language/edit-query.ts";
import { count, percent } from "../shared/format-number.ts";
import { ago } from "../shared/format-time.ts";
import { Table } from "../shared/list-table.tsx";
import { LogText } from "../shared/log-text.tsx";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

type Frame = ErrorGroupDetails["stack"][number];

/** The frames in runs of own and foreign code. */
function runsOf(frames: Frame[]): Frame[][] {
  const runs: Frame[][] = [];
  for (const frame of frames) {
    const last = runs.at(-1);
    if (last && last[0]?.is_own === frame.is_own) last.push(frame);
    else runs.push([frame]);
  }
  return runs;
}

/** The newest stack trace. The frames of libraries are folded. */
export function Stack({ frames }: { frames: Frame[] }) {
  if (frames.length === 0) return null;
  const hasOwn = frames.some(({ is_own }) => is_own);
  return (
    <section className="block">
      <h2>{say("Stack, innermost call first")}</h2>
      <div className="frames">
        {runsOf(frames).map((run, i) =>
          run[0]?.is_own || !hasOwn
            ? run.map(({ line }, at) => (
              <p key={`${i} ${at}`} className={hasOwn ? "frame own" : "frame"}>
                <LogText text={line} />
              </p>
            ))
            : (
              <details key={i}>
                <summary className="about">
                  {say("{count} calls in libraries", { count: run.length })}
                </summary>
                {run.map(({ line }, at) => (
                  <p key={at} className="frame">
                    <LogText text={line} />
                  </p>
                ))}
              </details>
            )
        )}
      </div>
    </section>
  );
}

/** The values that these records have more often than other errors. A click adds one to the search, if there is one. */
export function Tags({ details: { tags, group }, onChoose }: {
  details: ErrorGroupDetails;
  onChoose?: (clause: string) => void;
}) {
  if (tags.length === 0) return null;
  return (
    <section className="block">
      <h2>{say("What differs from other errors")}</h2>
      <Table
        label={say("What differs from other errors")}
        columns={[
          say("Field"),
          { name: say("Here"), is: "number" },
          {
            name: group.service === null ? say("Other errors") : say("Other errors of the service"),
            is: "number",
          },
        ]}
      >
        {tags.map(({ field, value, share, share_of_others }) => (
          <tr key={`${field} ${value}`}>
            <th scope="row">
              {onChoose
                ? (
                  <button
                    type="button"
                    className="group-value"
                    onClick={() => onChoose(clauseOf(field, value))}
                  >
                    {oneLine(plain(`${field}: ${value}`), 200)}
                  </button>
                )
                : oneLine(plain(`${field}: ${value}`), 200)}
            </th>
            <td className="number">{percent(share)}</td>
            <td className="number">{percent(share_of_others)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** The name of an attribute may have dots. */
const clauseOf = (field: string, value: string) =>
  exactly(field.startsWith("@") ? attributeField([field.slice(1)]) : field, value);

export function Releases({ details: { releases, sampled_records } }: {
  details: ErrorGroupDetails;
}) {
  if (releases.length === 0) return null;
  return (
    <section className="block">
      <h2>{say("Releases")}</h2>
      <p className="about">{say("Of the newest {count} records.", { count: sampled_records })}</p>
      <Table
        label={say("Releases")}
        columns={[
          say("Release"),
          say("First seen"),
          say("Last seen"),
          { name: say("Records"), is: "number" },
        ]}
      >
        {releases.map(({ release, first_seen, last_seen, records }) => (
          <tr key={release}>
            <th scope="row">{plain(oneLine(release, 80))}</th>
            <td title={first_seen}>{ago(first_seen)}</td>
            <td title={last_seen}>{ago(last_seen)}</td>
            <td className="number">{count(records)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
