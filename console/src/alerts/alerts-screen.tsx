import { useState } from "react";
import { useAddress } from "../address/address.ts";
import { useChange, useOperation } from "../service/hooks.ts";
import { Confirm } from "../shared/confirm.tsx";
import { Badge, Empty, ErrorNote, ScreenHead, Skeleton } from "../shared/controls.tsx";
import { ago, measure } from "../shared/format.ts";
import { plain } from "../shared/plain.ts";
import { DeliveriesDialog } from "./deliveries-dialog.tsx";
import { RuleDialog } from "./rule-dialog.tsx";
import { type AlertRule, signs, stateOf } from "./rules.ts";

const touched = ["list_alert_rules", "check_plan_feature"];

export default function AlertsScreen() {
  const { parameters } = useAddress();
  const [edited, setEdited] = useState<Partial<AlertRule> | null>(
    parameters.q ? { query_dsl: parameters.q } : null,
  );
  const [doomed, setDoomed] = useState<AlertRule | null>(null);
  const [delivered, setDelivered] = useState<AlertRule | null>(null);
  const rules = useOperation<AlertRule[]>("list_alert_rules", { p_limit: 1000 }, { every: 30_000 });
  const plan = useOperation<{ maxCount: number; currentCount: number }>("check_plan_feature", {
    p_feature: "alerts",
  });
  const remove = useChange<{ p_rule_id: string }>("delete_alert_rule", touched);
  return (
    <div className="page">
      <ScreenHead
        title="Alert rules"
        about={plan.data && `${plan.data.currentCount} of ${plan.data.maxCount} in this plan`}
      >
        <button type="button" className="button primary" onClick={() => setEdited({})}>
          New rule
        </button>
      </ScreenHead>
      <ErrorNote error={rules.error} retry={() => void rules.refetch()} />
      {rules.isPending && !rules.error && <Skeleton />}
      {rules.data?.length === 0 && (
        <Empty title="No alert rules yet">
          <p>A rule counts what a query finds, every minute, and tells you when it is too much.</p>
        </Empty>
      )}
      {rules.data && rules.data.length > 0 && (
        <div className="table-scroll" tabIndex={0} role="region" aria-label="Alert rules">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Rule</th>
                <th scope="col">State</th>
                <th scope="col" className="number">Last value</th>
                <th scope="col">Fires when</th>
                <th scope="col">Looked at</th>
                <th scope="col">
                  <span className="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rules.data.map((rule) => (
                <RuleRow
                  key={rule.rule_id}
                  rule={rule}
                  onEdit={() => setEdited(rule)}
                  onDeliveries={() =>
                    setDelivered(rule)}
                  onDelete={() =>
                    setDoomed(rule)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {edited && <RuleDialog initial={edited} onClose={() => setEdited(null)} />}
      {delivered && <DeliveriesDialog rule={delivered} onClose={() => setDelivered(null)} />}
      {doomed && (
        <Confirm
          title="Delete the rule?"
          action="Delete"
          change={remove}
          parameters={{ p_rule_id: doomed.rule_id }}
          onClose={() => setDoomed(null)}
        >
          <strong>{plain(doomed.name)}</strong> is not looked at any more. Its history stays.
        </Confirm>
      )}
    </div>
  );
}

function RuleRow({ rule, onEdit, onDeliveries, onDelete }: {
  rule: AlertRule;
  onEdit: () => void;
  onDeliveries: () => void;
  onDelete: () => void;
}) {
  const state = stateOf(rule);
  return (
    <tr>
      <th scope="row">
        <button type="button" className="card-title" onClick={onEdit}>{plain(rule.name)}</button>
        <code className="cell-code">{plain(rule.query_dsl)}</code>
      </th>
      <td>
        <Badge tone={state.tone}>{state.word}</Badge>
        {rule.last_error && <span className="field-error">{plain(rule.last_error)}</span>}
      </td>
      <td className="number">{measure(rule.last_value)}</td>
      <td>
        {signs[rule.comparison]} {measure(rule.threshold)}{" "}
        <span className="about">in {rule.window_minutes} min</span>
      </td>
      <td>{rule.last_evaluated_at ? ago(rule.last_evaluated_at) : "–"}</td>
      <td className="tools">
        <button type="button" className="button small" onClick={onEdit}>Change</button>
        <button type="button" className="button small" onClick={onDeliveries}>Deliveries</button>
        <button type="button" className="button small danger" onClick={onDelete}>Delete</button>
      </td>
    </tr>
  );
}
