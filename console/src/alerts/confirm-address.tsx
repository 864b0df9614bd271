import { useQueries } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Zone } from "../address/range.ts";
import { useChange, useService } from "../service/hooks.ts";
import type { AlertDelivery, AlertRule } from "../service/logloom.ts";
import { ErrorNote } from "../shared/controls.tsx";
import { plain } from "../shared/plain.ts";
import { usePreferences } from "../shared/preferences.ts";
import { standingOf } from "./deliveries.ts";
import { mailsTo } from "./rules.ts";
import { say } from "../shared/words.ts";

/** A rule with an unconfirmed address: says so, and takes the mailed code if there is one. */
export function ConfirmAddress({ rule, rules, email }: {
  rule: AlertRule;
  rules: AlertRule[];
  email: string;
}) {
  const { zone } = usePreferences();
  const mail = useLastMail(rules, email);
  const isMailed = mail !== undefined && mail.status === "delivered";
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
        {say("{email} gets nothing before it is confirmed", { email: plain(email) })}
      </span>
      {isMailed
        ? (
          <>
            <input
              aria-label={say("Code mailed to {email}", { email })}
              placeholder={say("Code of the mail")}
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
      <button
        type="button"
        className="button small"
        disabled={resend.isPending}
        onClick={() => {
          confirm.reset();
          resend.mutate({ p_rule_id: rule.rule_id });
        }}
      >
        {resend.isSuccess ? say("Asked for") : isMailed ? say("New code") : say("Mail a code")}
      </button>
      <ErrorNote error={confirm.error ?? resend.error} />
    </form>
  );
}

/** The reason why there is no code to type. */
function MailNote({ mail, zone }: { mail: AlertDelivery; zone: Zone }) {
  const { word, about } = standingOf(mail, zone);
  if (mail.last_error === null) {
    return <span className="about">{say("Its code: {state}", { state: say(word) })}</span>;
  }
  return (
    <span className="field-error">
      {say("Its code could not be mailed: {error}", { error: plain(mail.last_error) })}
      {about !== null && <span className="about">, {about}</span>}
    </span>
  );
}

/** The last mail with a code for the address, for any rule. */
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
