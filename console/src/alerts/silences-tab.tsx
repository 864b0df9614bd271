import { useState } from "react";
import { wholeTime } from "../address/range.ts";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { AlertRule, AlertSilence } from "../service/logloom.ts";
import { Badge, Button, ErrorNote } from "../shared/basic-controls.tsx";
import { ago, type Zone } from "../shared/format-time.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { recurrenceText } from "./recurrence-fields.tsx";
import { SilenceDialog } from "./silence-dialog.tsx";

const tones = { scheduled: "info", active: "warn", expired: "plain" } as const;

/** The silences: times in which alerts are not sent. */
export function SilencesTab() {
  const { zone } = usePreferences();
  const [isNew, setNew] = useState(false);
  const silences = useOperation("list_alert_silences", { p_limit: mostAtOnce }, { every: 30_000 });
  const rules = useOperation("list_alert_rules", { p_limit: mostAtOnce });
  const expire = useChange("expire_alert_silence", ["list_alert_silences"]);
  return (
    <>
      <div className="tab-head">
        <p className="about">
          {say(
            "Alerts raised during a silence are never sent. Rules are still evaluated.",
          )}
        </p>
        <Button look="primary" onClick={() => setNew(true)}>{say("New silence")}</Button>
      </div>
      <ErrorNote error={expire.error} />
      <ListTable
        answer={silences}
        empty={{
          title: say("No silences"),
          about: say("Create one before a deployment or maintenance."),
        }}
        label={say("Silences")}
        columns={[say("For"), say("State"), say("From"), say("To"), say("Comment"), actions]}
      >
        {(silence) => (
          <tr key={silence.silence_id}>
            <th scope="row">{whatOf(silence, rules.data ?? [])}</th>
            <td>
              <Badge tone={tones[silence.state]}>{say(silence.state)}</Badge>
            </td>
            <td title={wholeTime(silence.starts_at, zone)}>{ago(silence.starts_at)}</td>
            <EndCell end={silence.expired_at ?? silence.ends_at} zone={zone} />
            <td>{silence.comment === null ? "–" : plain(silence.comment)}</td>
            <td className="tools">
              {silence.state !== "expired" && (
                <Button
                  look="small"
                  disabled={expire.isPending}
                  onClick={() => expire.mutate({ p_silence_id: silence.silence_id })}
                >
                  {say("End now")}
                </Button>
              )}
            </td>
          </tr>
        )}
      </ListTable>
      {isNew && <SilenceDialog rules={rules.data ?? []} onClose={() => setNew(false)} />}
    </>
  );
}

function EndCell({ end, zone }: { end: string | null; zone: Zone }) {
  return end === null ? <td>–</td> : <td title={wholeTime(end, zone)}>{ago(end)}</td>;
}

function whatOf({ matcher: { rule_id, group }, recurrence }: AlertSilence, rules: AlertRule[]) {
  const name = rules.find((one) => one.rule_id === rule_id)?.name;
  return (
    <>
      {rule_id === undefined ? say("All rules") : plain(name ?? rule_id)}
      {group && (
        <code className="cell-code">
          {Object.entries(group).map(([field, value]) => plain(`${field}=${value ?? ""}`)).join(
            ", ",
          )}
        </code>
      )}
      {recurrence && <small className="cell-code">{recurrenceText(recurrence)}</small>}
    </>
  );
}
