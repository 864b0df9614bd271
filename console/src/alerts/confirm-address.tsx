import { type FormEvent, useState } from "react";
import { useChange } from "../service/hooks.ts";
import { ErrorNote } from "../shared/controls.tsx";
import { plain } from "../shared/plain.ts";
import type { AlertRule } from "./rules.ts";

/** A rule whose address is not confirmed: says so, and takes the code that was mailed to it. */
export function ConfirmAddress({ rule, email }: { rule: AlertRule; email: string }) {
  const [code, setCode] = useState("");
  const confirm = useChange<{ p_email: string; p_code: string }>(
    "confirm_alert_address",
    ["list_alert_addresses"],
  );
  const resend = useChange<{ p_rule_id: string }>("test_alert_rule", [
    "list_alert_addresses",
    "list_alert_deliveries",
  ]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    resend.reset();
    confirm.mutate({ p_email: email, p_code: code });
  };
  return (
    <form className="confirm-address" onSubmit={submit}>
      <span className="field-error">
        {plain(email)} gets nothing before it is confirmed
      </span>
      <input
        aria-label={`Code that was mailed to ${email}`}
        placeholder="Code of the mail"
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="\s*[0-9]{6}\s*"
        title="Six digits"
        required
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
      <button
        type="submit"
        className="button small"
        disabled={confirm.isPending}
      >
        Confirm
      </button>
      <button
        type="button"
        className="button small"
        disabled={resend.isPending}
        onClick={() => {
          confirm.reset();
          resend.mutate({ p_rule_id: rule.rule_id });
        }}
      >
        {resend.isSuccess ? "Asked for" : "New code"}
      </button>
      <ErrorNote error={confirm.error ?? resend.error} />
    </form>
  );
}
