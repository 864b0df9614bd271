import { useState } from "react";
import { change, useAddress } from "../address/address.ts";
import { AuditEvents } from "../settings/audit-tab.tsx";
import { ScreenHead } from "../shared/basic-controls.tsx";
import { TextField } from "../shared/form-fields.tsx";
import { say, type Words } from "../shared/translate.ts";
import { useLater } from "../shared/use-debounced.ts";

const filters = {
  action: "Action, such as invoices.*",
  from: "From, such as now-7d",
  to: "To",
} as const satisfies Record<string, Words>;

/** The events of the audit trail that name the customer. */
export default function AuditPart() {
  const { parameters } = useAddress();
  const { action, from, to } = useLater(parameters);
  // The host's range is no filter of the customer.
  const [given] = useState(parameters);
  return (
    <div className="page">
      <ScreenHead title={say("Audit")} />
      <div className="form-pair">
        {Object.entries(filters).map(([name, label]) => (
          <TextField
            key={name}
            label={say(label)}
            spellCheck={false}
            value={parameters[name] ?? ""}
            onChange={(text) => change({ [name]: text }, { replace: true })}
          />
        ))}
      </div>
      <AuditEvents
        asked={{ p_action: action, p_ts_from: from, p_ts_to: to }}
        isFiltered={Object.keys(filters).some((name) =>
          (parameters[name] ?? "") !== (given[name] ?? "")
        )}
      />
    </div>
  );
}
