import { go } from "../address/address.ts";
import { clause } from "../language/edit-query.ts";
import { Badge, Button } from "../shared/basic-controls.tsx";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

const most = 8;

/** Hosts that have gone silent. A click opens a host's records. */
export function SilentHosts({ hosts, lately, range, part }: {
  /** Null: too many to compare. */
  hosts: string[] | null;
  /** When the last part of the range begins. */
  lately: string;
  range: { from: string; to: string };
  /** The last part of the range. */
  part: { from: string; to: string };
}) {
  if (hosts === null) {
    return (
      <p className="about">{say("Too many records or hosts to say which hosts are silent.")}</p>
    );
  }
  if (hosts.length === 0) return null;
  return (
    <section className="incident-strip" aria-label={say("Silent hosts")}>
      <ul>
        <li>
          <Badge tone="warn">{say("silent")}</Badge>
          {hosts.slice(0, most).map((host) => (
            <button
              key={host}
              type="button"
              className="card-title"
              onClick={() =>
                go({
                  screen: "search",
                  parameters: {
                    q: clause("host", host, "in"),
                    from: range.from,
                    to: range.to === "now" ? "" : range.to,
                  },
                })}
            >
              {plain(oneLine(host, 60))}
            </button>
          ))}
          {hosts.length > most && say("{count} more", { count: hosts.length - most })}
          <span className="about">
            {say("no record since {time}, unlike the day before", { time: lately })}
          </span>
          <Button
            look="small quiet"
            onClick={() =>
              go({ screen: "search", parameters: { ...part, tab: "changes", with: "day" } })}
          >
            {say("What changed?")}
          </Button>
        </li>
      </ul>
    </section>
  );
}
