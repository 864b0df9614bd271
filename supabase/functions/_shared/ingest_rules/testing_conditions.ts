/** A term of the query language, its compiled test, records that it finds, and records that it does not. */
export type Case = readonly [term: string, test: string, found: string, others: string];

/** The cases, their parts divided by two blanks. */
const table = String.raw`
service:api  {"f":"service","op":"=","value":"api"}  [{"service":"api"}]  [{"service":"API"},{}]
-env:a  {"f":"env","op":"=","value":"a","not":true}  [{},{"env":"A"}]  [{"env":"a"}]
host:web-?  {"f":"host","op":"~","value":"web-?"}  [{"host":"web-1"},{"host":"web-😀"}]  [{"host":"web-12"}]
route:/a*b*c  {"f":"route","op":"~","value":"/a*b*c"}  [{"route":"/abxbc"},{"route":"/a\nbc"}]  [{"route":"/acb"}]
env:\*?  {"f":"env","op":"~","value":"\\*?"}  [{"env":"*a"}]  [{"env":"ba"},{"env":"*"}]
env:*  {"f":"env","op":"~","value":"*"}  [{"env":""},{"env":"a"}]  [{}]
level:>=warn  {"f":"level","op":">=","value":"warn"}  [{"level":"warn"},{"level":"error"}]  [{"level":"info"},{}]
level:<warn  {"f":"level","op":"<","value":"warn"}  [{"level":"debug"},{"level":"info"}]  [{"level":"warn"},{}]
level:error  {"f":"level","op":"=","value":"error"}  [{"level":"error"}]  [{"level":"warn"}]
TIME  {"op":"has","value":"TIME"}  [{"msg":"a timeout"}]  [{"msg":"tim e"},{"env":"time"},{}]
tri*s?i  {"op":"has","value":"tri*s?i"}  [{"msg":"3 TRIES İ"},{"msg":"tris\nI"}]  [{"msg":"trisi"}]
"ΣΑΣ%"  {"op":"has","value":"ΣΑΣ%"}  [{"msg":"x σας%"}]  [{"msg":"σα"},{"msg":"σασ"}]
@n:502  {"a":"n","op":"=","value":502}  [{"attrs":{"n":502}},{"attrs":{"n":"502"}},{"attrs":{"n":[1,502]}}]  [{"attrs":{"n":"5e2"}},{"attrs":{"n":{"n":502}}},{"attrs":{"n":[[502]]}},{}]
@n:12345678901234567890.5  {"a":"n","op":"=","value":"12345678901234567890.5"}  [{"attrs":{"n":12345678901234567890.5}}]  [{"attrs":{"n":12345678901234567890}}]
@ok:true  {"a":"ok","op":"=","value":"true"}  [{"attrs":{"ok":true}}]  [{"attrs":{"ok":1}},{"attrs":{"ok":null}}]
@ip:10.*  {"a":"ip","op":"~","value":"10.*"}  [{"attrs":{"ip":"10.1"}},{"attrs":{"ip":[10.5]}}]  [{"attrs":{"ip":{}}}]
@x:*  {"a":"x","op":"~","value":"*"}  [{"attrs":{"x":{}}},{"attrs":{"x":[]}}]  [{"attrs":{"x":null}},{}]
@n:>500  {"a":"n","op":">","value":500}  [{"attrs":{"n":500.5}},{"attrs":{"n":"1e3"}}]  [{"attrs":{"n":500}},{"attrs":{"n":"501 ms"}},{"attrs":{"n":true}},{"attrs":{"n":[501]}},{}]
@n:<=-1.5  {"a":"n","op":"<=","value":-1.5}  [{"attrs":{"n":-1.5}},{"attrs":{"n":-2}}]  [{"attrs":{"n":-1}},{"attrs":{"n":null}}]
@toString:*  {"a":"toString","op":"~","value":"*"}  []  [{"attrs":{"x":1}}]
`;

export const conditions = table.trim().split("\n").map((line) =>
  line.split("  ") as unknown as Case
);
