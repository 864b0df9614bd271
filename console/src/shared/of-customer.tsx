import { Badge } from "./basic-controls.tsx";
import { plain } from "./safe-text.ts";
import { say } from "./translate.ts";

/** Marks what a customer made, which only that customer changes. */
export function OfCustomer({ customer }: { customer: string | null }) {
  return (
    <Badge tone="info">{say("Customer {customer}", { customer: plain(customer ?? "") })}</Badge>
  );
}
