import type { At } from "./command.ts";
import { day, today } from "./tenant_model.ts";

/** Returns some consecutive days of a tenant that are over. */
export function pastDays({ known }: At, first: number, count: number): string[] {
  const all = [...new Set(known.records.map(({ ts }) => Math.floor(ts / day) * day))]
    .filter((one) => one < today()).toSorted((a, b) => a - b);
  if (all.length === 0) return [];
  const from = first % all.length;
  return all.slice(from, from + count).map((one) => new Date(one).toISOString().slice(0, 10));
}

/** Returns SQL that seals days of a tenant as the job seal_logs does. merges: also merges small blocks. */
export function sealSql(tenantId: string, days: string[], merges: boolean): string {
  const together = days.length > 1;
  const list = `'{${days.join(",")}}'::date[]`;
  return `do $seal$ begin
    perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
    loop
      exit when logloom_private.seal_block('${tenantId}', ${list}) = 0;
    end loop;
    ${
    merges
      ? `perform logloom_private.merge_small_blocks(
          '${tenantId}', logloom_private.span_start('${days[0]}', ${together ? 7 : 1}),
          ${together ? 7 : 1}, ${together}
        );`
      : ""
  }
    perform logloom_private.leave_days(array['${tenantId}'], ${list});
  end $seal$`;
}

export async function sealOf(at: At, first: number, what: "seal" | "unseal"): Promise<void> {
  const [one] = pastDays(at, first, 1);
  if (one === undefined) return;
  const tenantId = at.real.owner.id;
  await at.service.asOwner(
    what === "seal"
      ? sealSql(tenantId, [one], false)
      : `select logloom_private.unseal_day('${tenantId}', '${one}')`,
  );
}
