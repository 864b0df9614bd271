import fc from "fast-check";
import type { RealTenant, Service } from "./service.ts";
import type { Model, TenantModel } from "./tenant_model.ts";

export type ModelCommand = fc.AsyncCommand<Model, Service>;

/** A tenant, in the model and on the stack. */
export interface At {
  known: TenantModel;
  real: RealTenant;
  model: Model;
  service: Service;
}

/** The number of commands that ran in this process, and the time after which the rest of a run is skipped. */
export const ran = { commands: 0, until: Infinity };

/** A repeated run prints each command. */
const isTold = Deno.env.has("MODEL_SEED") && !Deno.env.has("MODEL_SECONDS");

/** Makes a command on one of the tenants with drawn values. A counterexample shows its name and values. */
export function command<Drawn extends Record<string, fc.Arbitrary<unknown>>>(
  name: string,
  drawn: Drawn,
  run: (at: At, values: { [Key in keyof Drawn]: Value<Drawn[Key]> }) => Promise<void>,
): fc.Arbitrary<ModelCommand> {
  return fc.record({ tenant: fc.nat(1), values: fc.record(drawn) }).map(
    ({ tenant, values }): ModelCommand => {
      const shown = `${name}(${tenant}, ${JSON.stringify(values)})`;
      return {
        check: () => performance.now() < ran.until,
        run: (model, service) => {
          ran.commands += 1;
          if (isTold) console.log(`${new Date().toISOString()} ${shown}`);
          const at = {
            known: model.tenants[tenant],
            real: service.tenants[tenant],
            model,
            service,
          };
          return run(at, values as { [Key in keyof Drawn]: Value<Drawn[Key]> });
        },
        toString: () => shown,
      };
    },
  );
}

type Value<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Of> ? Of : never;
