import { useQueries } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Zone } from "../address/range.ts";
import { useChange, useHas, useService } from "../service/operation-hooks.ts";
import type { AlertDelivery, AlertRule } from "../service/logloom.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { deliveryState } from "./delivery-state.ts";
import { mailsTo } from "./rule-draft.ts";
import { say } from "../shared/translate.ts";

/** Says that an address is not confirmed, and takes the code from the email. */
export function ConfirmAddress({ rule, rules, email }: {
  rule: AlertRule;
  rules: AlertRule[];
  email: string;
}) {
  const { zone } = usePreferences();
  const hasDeliveries = useHas("list_alert_deliveries");
  const mail = useLastMail(hasDeliveries ? rules : [], email);
  // A customer does not see whether it was delivered.
  const isMailed = !hasDeliveries || mail !== undefined && mail.status === "delivered";
  const [code, setCode] = useState("");
  const confirm = useChange("confirm_alert_address", ["list_alert_addresses"]);
  const resend = useChange("test_alert_rule", ["list_alert_addresses", "list_alert_deliveries"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    resend.reset();
    confirm.mutate({ p_email: email, p_code: code });
  };
  return (
    <form className="confirm-address" onSubmit={submit}>
      <span className="field-error">
        {say("{email} gets no alerts until it is confirmed", { email: plain(email) })}
      </span>
      {isMailed
        ? (
          <>
            <input
              aria-label={say("Code mailed to {email}", { email })}
              placeholder={say("Code from the email")}
              inputMode="numeric"
              autoComplete="one-time-code"
              pattern="\s*[0-9]{6}\s*"
              title={say("Six digits")}
              required
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
            <button
              type="submit"
              className="button small"
              disabled={confirm.isPending}
            >
              {say("Confirm")}
            </button>
          </>
        )
        : mail && <MailNote mail={mail} zone={zone} />}
      <Button
        look="small"
        disabled={resend.isPending}
        onClick={() => {
          confirm.reset();
          resend.mutate({ p_rule_id: rule.rule_id });
        }}
      >
        {resend.isSuccess ? say("Requested") : isMailed ? say("New code") : say("Email a code")}
      </Button>
      <ErrorNote error={confirm.error ?? resend.error} />
    </form>
  );
}

/** Says why no code has arrived. */
function MailNote({ mail, zone }: { mail: AlertDelivery; zone: Zone }) {
  const { word, about } = deliveryState(mail, zone);
  if (mail.last_error === null) {
    return <span className="about">{say("Code: {state}", { state: say(word) })}</span>;
  }
  return (
    <span className="field-error">
      {say("The code could not be emailed: {error}", { error: plain(mail.last_error) })}
      {about !== null && <span className="about">, {about}</span>}
    </span>
  );
}

/** The last email with a code to the address, whichever rule sent it. */
function useLastMail(rules: AlertRule[], email: string): AlertDelivery | undefined {
  const service = useService();
  const address = email.toLowerCase();
  const asked = rules.filter((rule) => mailsTo(rule)?.toLowerCase() === address);
  const answers = useQueries({
    queries: asked.map(({ rule_id }) => {
      const parameters = { p_rule_id: rule_id, p_limit: 200 };
      return {
        queryKey: ["list_alert_deliveries", parameters],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          service.call("list_alert_deliveries", parameters, { signal }),
        refetchInterval: 5000,
      };
    }),
  });
  return answers.flatMap(({ data }) => data ?? [])
    .filter(({ purpose }) => purpose === "confirmation")
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at))[0];
}
