import { useState } from "react";
import { useOperation } from "../service/hooks.ts";
import { ErrorNote } from "../shared/controls.tsx";
import { ago } from "../shared/format.ts";
import { plain } from "../shared/plain.ts";

interface AuditEvent {
  event_id: string;
  occurred_at: string;
  actor: string;
  action: string;
  subject: string | null;
  details: Record<string, unknown>;
}

/** What was done to keys, members, settings, and which deletions were asked for. */
export function AuditSection() {
  const [limit, setLimit] = useState(20);
  const events = useOperation<AuditEvent[]>("list_audit_events", { p_limit: limit }, {
    keep: true,
  });
  return (
    <section className="block">
      <h2>Audit</h2>
      <ErrorNote error={events.error} />
      {events.data?.length === 0 && <p className="about">Nothing was changed yet.</p>}
      {events.data && events.data.length > 0 && (
        <div className="table-scroll" tabIndex={0} role="region" aria-label="Audit">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">What</th>
                <th scope="col">Who</th>
                <th scope="col">Details</th>
              </tr>
            </thead>
            <tbody>
              {events.data.map((event) => (
                <tr key={event.event_id}>
                  <td title={event.occurred_at}>{ago(event.occurred_at)}</td>
                  <th scope="row">{event.action}</th>
                  <td>
                    <code title={event.actor}>{plain(event.actor).slice(0, 8)}</code>
                  </td>
                  <td className="details-cell">
                    <code>{plain(JSON.stringify(event.details)).slice(0, 160)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {events.data?.length === limit && (
        <button
          type="button"
          className="button small"
          onClick={() => setLimit(1000)}
        >
          Show more
        </button>
      )}
    </section>
  );
}
