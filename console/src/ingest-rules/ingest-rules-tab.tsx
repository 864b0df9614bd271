import { type MouseEvent, useLayoutEffect, useRef, useState } from "react";
import {
  detailOf,
  writtenOf,
} from "../../../supabase/functions/_shared/ingest_rules/written_action.ts";
import { useMay } from "../service/roles.ts";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { IngestRule, IngestRuleHour } from "../service/logloom.ts";
import { Badge, Button, ErrorNote } from "../shared/basic-controls.tsx";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { bytes } from "../shared/format-number.ts";
import { actions, ListTable } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { actionNames } from "./action-fields.tsx";
import { IngestRuleDialog, touched } from "./ingest-rule-dialog.tsx";

type Press = MouseEvent<HTMLElement>;

/** The ingest rules in their order, and what each did. Only admins change them. */
export function IngestRulesTab() {
  const [edited, setEdited] = useState<Partial<IngestRule> | null>(null);
  const [toDelete, setToDelete] = useState<IngestRule | null>(null);
  const mayChange = useMay("admin") === true;
  const rules = useOperation("list_ingest_rules", {});
  const list = rules.data ?? [];
  const usage = useOperation("get_tenant_usage", {}, { enabled: list.length > 0, every: 60_000 });
  const remove = useChange("delete_ingest_rule", touched);
  const order = useChange("order_ingest_rules", touched);
  const update = useChange("update_ingest_rule", touched);
  const pressed = useRef<HTMLElement | null>(null);
  // A row that moves loses the focus.
  useLayoutEffect(() => {
    pressed.current?.focus();
    pressed.current = null;
  }, [rules.data]);
  const move = (from: number, to: number) => (event: Press) => {
    const ids = list.map(({ rule_id }) => rule_id);
    if (to < 0 || to >= ids.length || order.isPending) return;
    pressed.current = event.currentTarget;
    ids.splice(to, 0, ...ids.splice(from, 1));
    order.mutate({ p_rule_ids: ids });
  };
  return (
    <>
      <div className="tab-head">
        <p className="about">
          {say("Rules change or remove events before they are stored, from first to last.")}
        </p>
        {mayChange && (
          <Button look="primary" onClick={() => setEdited({})}>{say("New rule")}</Button>
        )}
      </div>
      <ErrorNote error={order.error ?? update.error} />
      <ListTable
        answer={rules}
        empty={{
          title: say("No ingest rules yet"),
          about: say("Mask secrets, drop or sample events that nobody reads, add attributes."),
        }}
        label={say("Ingest rules")}
        columns={[say("Rule"), say("State"), say("Last 24 hours"), ...mayChange ? [actions] : []]}
      >
        {(rule) => {
          const { rule_id: p_rule_id, is_on, action } = rule;
          const [name, at] = [plain(rule.name), list.indexOf(rule)];
          return (
            <tr key={p_rule_id}>
              <th scope="row">
                <button
                  type="button"
                  className="card-title"
                  disabled={!mayChange}
                  onClick={() => setEdited(rule)}
                >
                  {name}
                </button>{" "}
                <span className="about">
                  {say(actionNames[writtenOf(action).type])} {plain(detailOf(action))}
                </span>
                <code className="cell-code">{plain(rule.condition ?? say("All events"))}</code>
              </th>
              <td>
                <Badge tone={is_on ? "good" : "plain"}>{is_on ? say("on") : say("off")}</Badge>
              </td>
              <td>{usage.data ? countWords(usage.data.rules, p_rule_id) : "–"}</td>
              {mayChange && (
                <td className="tools">
                  {tool("↑", move(at, at - 1), say("Move up: {name}", { name }))}
                  {tool("↓", move(at, at + 1), say("Move down: {name}", { name }))}
                  {tool(
                    is_on ? say("Turn off") : say("Turn on"),
                    () => update.mutate({ p_rule_id, p_is_on: !is_on }),
                  )}
                  <Button look="small danger" onClick={() => setToDelete(rule)}>
                    {say("Delete")}
                  </Button>
                </td>
              )}
            </tr>
          );
        }}
      </ListTable>
      {edited && (
        <IngestRuleDialog
          initial={edited}
          hasKey={list.some(({ action }) => action.hash === true)}
          onClose={() => setEdited(null)}
        />
      )}
      {toDelete && (
        <Confirm
          title={say("Delete the ingest rule?")}
          action={say("Delete")}
          change={remove}
          parameters={{ p_rule_id: toDelete.rule_id }}
          onClose={() => setToDelete(null)}
        >
          {say("{rule} no longer applies to new events.", { rule: plain(toDelete.name) })}
        </Confirm>
      )}
    </>
  );
}

const tool = (words: string, onClick: (event: Press) => void, label?: string) => (
  <Button look="small" aria-label={label} onClick={onClick}>{words}</Button>
);

type Count = Exclude<keyof IngestRuleHour, "rule_id" | "hour">;

function countWords(hours: readonly IngestRuleHour[], id: string): string {
  const sum = (name: Count) =>
    hours.reduce((total, hour) => hour.rule_id === id ? total + hour[name] : total, 0);
  const words: [Count, string][] = [
    ["masked", say("{count} masked", { count: sum("masked") })],
    ["dropped", say("{count} dropped", { count: sum("dropped") })],
    ["sampled", say("{count} sampled out", { count: sum("sampled") })],
    ["not_checked", say("{count} not checked", { count: sum("not_checked") })],
    ["bytes", say("{size} saved", { size: bytes(sum("bytes")) })],
  ];
  return [
    say("{matched} of {seen} matched", { matched: sum("matched"), seen: sum("seen") }),
    ...words.filter(([name]) => sum(name) > 0).map(([, said]) => said),
  ].join(" · ");
}
