import { createHash } from "node:crypto";
import type { CallDatabase } from "../_shared/database.ts";
import { logFailure } from "../_shared/errors.ts";
import type { SealBinding, SealedSecrets } from "../_shared/sealed_secrets.ts";

/** Secrets of alert rules are sealed for this purpose. */
export const purpose = "alert_rule";

/** Whose secret it is. A secret of one customer does not open for another, or for the tenant. */
export interface Owner {
  readonly tenant_id: string;
  readonly customer?: string | null;
}

const bindingOf = ({ tenant_id: tenantId, customer }: Owner): SealBinding => ({
  tenantId,
  purpose,
  customer,
});

/** Opens a secret, or returns one that was stored in plain text before there was a key. Undefined if it cannot be opened. */
export async function openSecret(
  secret: string,
  owner: Owner,
  secrets: SealedSecrets | undefined,
): Promise<string | undefined> {
  if (!secret.startsWith("lls1.")) return secret;
  return (await secrets?.open(secret, bindingOf(owner)))?.text;
}

interface Unsealed extends Owner {
  readonly rule_id: string;
  readonly secrets: readonly string[];
}

/**
 * Seals secrets that the database has in plain text, such as a webhook's new secret, and secrets that an older key
 * sealed. The database finds a secret by its digest, so that no plain secret is sent back.
 */
export async function sealAll(secrets: SealedSecrets, callDatabase: CallDatabase): Promise<void> {
  const [, keyId] = (await secrets.seal("", bindingOf({ tenant_id: "" }))).split(".");
  let after: string | undefined;
  for (;;) {
    const answer = await callDatabase(
      "list_unsealed_alert_secrets",
      JSON.stringify({ p_key_id: keyId, p_after: after }),
    );
    if (!answer.ok) return;
    const found = JSON.parse(answer.value) as Unsealed[];
    for (const rule of found) {
      for (const secret of rule.secrets) {
        const text = await openSecret(secret, rule, secrets);
        if (text === undefined) {
          logFailure("a secret of an alert rule was sealed by an unknown key", {});
          continue;
        }
        await callDatabase(
          "seal_alert_secret",
          JSON.stringify({
            p_rule_id: rule.rule_id,
            p_digest: createHash("sha256").update(secret).digest("hex"),
            p_sealed: await secrets.seal(text, bindingOf(rule)),
          }),
        );
      }
    }
    if (found.length === 0) return;
    after = found[found.length - 1].rule_id;
  }
}
