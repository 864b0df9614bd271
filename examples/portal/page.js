import "./viewer.js";

const viewer = document.querySelector("logloom-viewer");

// Called at the start, a minute before a token ends, and when one is refused.
viewer.getToken = async () => {
  const response = await fetch(`/token?part=${viewer.getAttribute("part")}`, { method: "POST" });
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  return await response.json(); // { token, expires_at }
};

viewer.addEventListener("error", ({ detail }) => console.warn(detail.message));

// The query is part of the page's own address, so that it can be sent to a colleague.
viewer.setAttribute("query", new URLSearchParams(location.hash.slice(1)).get("q") ?? "");
viewer.addEventListener("query-changed", ({ detail }) => {
  history.replaceState(null, "", `#${new URLSearchParams({ q: detail.query })}`);
});
