/** The singular of sentences that depend on the value `count`. */
export const singular: Readonly<Record<string, string>> = {
  "Delete {count} records": "Delete {count} record",
  "In {count} windows there are too many groups, or their names are too long: the rule does not fire there":
    "In one window there are too many groups, or their names are too long: the rule does not fire there",
  "more than {count} records": "more than {count} record",
  "On its way to {count} destinations: see its deliveries.":
    "On its way to {count} destination: see its deliveries.",
  "{count} days": "{count} day",
  "{count} errors": "{count} error",
  "{count} errors of {service}": "{count} error of {service}",
  "{count} files": "{count} file",
  "{count} gaps": "{count} gap",
  "{count} groups": "{count} group",
  "{count} patterns": "{count} pattern",
  "{count} records": "{count} record",
  "{count} records of a batch": "{count} record of a batch",
  "{count} records over time, by level": "{count} record over time, by level",
  "{count} records, compared with {before} from {from} to {to}.":
    "{count} record, compared with {before} from {from} to {to}.",
  "{count} rules are watching.": "{count} rule is watching.",
  "{count} services": "{count} service",
  "{count} times": "once",
  "{done} of {count} files": "{done} of {count} file",
  "{part} of {count} groups": "{part} of {count} group",
  "{part} of {count} patterns": "{part} of {count} pattern",
  "{part} of {count} records": "{part} of {count} record",
  "{part} of {count} services": "{part} of {count} service",
};
