import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { HealthReport, LogloomError } from "../service/logloom.ts";
import { useService } from "../service/operation-hooks.ts";
import { Badge, Button, ScreenHead } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { bytes, count, seconds, took } from "../shared/format-number.ts";
import { Loaded, Table } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say, type Words } from "../shared/translate.ts";
import { concerns } from "./health-summary.ts";

const words: Record<HealthReport["status"], Words> = {
  healthy: "All is well",
  degraded: "It works, but something needs attention",
  unhealthy: "Something is down",
};

export function tone(status: unknown): "good" | "warn" | "bad" | "plain" {
  if (status === "healthy") return "good";
  if (status === "degraded") return "warn";
  return status === "unhealthy" ? "bad" : "plain";
}

export default function HealthScreen() {
  const service = useService();
  const health = useQuery<HealthReport, LogloomError>({
    queryKey: ["health"],
    queryFn: ({ signal }) => service.health(undefined, { signal }),
    refetchInterval: 5000,
    staleTime: 0,
  });
  const { data } = health;
  return (
    <div className="page">
      <ScreenHead
        title={say("Health")}
        about={data
          ? say("As of {when}; updated every five seconds.", { when: ago(data.timestamp) })
          : undefined}
      >
        {data && <Badge tone={tone(data.status)}>{data.status}</Badge>}
      </ScreenHead>
      <Loaded answer={health}>{(report) => <Checks report={report} />}</Loaded>
    </div>
  );
}

/** First what concerns tenants, then the internals for operators. */
function Checks({ report }: { report: HealthReport }) {
  const [isOpen, setOpen] = useState(report.status === "unhealthy");
  return (
    <>
      <p className={`verdict-line ${tone(report.status)}`}>
        {say(words[report.status])}
      </p>
      <div className="tiles">
        {concerns(report).map(({ title, words, tone }) => (
          <section className="tile" key={title}>
            <h2>{say(title)}</h2>
            <p>
              <Badge tone={tone}>{tone === "good" ? say("fine") : say("needs attention")}</Badge>
              {" "}
              {words}
            </p>
          </section>
        ))}
      </div>
      <Button look="small quiet more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {say("Internals, for operators")}
      </Button>
      {isOpen && <Internals report={report} />}
    </>
  );
}

function Internals({ report: { checks } }: { report: HealthReport }) {
  const { jobs, ...others } = checks;
  return (
    <>
      <div className="tiles">
        {Object.entries(others).map(([name, check]) => (
          <section className="tile" key={name}>
            <h2 className="capital">{name.replaceAll("_", " ")}</h2>
            <dl className="facts">
              {statusFirst(check ?? {}).map(([key, value]) => (
                <div key={key}>
                  <dt>
                    {key.replace(/_(seconds|ms)$|^seconds_/, "").replaceAll("_", " ")}
                  </dt>
                  <dd>{fact(key, value)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      {jobs && <Jobs jobs={jobs as Record<string, Job>} />}
    </>
  );
}

const statusFirst = (check: Record<string, unknown>) =>
  Object.entries(check).sort(([a], [b]) => Number(b === "status") - Number(a === "status"));

type Job = Record<"last_success" | "last_failure" | "status" | "reason", string | null>;

function Jobs({ jobs }: { jobs: Record<string, Job> }) {
  return (
    <section className="block">
      <h2>{say("Jobs")}</h2>
      <Table label={say("Jobs")} columns={[say("Job"), say("Last success"), say("Last failure")]}>
        {Object.entries(jobs).sort(([a], [b]) => a < b ? -1 : 1).map(([name, job]) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
              {job.status && job.status !== "healthy" && (
                <Badge tone={tone(job.status)}>{job.status}</Badge>
              )}
              {job.reason && <div>{plain(job.reason)}</div>}
            </th>
            <td>{ago(job.last_success)}</td>
            <td>{job.last_failure ? ago(job.last_failure) : say("none")}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** A value of the report as people read it. */
function fact(key: string, value: unknown) {
  if (key === "status") return <Badge tone={tone(value)}>{String(value)}</Badge>;
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") {
    return value ? say("yes") : say("no");
  }
  if (typeof value === "number") {
    if (key.endsWith("_seconds") || key.startsWith("seconds_")) return seconds(value);
    if (/(^|_)bytes($|_)/.test(key)) return bytes(value);
    return key.endsWith("_ms") ? took(value) : count(value);
  }
  if (typeof value === "string") {
    return /^\d{4}-\d\d-\d\dT/.test(value) ? ago(value) : plain(value);
  }
  if (Array.isArray(value) && value.length === 0) return say("none");
  return <code>{plain(JSON.stringify(value))}</code>;
}
