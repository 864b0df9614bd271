import { useState } from "react";
import { useChange } from "../service/operation-hooks.ts";
import type { TenantSettings } from "../service/logloom.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { SelectField, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";

type Rule = TenantSettings["retention_rules"][number];

/** The rules that keep some records for another time. They are saved as a whole. */
export function RetentionRules({ rules: saved }: { rules: Rule[] }) {
  const [edited, setEdited] = useState<Rule[] | null>(null);
  const save = useChange("set_retention_rules", [
    "get_tenant_settings",
    "list_tenant_audit_events",
  ]);
  const rules = edited ?? saved;
  const edit = (at: number, rule: Rule) => setEdited(rules.with(at, rule));
  return (
    <form
      className="block form"
      onSubmit={(event) => {
        event.preventDefault();
        // Edits made since are kept.
        const onSuccess = () => setEdited((now) => now === edited ? null : now);
        save.mutate({ p_rules: rules }, { onSuccess });
      }}
    >
      <h2>{say("Retention rules")}</h2>
      <p className="about">
        {say("The first rule that matches a record decides how many days it is kept.")}
      </p>
      {rules.map((rule, at) => (
        <div key={at} className="form-pair">
          <SelectField
            label={say("Level")}
            value={rule.level ?? ""}
            onChange={(level) => edit(at, { ...rule, level: level || null })}
          >
            <option value="">{say("all levels")}</option>
            {["debug", "info", "warn", "error"].map((level) => <option key={level}>{level}
            </option>)}
          </SelectField>
          <TextField
            label={say("Service (empty: all)")}
            maxLength={255}
            value={rule.service ?? ""}
            onChange={(service) => edit(at, { ...rule, service: service || null })}
          />
          <TextField
            label={say("Days")}
            type="number"
            min={1}
            required
            value={rule.days || ""}
            onChange={(days) => edit(at, { ...rule, days: Number(days) })}
          />
          <Button onClick={() => setEdited(rules.toSpliced(at, 1))}>{say("Remove")}</Button>
        </div>
      ))}
      <ErrorNote error={save.error} />
      <div className="row">
        <Button
          disabled={rules.length === 5}
          onClick={() => setEdited([...rules, { level: "debug", service: null, days: 3 }])}
        >
          {say("Add a rule")}
        </Button>
        <Button look="primary" type="submit" disabled={edited === null || save.isPending}>
          {say("Save the rules")}
        </Button>
      </div>
    </form>
  );
}
