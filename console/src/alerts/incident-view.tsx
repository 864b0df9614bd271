import { useState } from "react";
import { change, go } from "../address/address.ts";
import { deliveryState } from "./delivery-state.ts";
import { signs } from "../shared/comparison-signs.ts";
import { useChange, useHas, useOperation } from "../service/operation-hooks.ts";
import type { AlertDelivery, AlertIncidentDetails } from "../service/logloom.ts";
import { useIsCustomer, useNameOf } from "../service/roles.ts";
import { Badge, Button, Empty, ErrorNote, ScreenHead } from "../shared/basic-controls.tsx";
import { FactList } from "../shared/fact-list.tsx";
import { ago, shortTime } from "../shared/format-time.ts";
import { count, measure, minutes } from "../shared/format-number.ts";
import { Loaded, Table } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { errorOf } from "../shared/group-label.ts";
import { goToError, GroupBadges, IncidentState } from "../shared/incident-parts.tsx";
import { AnswerForm } from "../shared/answer-form.tsx";
import { IncidentEvidence } from "./incident-evidence.tsx";
import { IncidentChart } from "./incident-chart.tsx";
import { rangeOf, recordsOf, resolutions } from "./incident-query.ts";

/** An incident: its chart, assignee and note, what its records say, the deliveries, and each time it fired. */
export function IncidentView({ id }: { id: string }) {
  const answer = useOperation("get_alert_incident", { p_incident_id: id }, { every: 15_000 });
  return (
    <div className="page">
      <Loaded
        answer={answer}
        missing={<Empty title={say("This incident does not exist")}>{back()}</Empty>}
      >
        {(incident) => <IncidentPage incident={incident} />}
      </Loaded>
    </div>
  );
}

const back = () => <Button onClick={() => change({ incident: "" })}>{say("All incidents")}</Button>;
const touched = [
  "list_alert_incidents",
  "get_alert_incident",
  "list_alert_history",
  "list_audit_events",
] as const;

function IncidentPage({ incident }: { incident: AlertIncidentDetails }) {
  const update = useChange("update_alert_incident", touched);
  const answer = useChange("update_alert_incident", touched);
  // The chart is updated, but the lists below it stay as they were read.
  const [readAt] = useState(() => Date.now());
  const range = rangeOf(incident, Math.floor(Date.now() / 60_000) * 60_000);
  const hasSearch = useHas("search_logs");
  const records = hasSearch ? recordsOf(incident) : null;
  const error = errorOf(incident.group);
  return (
    <>
      <ScreenHead
        title={plain(incident.rule_name)}
        about={
          <>
            <IncidentState incident={incident} /> <GroupBadges group={incident.group} />{" "}
            {!(error && incident.query_dsl === "*") && (
              <code>{plain(incident.query_dsl ?? "")}</code>
            )}
          </>
        }
      >
        {back()}
        {error && hasSearch && <Button onClick={() => goToError(error)}>{say("The error")}</Button>}
        {records !== null && (
          <Button onClick={() => go({ screen: "search", parameters: { q: records, ...range } })}>
            {say("Records")}
          </Button>
        )}
        <button
          type="button"
          className={incident.state === "open" ? "button primary" : "button"}
          disabled={update.isPending}
          onClick={() =>
            update.mutate({
              p_incident_ids: [incident.incident_id],
              p_acknowledged: incident.acknowledged_at === null,
            })}
        >
          {incident.acknowledged_at === null ? say("Acknowledge") : say("Take back")}
        </button>
      </ScreenHead>
      <ErrorNote error={update.error} />
      {hasSearch && <IncidentChart incident={incident} range={range} />}
      <div className="incident-columns">
        <Facts incident={incident} />
        {!useIsCustomer() && (
          <AnswerForm
            key={incident.incident_id}
            subject={incident}
            update={answer}
            parametersOf={(part) => ({ p_incident_ids: [incident.incident_id], ...part })}
          />
        )}
      </div>
      {records !== null && <IncidentEvidence query={records} range={rangeOf(incident, readAt)} />}
      <Deliveries deliveries={incident.deliveries} />
      <Alerts incident={incident} />
    </>
  );
}

function Facts({ incident }: { incident: AlertIncidentDetails }) {
  const { zone } = usePreferences();
  const { acknowledged_by: by, resolution } = incident;
  const end = resolution && endOf(incident, resolution);
  const nameOf = useNameOf([by]);
  const when = (ts: string) => `${shortTime(Date.parse(ts), zone)} (${ago(ts)})`;
  const acknowledged = incident.acknowledged_at && when(incident.acknowledged_at);
  const facts: [string, string][] = [
    [say("Open since"), when(incident.opened_at)],
    [say("Last fired"), `${when(incident.last_fired_at)}, ${count(incident.fired_count)}×`],
    errorOf(incident.group) ? [say("Records"), count(incident.value)] : [
      say("Value"),
      say("{value}, peak {peak} ({threshold} in {span})", {
        value: measure(incident.value),
        peak: measure(incident.peak_value),
        threshold: `${incident.comparison ? signs[incident.comparison] : ""} ${
          measure(incident.threshold)
        }`,
        span: minutes(incident.window_minutes),
      }),
    ],
    [
      say("Acknowledged"),
      acknowledged === null
        ? say("by nobody yet")
        : by === null
        ? acknowledged
        : say("{when} by {user}", { when: acknowledged, user: nameOf(by) }),
    ],
    [
      say("Resolved"),
      incident.resolved_at === null
        ? say("not yet")
        : when(incident.resolved_at) + (end ? `: ${end}` : ""),
    ],
  ];
  return <FactList facts={facts} className="incident-facts" />;
}

const endOf = ({ group }: AlertIncidentDetails, resolution: keyof typeof resolutions) =>
  errorOf(group) && resolution === "recovered"
    ? say("the error was resolved or ignored")
    : say(resolutions[resolution]);

function Alerts({ incident }: { incident: AlertIncidentDetails }) {
  const { zone } = usePreferences();
  return (
    <section className="block">
      <h2>{say("Each time it fired")}</h2>
      <Table
        label={say("Each time it fired")}
        columns={[say("When"), { name: say("Value"), is: "number" }]}
      >
        {incident.alerts.map((alert) => (
          <tr key={alert.alert_id}>
            <th scope="row">{shortTime(Date.parse(alert.triggered_at), zone)}</th>
            <td className="number">{measure(alert.value)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Deliveries({ deliveries }: { deliveries: AlertDelivery[] }) {
  const { zone } = usePreferences();
  return (
    <section className="block">
      <h2>{say("Notified")}</h2>
      {deliveries.length === 0 ? <p className="about">{say("Nobody")}</p> : (
        <Table
          label={say("Notified")}
          columns={[say("To"), say("Status"), say("Last answer"), say("When")]}
        >
          {deliveries.map((delivery) => {
            const { word, tone, about } = deliveryState(delivery, zone);
            return (
              <tr key={delivery.delivery_id}>
                <th scope="row">{delivery.channel}</th>
                <td>
                  <Badge tone={tone}>{say(word)}</Badge>{" "}
                  {about !== null && <span className="about">{about}</span>}
                </td>
                <td>{delivery.last_status ?? ""} {plain(delivery.last_error ?? "")}</td>
                <td>{ago(delivery.delivered_at ?? delivery.created_at)}</td>
              </tr>
            );
          })}
        </Table>
      )}
    </section>
  );
}
