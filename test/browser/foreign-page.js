// What a page of somebody else tries in the browser of a person whose daemon runs. Every attempt answers with what the page got to know:
// "nothing", or what it could read.

const NOTHING = "nothing";
const TYPES = [
  "application/json",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "Application/JSON;x",
  "application/json\t;x=y",
];
const LONG_MS = 10_000;

/** `targets`: [method, path, body]; `token`: as if it had leaked, which must not help. */
window.attack = async ({ daemon, targets, token }) => {
  const attempts = targets.flatMap(([method, path, body]) => [
    ...byFetch(daemon + path, method, JSON.stringify(body), token),
    // A frame each: only where there is something to gain.
    ...(Object.keys(body).length === 0 ? [] : byForm(daemon + path, body)),
    ["beacon", path, () => byBeacon(daemon + path, JSON.stringify(body))],
  ]);
  for (const path of ["/", "/docs", "/api/runs", "/api/openapi.json", "/api/events"])
    attempts.push(
      ["img", path, () => byElement("img", { src: daemon + path })],
      ["script", path, () => byElement("script", { src: daemon + path })],
      ["style", path, () => byElement("link", { rel: "stylesheet", href: daemon + path })],
      ["frame", path, () => byFrame(daemon + path)],
      ["read", path, () => byRead(daemon + path)],
    );
  attempts.push(
    ["events", "/api/events", () => byEventSource(`${daemon}/api/events`)],
    ["socket", "/api/events", () => byWebSocket(`${daemon.replace("http", "ws")}/api/events`)],
  );
  return Promise.all(attempts.map(async ([how, path, attempt]) => [how, path, await attempt()]));
};

function byFetch(url, method, body, token) {
  const options = { method, body: method === "GET" ? undefined : body, credentials: "include" };
  const read = (more) => () =>
    fetch(url, { ...options, ...more }).then(
      async (answer) => (answer.type === "opaque" ? NOTHING : `${answer.status} ${await answer.text()}`),
      () => NOTHING,
    );
  const authorization = `Bearer ${token}`;
  return [
    ...TYPES.map((type) => [`fetch ${type}`, url, read({ headers: { "content-type": type } })]),
    ...TYPES.map((type) => [
      `fetch no-cors ${type}`,
      url,
      read({ mode: "no-cors", headers: { "content-type": type } }),
    ]),
    ["fetch with token", url, read({ headers: { "content-type": "application/json", authorization } })],
    ["fetch without type", url, read({})],
  ];
}

/** Also from a frame without an origin of its own. */
function byForm(url, body) {
  // As text/plain a form sends name=value, and the equals sign hides in the last string of the JSON.
  const name = JSON.stringify(body).slice(0, -2);
  const form = (enctype) =>
    `<body onload="document.forms[0].submit()"><form method="post" enctype="${enctype}" action="${escaped(url)}">` +
    `<input name="${escaped(name)}" value="&quot;}"></form>`;
  const encodings = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
  return encodings.flatMap((enctype) => [
    [`form ${enctype}`, url, () => inFrame(form(enctype))],
    [`form without origin ${enctype}`, url, () => inFrame(form(enctype), "allow-scripts allow-forms")],
  ]);
}

async function byBeacon(url, body) {
  navigator.sendBeacon(url, body);
  navigator.sendBeacon(url, new Blob([body], { type: "text/plain" }));
  return NOTHING;
}

function byElement(name, attributes) {
  return new Promise((resolve) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.addEventListener("load", () => resolve(name === "img" ? `${element.naturalWidth} wide` : "loaded"));
    element.addEventListener("error", () => resolve(NOTHING));
    setTimeout(() => resolve(NOTHING), LONG_MS);
    document.body.append(element);
  });
}

/** A form's answer arrives in the frame: whatever it is, this page must not see into it. */
function inFrame(html, sandbox) {
  return new Promise((resolve) => {
    const frame = document.createElement("iframe");
    if (sandbox !== undefined) frame.setAttribute("sandbox", sandbox);
    let loads = 0;
    // First the form itself, then what came back.
    frame.addEventListener("load", () => ++loads === 2 && resolve(seen(frame)));
    setTimeout(() => resolve(seen(frame)), LONG_MS);
    frame.srcdoc = html;
    document.body.append(frame);
  });
}

function byFrame(url) {
  return new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.addEventListener("load", () => resolve(seen(frame)));
    setTimeout(() => resolve(seen(frame)), LONG_MS);
    frame.src = url;
    document.body.append(frame);
  });
}

function seen(frame) {
  try {
    const text = frame.contentDocument?.body?.innerText ?? "";
    return text === "" ? NOTHING : text;
  } catch {
    return NOTHING;
  }
}

async function byRead(url) {
  try {
    const answer = await fetch(url, { credentials: "include" });
    return `${answer.status} ${await answer.text()}`;
  } catch {
    return NOTHING;
  }
}

function byEventSource(url) {
  return new Promise((resolve) => {
    const source = new EventSource(url, { withCredentials: true });
    const end = (what) => {
      source.close();
      resolve(what);
    };
    source.addEventListener("open", () => end("open"));
    source.addEventListener("message", ({ data }) => end(data));
    source.addEventListener("error", () => end(NOTHING));
  });
}

function byWebSocket(url) {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.addEventListener("open", () => resolve("open"));
    socket.addEventListener("message", ({ data }) => resolve(String(data)));
    socket.addEventListener("error", () => resolve(NOTHING));
  });
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
