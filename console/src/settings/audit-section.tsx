import { useState } from "react";
import { useOperation } from "../service/operation-hooks.ts";
import { ago } from "../shared/format-time.ts";
import { ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

/** The audit events of the tenant. */
export function AuditSection() {
  const [limit, setLimit] = useState(20);
  const events = useOperation("list_tenant_audit_events", { p_limit: limit }, { keep: true });
  return (
    <section className="block">
      <h2>{say("Audit")}</h2>
      <ListTable
        answer={events}
        empty={{ title: say("No changes yet") }}
        more={{ limit, onMore: () => setLimit(mostAtOnce) }}
        label={say("Audit")}
        columns={[say("When"), say("What"), say("Who"), say("Details")]}
      >
        {(event) => (
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
        )}
      </ListTable>
    </section>
  );
}
