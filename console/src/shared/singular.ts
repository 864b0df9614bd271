/** Sentences whose words depend on the value `count`, with what they are for one. */
export const singular: Readonly<Record<string, string>> = {
  "Delete {count} records": "Delete {count} record",
  "In {count} windows groups are too many or too long; the rule fires for none there":
    "In one window groups are too many or too long; the rule fires for none there",
  "more than {count} records": "more than {count} record",
  "On its way to {count} destinations: see its deliveries.":
    "On its way to {count} destination: see its deliveries.",
  "{count} days": "{count} day",
  "{count} errors of {service}": "{count} error of {service}",
  "{count} files": "{count} file",
  "{count} gaps": "{count} gap",
  "{count} groups": "{count} group",
  "{count} patterns": "{count} pattern",
  "{count} records": "{count} record",
  "{count} records of a batch": "{count} record of a batch",
  "{count} records over time, by level": "{count} record over time, by level",
  "{count} records, after {before} from {from} to {to}.":
    "{count} record, after {before} from {from} to {to}.",
  "{count} services": "{count} service",
  "{count} times": "once",
  "{done} of {count} files": "{done} of {count} file",
  "{part} of {count} groups": "{part} of {count} group",
  "{part} of {count} patterns": "{part} of {count} pattern",
  "{part} of {count} records": "{part} of {count} record",
  "{part} of {count} services": "{part} of {count} service",
};
