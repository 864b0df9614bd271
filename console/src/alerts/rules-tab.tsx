import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { useAddress } from "../address/address.ts";
import { useChange, useHas, useOperation } from "../service/operation-hooks.ts";
import type { AlertRule } from "../service/logloom.ts";
import { useIsCustomer } from "../service/roles.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { Badge, Button } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { measure, minutes } from "../shared/format-number.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { OfCustomer } from "../shared/of-customer.tsx";
import { ConfirmAddress } from "./confirm-address.tsx";
import { DeliveriesDialog } from "./deliveries-dialog.tsx";
import { mailsTo, stateOf } from "./rule-draft.ts";
import { signs } from "../shared/comparison-signs.ts";
import { say } from "../shared/translate.ts";

const touched = ["list_alert_rules", "check_plan_feature", "list_alert_addresses"] as const;

/** The rules with their state. */
export function RulesTab({ onEdit }: { onEdit: (rule: AlertRule) => void }) {
  const [toDelete, setToDelete] = useState<AlertRule | null>(null);
  const [delivered, setDelivered] = useState<AlertRule | null>(null);
  const rules = useOperation("list_alert_rules", { p_limit: mostAtOnce }, { every: 30_000 });
  const plan = useOperation("check_plan_feature", { p_feature: "alerts" }, {
    enabled: useHas("check_plan_feature"),
  });
  const addresses = useOperation("list_alert_addresses", {
    p_limit: mostAtOnce,
  }, { every: 30_000 });
  const unconfirmed = new Set(
    addresses.data?.filter(({ confirmed }) => !confirmed).map(({ email }) => email),
  );
  const remove = useChange("delete_alert_rule", touched);
  const madeId = useAddress().parameters.rule;
  const made = rules.data?.find(({ rule_id }) => rule_id === madeId);
  return (
    <>
      {made && (
        <p className="note good" role="status">
          {say("The rule {rule} was created. It is evaluated every minute.", {
            rule: plain(made.name),
          })}
        </p>
      )}
      {plan.data && (
        <p className="about">
          {say("{used} of {most} in this plan", {
            used: plan.data.currentCount,
            most: plan.data.maxCount,
          })}
        </p>
      )}
      <ListTable
        answer={rules}
        empty={{
          title: say("No alert rules yet"),
          about: say(
            "A rule evaluates a query every minute and notifies you when its value crosses a threshold.",
          ),
        }}
        label={say("Alert rules")}
        columns={[
          say("Rule"),
          say("State"),
          { name: say("Last value"), is: "number" },
          say("Fires when"),
          say("Last evaluated"),
          actions,
        ]}
      >
        {(rule) => (
          <RuleRow
            key={rule.rule_id}
            rule={rule}
            unconfirmed={unconfirmed}
            rules={rules.data ?? []}
            onEdit={() => onEdit(rule)}
            onDeliveries={() => setDelivered(rule)}
            onDelete={() => setToDelete(rule)}
          />
        )}
      </ListTable>
      {delivered && (
        <DeliveriesDialog
          rule={delivered}
          onClose={() => setDelivered(null)}
        />
      )}
      {toDelete && (
        <Confirm
          title={say("Delete the rule?")}
          action={say("Delete")}
          change={remove}
          parameters={{ p_rule_id: toDelete.rule_id }}
          onClose={() => setToDelete(null)}
        >
          <Sentence
            text="{rule} is no longer evaluated. Its history is kept."
            values={{ rule: plain(toDelete.name) }}
            strong
          />
        </Confirm>
      )}
    </>
  );
}

function RuleRow({ rule, rules, unconfirmed, onEdit, onDeliveries, onDelete }: {
  rule: AlertRule;
  rules: AlertRule[];
  unconfirmed: ReadonlySet<string>;
  onEdit: () => void;
  onDeliveries: () => void;
  onDelete: () => void;
}) {
  const state = stateOf(rule);
  const email = mailsTo(rule);
  const hasDeliveries = useHas("list_alert_deliveries");
  const isCustomer = useIsCustomer();
  const isOfOther = !isCustomer && rule.customer !== null;
  const isFixed = isOfOther || isCustomer && (rule.held_at ?? rule.paused_at) !== null;
  return (
    <tr>
      <th scope="row">
        {isFixed ? plain(rule.name) : (
          <button type="button" className="card-title" onClick={onEdit}>
            {plain(rule.name)}
          </button>
        )} {isOfOther && <OfCustomer customer={rule.customer} />}
        <code className="cell-code">
          {rule.kind === "new_error" && rule.query_dsl === "*" ? "" : plain(rule.query_dsl)}
        </code>
        {!isOfOther && email !== null && unconfirmed.has(email.toLowerCase()) && (
          <ConfirmAddress rule={rule} rules={rules} email={email} />
        )}
      </th>
      <td>
        <Badge tone={state.tone}>{say(state.word)}</Badge>
        {rule.last_error && <span className="field-error">{plain(rule.last_error)}</span>}
        {rule.late_seconds >= 120 && (
          <span className="field-error">
            {say("{span} late", { span: minutes(Math.round(rule.late_seconds / 60)) })}
          </span>
        )}
      </td>
      <td className="number">{rule.kind === "query" ? measure(rule.last_value) : "–"}</td>
      <td>
        {rule.kind === "new_error"
          ? say("an error is new or came back")
          : rule.baseline
          ? say("{sign} {number} deviations from usual", {
            sign: signs[rule.comparison],
            number: measure(rule.threshold),
          })
          : `${signs[rule.comparison]} ${measure(rule.threshold)}`}{" "}
        {rule.kind === "query" && (
          <span className="about">
            {say("in {span}", { span: minutes(rule.window_minutes) })}
          </span>
        )}
      </td>
      <td>{rule.last_evaluated_at ? ago(rule.last_evaluated_at) : "–"}</td>
      <td className="tools">
        {!isFixed && <Button look="small" onClick={onEdit}>{say("Change")}</Button>}
        {hasDeliveries && <Button look="small" onClick={onDeliveries}>{say("Deliveries")}</Button>}
        {!(isCustomer && rule.held_at !== null) && (
          <Button look="small danger" onClick={onDelete}>{say("Delete")}</Button>
        )}
      </td>
    </tr>
  );
}
